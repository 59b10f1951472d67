/** Serves the chat page: its files, and its REST API and events below `/_playground/`. */
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join, resolve } from "node:path";
import { pageStyleFile } from "service-gateway/sdk/reading";
import type { Core, PlatformEvent } from "../core.ts";
import { isRecord, type Params, parseParams } from "../params.ts";
import type { People } from "../people/people.ts";
import { runAction } from "./actions.ts";
import { type Approve, approvePairing } from "./approval.ts";
import { readBody } from "./body.ts";
import type { CallLog } from "./calls.ts";
import { createEventStream } from "./event-stream.ts";
import { type Faults, parseFault } from "./faults.ts";
import { refusal } from "./origin.ts";
import { pageState } from "./snapshot.ts";

export interface PageApiOptions {
  readonly core: Core;
  readonly act: People;
  readonly faults: Faults;
  readonly calls: CallLog;
  on(listener: (event: PlatformEvent) => void): () => void;
  readonly approve: Approve | undefined;
}

export interface PageApi {
  handle(path: string, query: string, request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): void;
}

const pageDirectory = join(import.meta.dirname, "..", "..", "page");
function entries(
  names: readonly string[],
  ending: string,
  type: string,
): Readonly<Record<string, { readonly file: string; readonly type: string }>> {
  return Object.fromEntries(names.map((name) => [`/${name}.${ending}`, { file: `${name}.${ending}`, type }]));
}
const pageFiles: Readonly<Record<string, { readonly file: string; readonly type: string }>> = {
  "/": { file: "index.html", type: "text/html; charset=utf-8" },
  "/style.css": { file: pageStyleFile, type: "text/css; charset=utf-8" },
  "/icon.svg": { file: "icon.svg", type: "image/svg+xml" },
  ...entries(
    ["page", "model", "text", "message", "composer", "drawer", "calls", "stops", "dom", "side", "log", "menus"],
    "js",
    "text/javascript; charset=utf-8",
  ),
  ...entries(["page", "room", "drawer"], "css", "text/css; charset=utf-8"),
};
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' blob:; " +
  "connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const safeHeaders = {
  "content-security-policy": policy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-cache",
};
/** Types that browsers display without executing anything. Other files are downloaded. */
const shownTypes = /^(?:image\/(?:png|jpeg|gif|webp)|audio\/[a-z0-9.+-]+|video\/[a-z0-9.+-]+)$/;
const maxBodyBytes = 51 * 1024 * 1024;

export function createPageApi({ core, act, faults, calls, on, approve }: PageApiOptions): PageApi {
  const stream = createEventStream(on);

  async function change(path: string, params: Params, method: string): Promise<unknown> {
    const { raw } = params;
    if (path === "/_playground/act" && method === "POST") {
      const wrapped = typeof raw.json === "string" ? (JSON.parse(raw.json) as unknown) : raw;
      if (!isRecord(wrapped)) throw new Error("an action is a JSON object");
      return runAction(core, act, wrapped, Object.values(params.files));
    }
    if (path === "/_playground/approve" && method === "POST") return approvePairing(core, approve, raw);
    if (path === "/_playground/faults" && method === "POST") faults.add(parseFault(raw));
    else if (path === "/_playground/faults" && method === "DELETE") faults.clear();
    else if (path === "/_playground/calls" && method === "DELETE") calls.clear();
    else return undefined;
    return { faults: faults.list() };
  }

  function look(path: string, query: string): unknown {
    if (path === "/_playground/state") return { ...pageState(core), approves: approve !== undefined };
    if (path === "/_playground/faults") return { faults: faults.list() };
    if (path !== "/_playground/calls") return undefined;
    const asked = new URLSearchParams(query);
    const since = Number(asked.get("since") ?? 0) || 0;
    const limit = Math.min(Math.max(Number(asked.get("limit") ?? 200) || 200, 1), 1000);
    return { calls: calls.list({ since, limit }) };
  }

  async function handle(
    path: string,
    query: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const method = request.method ?? "GET";
    const reason = refusal(method, request.headers);
    if (reason !== undefined) return sendJson(response, 403, { error: reason });
    if (method === "GET" || method === "HEAD") {
      const page = pageFiles[path];
      if (page !== undefined) return sendPage(response, page);
      if (path === "/_playground/events") return stream.open(request, response);
      if (path.startsWith("/_playground/files/"))
        return sendFile(core, path.slice("/_playground/files/".length), response);
      const result = look(path, query);
      return result === undefined
        ? sendJson(response, 404, { error: `there is nothing at ${path}` })
        : sendJson(response, 200, result);
    }
    try {
      const body = await readBody(request, maxBodyBytes);
      const result = await change(path, parseParams("", request.headers["content-type"] ?? "", body), method);
      if (result === undefined) sendJson(response, 404, { error: `there is nothing at ${method} ${path}` });
      else sendJson(response, 200, result);
    } catch (error) {
      sendJson(response, 400, { error: error instanceof Error ? error.message : String(error) });
    }
  }

  return { handle, close: () => stream.close() };
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { ...safeHeaders, "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

async function sendPage(
  response: ServerResponse,
  page: { readonly file: string; readonly type: string },
): Promise<void> {
  const bytes = await readFile(resolve(pageDirectory, page.file));
  response.writeHead(200, { ...safeHeaders, "content-type": page.type });
  response.end(bytes);
}

function sendFile(core: Core, id: string, response: ServerResponse): void {
  const file = core.files.find(decodeURIComponent(id));
  if (file === undefined) {
    sendJson(response, 404, { error: "there is no such file" });
    return;
  }
  const shown = shownTypes.test(file.mimeType);
  response.writeHead(200, {
    ...safeHeaders,
    "content-security-policy": "default-src 'none'; sandbox",
    "content-type": shown ? file.mimeType : "application/octet-stream",
    "content-disposition": shown ? "inline" : `attachment; filename*=UTF-8''${encodeURIComponent(file.fileName)}`,
    "content-length": file.bytes.length,
  });
  response.end(file.bytes);
}
