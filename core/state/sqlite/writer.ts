/** The thread of a gateway's writer, so that the main thread never waits for the disk. */
import { parentPort, workerData } from "node:worker_threads";
import type { WriterOptions } from "./thread/protocol.ts";
import { serveWrites } from "./thread/serve-writes.ts";

/** An error that ends this thread is what the queue hears of it. */
const fail = (error: unknown) =>
  setImmediate(() => {
    throw error;
  });

if (parentPort) serveWrites(parentPort, workerData as WriterOptions, fail);
