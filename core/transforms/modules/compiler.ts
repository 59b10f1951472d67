/**
 * Compiles TypeScript whose types cannot be stripped (enums, namespaces, parameter properties). A separate thread does
 * this, because the compiler needs 100 MB.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker, workerData } from "node:worker_threads";
import { onEvent } from "../../listeners/index.ts";
import { TransformError } from "../error.ts";

interface Order {
  readonly source: string;
  readonly filename: string;
  readonly port: MessagePort;
  readonly done: Int32Array<SharedArrayBuffer>;
}

const compileMs = 30_000;
const compilerMb = 1_024;

/**
 * Compiles a source. Blocks until the thread is done, because the engine links modules synchronously. Throws
 * `TransformError`.
 */
export function compile(source: string, filename: string): string {
  const { port1, port2 } = new MessageChannel();
  const done = new Int32Array(new SharedArrayBuffer(4));
  const order: Order = { source, filename, port: port2, done };
  const worker = new Worker(new URL(import.meta.url), {
    workerData: order,
    transferList: [port2],
    resourceLimits: { maxOldGenerationSizeMb: compilerMb },
  });
  // The wait below ends without an answer.
  onEvent(worker, "error", { source: "the compiler of transforms", handle() {} });
  Atomics.wait(done, 0, 0, compileMs);
  const answer = receiveMessageOnPort(port1)?.message as
    | { readonly code?: string; readonly error?: string }
    | undefined;
  port1.close();
  void worker.terminate();
  if (answer?.code !== undefined) return answer.code;
  throw new TransformError("threw", answer?.error ?? `${filename} was not compiled within ${compileMs / 1_000} s`);
}

async function serve({ source, filename, port, done }: Order): Promise<void> {
  try {
    const { createJiti } = await import("jiti");
    const jiti = createJiti(filename, { fsCache: false, moduleCache: false, interopDefault: false });
    port.postMessage({ code: jiti.transform({ source, filename, ts: true }) });
  } catch (error) {
    port.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
  Atomics.store(done, 0, 1);
  Atomics.notify(done, 0);
}

const order = workerData as Order | undefined;
// Not awaited: V8 aborts the whole process if a thread is ended in the moment in which a module that awaits something
// is complete.
if (order?.filename !== undefined) void serve(order);
