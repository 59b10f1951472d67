/** The messages between the gateway and its transform threads. */
import type { TransformFault } from "./error.ts";
import type { MeterMemory } from "./meter.ts";
import type { Level } from "./printer.ts";

export interface WorkerSettings {
  readonly memoryMb: number;
  readonly network: boolean;
}

/** What a thread receives when it starts. */
export interface WorkerData extends WorkerSettings {
  readonly meter: MeterMemory;
}

export interface CallRequest {
  readonly id: number;
  readonly root: string;
  readonly module: string;
  readonly export?: string | undefined;
  /** The context as JSON; absent if only the names of the module's functions are requested. */
  readonly context?: string | undefined;
}

export interface Batch {
  readonly calls: readonly CallRequest[];
  readonly limits: { readonly cpuMs: number; readonly timeoutMs: number };
}

export interface Ended {
  readonly id: number;
  /** The result as JSON; absent if the transform returned `undefined` or failed. */
  readonly json?: string | undefined;
  readonly error?: { readonly kind: TransformFault; readonly message: string; readonly where: string | undefined };
}

export type Report =
  | {
      readonly ended: readonly Ended[];
      /** Calls that have not begun and should run elsewhere. */
      readonly back?: readonly number[];
      /** The module that occupies the thread. */
      readonly computing?: string;
      /** Whether the thread can begin other calls. Calls that it has begun may still be waiting. */
      readonly free: boolean;
    }
  /** A call sends a request, which must not be repeated by running the call again. */
  | { readonly requests: number }
  | { readonly module: string; readonly level: Level; readonly line: string };
