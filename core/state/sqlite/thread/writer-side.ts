/** Starts the writer: in a thread of its own, or in this one. */
import { EventEmitter } from "node:events";
import { extname } from "node:path";
import { MessageChannel, Worker } from "node:worker_threads";
import { onEvent, onMessage } from "../../../listeners/index.ts";
import { asReply } from "./check-messages.ts";
import type { Request, WriterOptions } from "./protocol.ts";

/**
 * What the queue uses of a writer. It emits `message` for each reply, `error` for what ends it, and `exit` when it has
 * ended.
 */
export interface WriterSide extends Pick<EventEmitter, "on" | "once" | "off"> {
  postMessage(request: Request): void;
  /** Keeps the process alive until `unref`. */
  ref(): void;
  unref(): void;
}

/** A transaction's data is not needed afterwards, so a small young generation suffices. */
const youngMb = 3;

export function startThread(options: WriterOptions): WriterSide {
  // The extension differs between source and compiled code.
  const file = new URL(`../writer${extname(new URL(import.meta.url).pathname)}`, import.meta.url);
  return new Worker(file, {
    workerData: options,
    name: "state-writer",
    resourceLimits: { maxYoungGenerationSizeMb: youngMb },
  });
}

/** For a process that may wait for the disk. It saves the start of a thread, which takes longer than most commands. */
export async function startHere(options: WriterOptions): Promise<WriterSide> {
  const { serveWrites } = await import("./serve-writes.ts");
  // The values are cloned on their way, as between threads, so that neither side can change what the other one has.
  const { port1: near, port2: far } = new MessageChannel();
  const side = new EventEmitter();
  const source = "the writer of the state";
  onMessage(near, "message", {
    ...{ source, check: asReply },
    handle(reply) {
      side.emit("message", reply);
      if (reply.type === "refused") far.close();
    },
  });
  onEvent(near, "close", { source, handle: () => side.emit("exit") });
  const fail = (error: unknown) => {
    side.emit("error", error);
    far.close();
  };
  serveWrites(far, options, fail);
  far.unref();
  return Object.assign(side, {
    postMessage: (request: Request) => near.postMessage(request),
    ref: () => near.ref(),
    unref: () => near.unref(),
  });
}
