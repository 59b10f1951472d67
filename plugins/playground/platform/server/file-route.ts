/** `/file/bot<token>/<path>`: serves files to bots. Faults apply here as to every call. */
import type { ServerResponse } from "node:http";
import type { Core } from "../core.ts";
import type { FileRecord } from "../files.ts";
import type { Bot } from "../world.ts";
import type { Faults, Mishap } from "./faults.ts";

export interface FileRoute {
  send(path: string, response: ServerResponse): Promise<void>;
}

function refuse(response: ServerResponse, status: number, description: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ ok: false, error_code: status, description }));
}

/** Sends half of the file and then breaks the connection. */
function tear(response: ServerResponse, file: FileRecord): void {
  response.writeHead(200, { "content-type": "application/octet-stream", "content-length": file.bytes.length });
  response.write(file.bytes.subarray(0, Math.floor(file.bytes.length / 2)), () => response.socket?.resetAndDestroy());
}

/** Applies a fault. Returns true if the fault replaces the answer. */
async function suffer(fault: Mishap, response: ServerResponse, file: FileRecord): Promise<boolean> {
  switch (fault.kind) {
    case "delay":
      await new Promise((resolve) => setTimeout(resolve, fault.ms ?? 1_000));
      return false;
    case "reset-before":
      response.socket?.resetAndDestroy();
      return true;
    case "reset-after":
      tear(response, file);
      return true;
    case "garbage":
      response.writeHead(fault.status ?? 200, { "content-type": "text/html" });
      response.end("<html><body><h1>Something went wrong</h1></body></html>");
      return true;
    case "flood":
      refuse(response, 429, "Too Many Requests");
      return true;
    case "status":
      refuse(response, fault.status ?? 502, fault.description ?? "Bad Gateway");
      return true;
    case "refuse":
      refuse(response, fault.status ?? 400, fault.description ?? "Bad Request: refused by the playground");
      return true;
    case "drop":
      return true;
  }
}

export function createFileRoute({
  core,
  faults,
  bots,
}: {
  readonly core: Core;
  readonly faults: Faults;
  readonly bots: ReadonlyMap<string, Bot>;
}): FileRoute {
  return {
    async send(path, response) {
      const slash = path.indexOf("/", "/file/bot".length);
      const known = slash !== -1 && bots.has(decodeURIComponent(path.slice("/file/bot".length, slash)));
      const file = known ? core.files.findPath(decodeURIComponent(path.slice(slash + 1))) : undefined;
      if (file === undefined) return refuse(response, known ? 404 : 401, known ? "Not Found" : "Unauthorized");
      const fault = faults.take("file");
      if (fault !== undefined && (await suffer(fault, response, file))) return;
      response.writeHead(200, { "content-type": "application/octet-stream", "content-length": file.bytes.length });
      response.end(file.bytes);
    },
  };
}
