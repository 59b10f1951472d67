/**
 * A plugin that runs in a worker, as the host sees it: a declaration like any other, whose functions call the worker.
 */
import type { PluginDefinition } from "../sdk/contract.ts";
import type { PluginSource } from "./find.ts";

/** How the worker of a plugin is. */
export interface WorkerReport {
  readonly state: "up" | "restarting";
  /** How often it was started again. */
  readonly restarts: number;
  /** When it last ended, in epoch milliseconds, and why. */
  readonly lastEnd?: { readonly at: number; readonly reason: string };
}

/** One sentence about a worker that is starting again, or has; `undefined` if it never ended. */
export function workerDetail({ state, restarts, lastEnd }: WorkerReport): string | undefined {
  if (lastEnd === undefined) return undefined;
  const at = new Date(lastEnd.at).toISOString();
  const now =
    state === "up"
      ? `It is up again after ${restarts} ${restarts === 1 ? "restart" : "restarts"}`
      : "It is starting again";
  return `its worker ended at ${at}: ${lastEnd.reason}. ${now}`;
}

export interface IsolatedPlugin {
  readonly definition: PluginDefinition;
  report(): WorkerReport;
  /** Ends the worker. Idempotent. */
  close(): Promise<void>;
}

/**
 * Loads a plugin in a worker. Resolves with `undefined` if `isWanted` refuses the id that it declares. Throws
 * `HostError` like the loader, and `plugin_isolation` if it declares something that cannot cross.
 */
export type Isolate = (source: PluginSource, isWanted: (id: string) => boolean) => Promise<IsolatedPlugin | undefined>;
