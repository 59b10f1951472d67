/** The lease of this node: who writes a run's results must hold it. */
import type { Database, Values } from "./pool.ts";

/** A third of the lease, so that two renewals may fail. */
const renewMs = 10_000;
/** After a failure, the next attempt follows soon. */
const retryMs = 1_000;

export interface Lease {
  begin(): Promise<{ readonly fence: number; readonly resumed: number }>;
  /** The start of the gateway that holds the node's name now; 0 if there is none. */
  current(): Promise<number>;
  /** The first values of each call that needs the lease. */
  values(): readonly [node: string, incarnation: number | null];
  /** Renews the lease now and takes over the work of nodes without one. Happens by itself from `begin` on. */
  renew(): Promise<void>;
  end(): Promise<void>;
}

export interface LeaseOptions {
  readonly node: string;
  /** The units that this process runs. Others of its lease are handed back. */
  readonly running: () => readonly string[];
  /** Called with the lanes of units that wait again. */
  readonly onWork: (lanes: readonly string[]) => void;
}

export function createLease(database: Database, { node, running, onWork }: LeaseOptions): Lease {
  let incarnation: number | null = null;
  let timer: NodeJS.Timeout | undefined;

  const plan = (delayMs: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => void lease.renew().catch(() => plan(retryMs)), delayMs);
    timer.unref();
  };

  const lease: Lease = {
    async begin() {
      const [begun] = await database.call<{ fence: number; resumed: number }>("begin_node", [node]);
      if (begun === undefined) throw new Error("The database returned no lease.");
      incarnation = begun.fence;
      plan(renewMs);
      return begun;
    },
    async current() {
      const [row] = await database.query<{ incarnation: number }>("SELECT incarnation FROM @nodes WHERE node = $1", [node]);
      return row?.incarnation ?? 0;
    },
    values: (): Values & readonly [string, number | null] => [node, incarnation],
    async renew() {
      const [row] = await database.call<{ held: boolean; lanes: readonly string[] }>("renew_lease", () => [node, incarnation, running()]);
      // Another process took the node's name: this one has no lease to renew any more.
      if (row?.held === true) plan(renewMs);
      onWork(row?.lanes ?? []);
    },
    async end() {
      clearTimeout(timer);
      if (incarnation !== null) await database.call("end_lease", [node, incarnation]);
    },
  };
  return lease;
}
