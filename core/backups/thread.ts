/** Makes a backup in a thread of its own, which ends with it. */
import { basename, dirname, extname } from "node:path";
import { Worker } from "node:worker_threads";
import { isRecord } from "../config/index.ts";
import { reasonOf } from "../contract/index.ts";
import { type Emitter, onEvent, onMessage } from "../listeners/index.ts";
import { removeLeftovers } from "./create.ts";
import type { BackupPlan } from "./plan.ts";

export type ThreadAnswer =
  | {
      readonly type: "done";
      readonly bytes: number;
      readonly files: number;
      readonly torn: number;
      readonly skipped: number;
    }
  | { readonly type: "failed"; readonly reason: string };

const memoryMb = 256;

function asAnswer(message: unknown): ThreadAnswer | undefined {
  if (!isRecord(message)) return undefined;
  const { type, bytes, files, torn, skipped, reason } = message;
  if (type === "failed" && typeof reason === "string") return { type, reason };
  const numbers = [bytes, files, torn, skipped];
  if (type !== "done" || !numbers.every((one) => typeof one === "number")) return undefined;
  return { type, bytes: Number(bytes), files: Number(files), torn: Number(torn), skipped: Number(skipped) };
}

/** Resolves with the result; also with `failed` if the signal aborts, or if the thread ends without a result. */
export async function backUpInThread(plan: BackupPlan, file: string, signal: AbortSignal): Promise<ThreadAnswer> {
  // The extension differs between source and compiled code.
  const module = new URL(`./worker${extname(new URL(import.meta.url).pathname)}`, import.meta.url);
  const worker = new Worker(module, {
    workerData: { plan, file },
    name: "backup",
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  const answer = await answerOf(worker, signal);
  await worker.terminate();
  // What a thread that was ended has left has the number of this process.
  if (answer.type === "failed") tidy(file);
  return answer;
}

/** The first answer of the thread, its end, or the end of the wait. */
export function answerOf(worker: Emitter, signal: AbortSignal): Promise<ThreadAnswer> {
  const source = "the thread of the backup";
  return new Promise<ThreadAnswer>((resolve) => {
    onMessage(worker, "message", { source, check: asAnswer, handle: resolve });
    onEvent<readonly [unknown]>(worker, "error", {
      source,
      handle: (error) => resolve({ type: "failed", reason: reasonOf(error) }),
    });
    onEvent(worker, "exit", {
      source,
      handle: () => resolve({ type: "failed", reason: "its thread ended without a result" }),
    });
    signal.addEventListener("abort", () => resolve({ type: "failed", reason: reasonOf(signal.reason) }), {
      once: true,
    });
    if (signal.aborted) resolve({ type: "failed", reason: reasonOf(signal.reason) });
  });
}

function tidy(file: string): void {
  try {
    removeLeftovers(dirname(file), basename(file));
  } catch {
    // The directory does not exist, so nothing is left in it.
  }
}
