/** Handles a bot's call over HTTP: faults, parameters, method and answer. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { onEvent } from "service-gateway/sdk/channel";
import type { Core } from "../core.ts";
import { ApiError, tooMany } from "../errors.ts";
import { methods } from "../methods/index.ts";
import { type Params, parseParams } from "../params.ts";
import type { Bot } from "../world.ts";
import { BodyTooLarge, readBody } from "./body.ts";
import type { RecordedCall } from "./calls.ts";
import type { Faults, Mishap } from "./faults.ts";

const maxFormBytes = 51 * 1024 * 1024;
/** Calls without files are small, and so are their records. */
const maxBodyBytes = 1024 * 1024;
const maxRecordedText = 5000;
const maxRecordedAnswer = 2000;

export interface CallingOptions {
  readonly core: Core;
  readonly faults: Faults;
  readonly bots: ReadonlyMap<string, Bot>;
  readonly record: ((call: Omit<RecordedCall, "seq">) => void) | undefined;
}

export interface Calling {
  /** Handles `/bot<token>/<method>`. */
  call(path: string, query: string, request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Runs a method that a webhook returned in its answer. */
  run(bot: Bot, params: Readonly<Record<string, unknown>>): Promise<void>;
}

interface Outcome {
  readonly status: number;
  readonly body: string;
  readonly description?: string;
}

const nothing: Params = { raw: {}, files: {} };

export function createCalling({ core, faults, bots, record }: CallingOptions): Calling {
  async function invoke(bot: Bot, name: string, params: Params, onGone: (leave: () => void) => void): Promise<Outcome> {
    try {
      const method = methods.get(name);
      if (method === undefined) throw new ApiError(404, "Not Found: method not found");
      const result = await method.run({ core, bot, params: params.raw, files: params.files, onGone });
      return { status: 200, body: JSON.stringify({ ok: true, result }) };
    } catch (error) {
      return failure(error);
    }
  }

  return {
    async call(path, query, request, response) {
      const slash = path.indexOf("/", 1);
      const token = decodeURIComponent(path.slice("/bot".length, slash === -1 ? undefined : slash));
      const name = slash === -1 ? "" : path.slice(slash + 1).toLowerCase();
      const bot = bots.get(token);
      const contentType = request.headers["content-type"] ?? "";
      const limit = contentType.startsWith("multipart/") ? maxFormBytes : maxBodyBytes;
      const body = await readBody(request, limit).catch((error: unknown) => error as Error);
      if (body instanceof Error) {
        if (body instanceof BodyTooLarge) answer(response, failure(new ApiError(413, "Request Entity Too Large")));
        return;
      }
      if (bot === undefined) return answer(response, failure(new ApiError(401, "Unauthorized")));
      let params = nothing;
      let unreadable: Outcome | undefined;
      try {
        params = parseParams(query, contentType, body);
      } catch (error) {
        unreadable = failure(error);
      }
      const fault = faults.take(methods.get(name)?.name ?? name, params.raw);
      let outcome = (fault === undefined ? undefined : faulty(fault)) ?? unreadable;
      if (fault?.kind === "delay" || fault?.ms !== undefined) await pause(fault.ms ?? 1000, response);
      const silent = fault?.kind === "drop" || fault?.kind === "reset-before";
      if (!silent) outcome ??= await invoke(bot, name, params, (leave) => void onLeft(response, leave));
      const answered = fault?.kind !== "reset-after" && !response.destroyed;
      record?.({ ...recorded(core, bot, name, params, outcome, fault), ...(answered ? {} : { status: 0 }) });
      if (fault?.kind === "reset-before" || fault?.kind === "reset-after") {
        request.socket.resetAndDestroy();
        return;
      }
      if (outcome !== undefined && fault?.kind === "garbage") sendGarbage(response, outcome.status);
      else if (outcome !== undefined) answer(response, outcome);
    },
    async run(bot, params) {
      const name = String(params.method).toLowerCase();
      const outcome = await invoke(bot, name, { raw: params, files: {} }, () => undefined);
      record?.(recorded(core, bot, name, { raw: params, files: {} }, outcome, undefined));
    },
  };
}

function faulty(fault: Mishap): Outcome | undefined {
  if (fault.kind === "flood") return failure(tooMany(fault.retryAfter ?? 1));
  if (fault.kind === "garbage") return { status: fault.status ?? 200, body: "" };
  if (fault.kind === "status") return failure(new ApiError(fault.status ?? 502, fault.description ?? "Bad Gateway"));
  if (fault.kind === "refuse")
    return failure(new ApiError(fault.status ?? 400, fault.description ?? "Bad Request: refused by the playground"));
  return undefined;
}

function failure(error: unknown): Outcome {
  const known = error instanceof ApiError ? error : new ApiError(500, "Internal Server Error");
  const { code, message: description, parameters } = known;
  const body = JSON.stringify({ ok: false, error_code: code, description, parameters });
  return {
    status: code,
    body,
    description: error instanceof ApiError ? description : `${description}: ${String(error)}`,
  };
}

function answer(response: ServerResponse, { status, body }: Outcome): void {
  if (response.destroyed) return;
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  response.end(body);
}

function sendGarbage(response: ServerResponse, status: number): void {
  response.writeHead(status, { "content-type": "text/html" });
  response.end("<html><head><title>Gateway</title></head><body><h1>Something went wrong</h1></body></html>");
}

const onLeft = (response: ServerResponse, handle: () => void) =>
  onEvent(response, "close", { source: "a bot of the playground", handle, once: true });

/** Waits, but only until the client disconnects. */
function pause(ms: number, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    onLeft(response, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function recorded(
  core: Core,
  bot: Bot,
  name: string,
  params: Params,
  outcome: Outcome | undefined,
  fault: Mishap | undefined,
): Omit<RecordedCall, "seq"> {
  return {
    at: core.now(),
    bot: bot.user.username ?? String(bot.user.id),
    method: methods.get(name)?.name ?? name.slice(0, 64),
    params: bounded(params),
    status: outcome?.status ?? 0,
    ...(outcome?.description === undefined ? {} : { description: outcome.description }),
    ...(fault === undefined ? {} : { fault: fault.kind }),
    ...(outcome === undefined ? {} : { answer: shortened(outcome.body) }),
  };
}

/** Cuts and copies the text, because a substring would keep the whole text in memory. */
function shortened(body: string): string {
  return body.length <= maxRecordedAnswer ? body : `${Buffer.from(body.slice(0, maxRecordedAnswer)).toString()}…`;
}

function bounded({ raw, files }: Params): Readonly<Record<string, unknown>> {
  const long = Object.values(raw).some((value) => typeof value === "string" && value.length > maxRecordedText);
  const uploads = Object.entries(files);
  if (!long && uploads.length === 0) return raw;
  const shown = Object.entries(raw).map(([name, value]) => [
    name,
    typeof value === "string" ? value.slice(0, maxRecordedText) : value,
  ]);
  const sent = uploads.map(([name, upload]) => [
    name,
    `${upload.fileName} (${upload.mimeType}, ${upload.bytes.length} bytes)`,
  ]);
  return Object.fromEntries([...shown, ...sent]);
}
