/** A thread of the pool: what it runs, what it knows, and when it was last heard. */
import { Worker } from "node:worker_threads";
import { reasonOf } from "../contract/index.ts";
import type { Batch, Report, WorkerSettings } from "./protocol.ts";
import type { WaitingCall } from "./waiting-calls.ts";

/** The engine recurses on the thread's stack, so its own limit must be reached first. */
const stackSizeMb = 16;

export class Thread {
  readonly sent = new Map<number, WaitingCall>();
  /** The modules that the thread has loaded. */
  readonly known = new Set<string>();
  free = true;
  /** The module whose calls the thread is computing. */
  module: string | undefined;
  heardAt: number;
  readonly #worker: Worker;

  constructor({
    settings,
    now,
    heard,
    lost,
  }: {
    readonly settings: WorkerSettings;
    readonly now: () => number;
    readonly heard: (thread: Thread, report: Report) => void;
    readonly lost: (thread: Thread, message: string) => void;
  }) {
    this.heardAt = now();
    this.#worker = new Worker(new URL(`./worker${import.meta.url.slice(-3)}`, import.meta.url), {
      workerData: settings,
      env: {},
      execArgv: ["--disable-warning=ExperimentalWarning"],
      resourceLimits: { stackSizeMb },
    });
    this.#worker.unref();
    this.#worker.on("message", (report: Report) => {
      this.heardAt = now();
      heard(this, report);
    });
    this.#worker.on("error", (error: unknown) => lost(this, `Its thread ended: ${reasonOf(error)}`));
    this.#worker.on("exit", () => lost(this, "Its thread ended"));
  }

  send(
    calls: readonly WaitingCall[],
    { module, limits, at }: { readonly module: string; readonly limits: Batch["limits"]; readonly at: number },
  ): void {
    for (const call of calls) this.sent.set(call.request.id, call);
    this.free = false;
    this.module = module;
    this.known.add(module);
    this.heardAt = at;
    this.#worker.ref();
    this.#worker.postMessage({ calls: calls.map(({ request }) => request), limits } satisfies Batch);
  }

  /** Takes a call that the thread has ended or given back. */
  take(id: number): WaitingCall | undefined {
    const call = this.sent.get(id);
    this.sent.delete(id);
    /** Lets the process end if it waits for nothing else. */
    if (this.sent.size === 0) this.#worker.unref();
    return call;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
