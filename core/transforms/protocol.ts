/** What the gateway and its transform threads say to each other. */
import type { TransformFault } from "./error.ts";
import type { Level } from "./printer.ts";

export interface WorkerSettings {
  readonly memoryMb: number;
  readonly network: boolean;
}

export interface CallRequest {
  readonly id: number;
  readonly root: string;
  readonly module: string;
  readonly export?: string | undefined;
  /** JSON; absent: only the names of the module's functions are wanted. */
  readonly context?: string | undefined;
}

export interface Batch {
  readonly calls: readonly CallRequest[];
  readonly limits: { readonly cpuMs: number; readonly timeoutMs: number };
}

export interface Ended {
  readonly id: number;
  /** Absent: the transform returned `undefined`, or there is an error. */
  readonly json?: string | undefined;
  readonly error?: { readonly kind: TransformFault; readonly message: string; readonly where: string | undefined };
}

export type Report =
  | {
      readonly ended: readonly Ended[];
      /** Calls that have not begun and are to run elsewhere. */
      readonly back?: readonly number[];
      /** The module that keeps the thread to itself. */
      readonly computing?: string;
      /** Whether the thread can begin other calls; those that it has begun may still wait. */
      readonly free: boolean;
    }
  | { readonly module: string; readonly level: Level; readonly line: string };
