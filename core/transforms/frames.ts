/** What the gateway and a transform process say to each other: length-prefixed JSON. */
import type { TransformFault } from "./error.ts";

/** What a child may say; everything else ends it. */
export interface Reply {
  readonly id: string;
  readonly type: "ready" | "compiled" | "loaded" | "result" | "failed" | "log" | "late";
  readonly value?: unknown;
  readonly kind?: TransformFault;
  readonly message?: string;
  readonly where?: string;
  /** Stable code of what was thrown, and the file that it is about. */
  readonly reason?: string;
  readonly file?: string;
  readonly files?: readonly string[];
  readonly exports?: readonly string[];
  readonly level?: "debug" | "info" | "warn" | "error";
  readonly line?: string;
  /** Of `compiled`: JavaScript. */
  readonly code?: string;
}

/** Larger than any answer that the child's own check lets out. */
const maxFrame = 8 * 1024 * 1024;
export function frame(request: object): Buffer {
  const json = JSON.stringify(request);
  const length = Buffer.byteLength(json);
  const bytes = Buffer.allocUnsafe(4 + length);
  bytes.writeUInt32BE(length, 0);
  bytes.write(json, 4);
  return bytes;
}

/** Cuts the stream into replies; `undefined` stands for one that is none. */
export function createFrames(onReply: (reply: Reply | undefined) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let broken = false;
  return (chunk) => {
    if (broken) return;
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= 4) {
      const length = rest.readUInt32BE(0);
      if (length > maxFrame) {
        broken = true;
        onReply(undefined);
        return;
      }
      if (rest.length < 4 + length) return;
      const json = rest.toString("utf8", 4, 4 + length);
      rest = rest.subarray(4 + length);
      onReply(parseReply(json));
    }
  };
}

const types: ReadonlySet<string> = new Set(["ready", "compiled", "loaded", "result", "failed", "log", "late"]);

function parseReply(json: string): Reply | undefined {
  try {
    const reply = JSON.parse(json) as Reply;
    return typeof reply.id === "string" && types.has(reply.type) && isWellFormed(reply) ? reply : undefined;
  } catch {
    return undefined;
  }
}

const texts = ["message", "where", "reason", "file", "line", "code"] as const;
const lists = ["files", "exports"] as const;
const levels: ReadonlySet<unknown> = new Set([undefined, "debug", "info", "warn", "error"]);

/** The child writes nothing else; this is for a child that is no longer ours, so that what it says costs nobody but itself. */
function isWellFormed(reply: Reply): boolean {
  const isText = (value: unknown) => value === undefined || typeof value === "string";
  const isTexts = (value: unknown) => value === undefined || (Array.isArray(value) && value.every((item) => typeof item === "string"));
  return (
    levels.has(reply.level) &&
    isText(reply.kind) &&
    texts.every((name) => isText(reply[name])) &&
    lists.every((name) => isTexts(reply[name]))
  );
}
