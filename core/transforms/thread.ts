/** A thread of the pool: what it runs, what it knows, and when it was last heard. */
import { Worker } from "node:worker_threads";
import { reasonOf } from "../contract/index.ts";
import { faultText, onEvent, onMessage } from "../listeners/index.ts";
import { asReport } from "./check-report.ts";
import { type Computing, createMeterMemory, mostTimesCpu, readMeter, threadCpuMs } from "./meter.ts";
import type { Batch, Report, WorkerData, WorkerSettings } from "./protocol.ts";
import type { WaitingCall } from "./waiting-calls.ts";

/** The engine recurses on the thread's stack, so its own limit must be reached first. */
const stackSizeMb = 16;
/**
 * The heap of the thread beside the memory of its engines: the gateway's code, the texts of modules, and what
 * operations of the host return.
 */
const heapMb = 192;

/** The CPU time of the other threads of this process. A single one has used at most that much. */
function othersCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000 - threadCpuMs();
}

/** Why a thread has ended by itself. */
export interface ThreadEnd {
  readonly message: string;
  readonly isMemory: boolean;
}

export class Thread {
  readonly sent = new Map<number, WaitingCall>();
  /** The modules that the thread has loaded. */
  readonly known = new Set<string>();
  /** Calls that have sent requests over the network. */
  readonly requesting = new Set<number>();
  free = true;
  /** The module whose calls the thread is computing. */
  module: string | undefined;
  heardAt: number;
  readonly #worker: Worker;
  readonly #now: () => number;
  readonly #meter = createMeterMemory();
  #seen: { readonly turn: number; readonly at: number; readonly cpuMs: number } | undefined;
  #failed = false;
  #ending: Promise<unknown> | undefined;

  constructor({
    settings,
    now,
    heard,
    lost,
  }: {
    readonly settings: WorkerSettings;
    readonly now: () => number;
    readonly heard: (thread: Thread, report: Report) => void;
    readonly lost: (thread: Thread, end: ThreadEnd) => void;
  }) {
    this.#now = now;
    this.heardAt = now();
    this.#worker = new Worker(new URL(`./worker${import.meta.url.slice(-3)}`, import.meta.url), {
      workerData: { ...settings, meter: this.#meter } satisfies WorkerData,
      env: {},
      execArgv: ["--disable-warning=ExperimentalWarning"],
      resourceLimits: { stackSizeMb, maxOldGenerationSizeMb: heapMb },
    });
    this.#worker.unref();
    const source = "a thread of transforms";
    const gone = (message: string, isMemory = false) => lost(this, { message, isMemory });
    onMessage(this.#worker, "message", {
      source,
      check: asReport,
      handle: (report) => {
        this.heardAt = now();
        heard(this, report);
      },
      // A thread that sends something else cannot be relied on for its calls.
      fault: (fault) => {
        if (this.#failed) return;
        this.#failed = true;
        gone(`Its thread ended: ${faultText(fault)}`);
        void this.end();
      },
    });
    onEvent<readonly [unknown]>(this.#worker, "error", {
      source,
      handle: (error) => {
        const { code } = (error ?? {}) as { readonly code?: unknown };
        gone(`Its thread ended: ${reasonOf(error)}`, code === "ERR_WORKER_OUT_OF_MEMORY");
      },
    });
    onEvent(this.#worker, "exit", { source, handle: () => gone("Its thread ended") });
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
    this.requesting.delete(id);
    /** Lets the process end if it waits for nothing else. */
    if (this.sent.size === 0) this.#worker.unref();
    return call;
  }

  /** What the thread computes now. */
  computing(): Computing | undefined {
    return readMeter(this.#meter);
  }

  /**
   * What the thread computes if that is over its limit by `graceMs`; to be asked repeatedly, as it measures from the
   * first time on.
   */
  overLimit(graceMs: number): Computing | undefined {
    const current = readMeter(this.#meter);
    if (current === undefined || current.turn !== this.#seen?.turn) {
      this.#seen = current && { turn: current.turn, at: this.#now(), cpuMs: othersCpuMs() };
      return undefined;
    }
    if (this.#now() - this.#seen.at <= current.leftMs + graceMs) return undefined;
    // On a busy machine the thread may have been waiting for a processor, while others of this process had one.
    return (mostTimesCpu / 2) * (othersCpuMs() - this.#seen.cpuMs) > current.leftMs ? current : undefined;
  }

  /**
   * Ends the thread. On a busy machine that takes a while, and the thread is found to be late again meanwhile; each
   * `terminate` would add a listener.
   */
  end(): Promise<unknown> {
    this.#ending ??= this.#worker.terminate();
    return this.#ending;
  }
}
