/** The lease of this node: who writes a run's results must hold it. */
import type { Database, Values } from "./pool.ts";

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
  /** Milliseconds for which this process surely holds the lease, by its own clock; 0 if it may have lost it. */
  left(): number;
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
  let heldUntil = 0;
  const { leaseSeconds } = database;
  // A third of the lease, so that two renewals may fail.
  const renewMs = (leaseSeconds * 1_000) / 3;

  const plan = (delayMs: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => void lease.renew().catch(() => plan(retryMs)), delayMs);
    timer.unref();
  };

  const lease: Lease = {
    async begin() {
      // The database starts to count later than this process.
      const asked = performance.now();
      const [begun] = await database.call<{ fence: number; resumed: number }>("begin_node", [node, leaseSeconds]);
      if (begun === undefined) throw new Error("The database returned no lease.");
      incarnation = begun.fence;
      heldUntil = asked + leaseSeconds * 1_000;
      plan(renewMs);
      return begun;
    },
    async current() {
      const [row] = await database.query<{ incarnation: number }>("SELECT incarnation FROM @nodes WHERE node = $1", [node]);
      return row?.incarnation ?? 0;
    },
    values: (): Values & readonly [string, number | null] => [node, incarnation],
    async renew() {
      const asked = performance.now();
      const [row] = await database.call<{ held: boolean; lanes: readonly string[] }>("renew_lease", () => [
        node,
        incarnation,
        leaseSeconds,
        running(),
      ]);
      heldUntil = row?.held === true ? asked + leaseSeconds * 1_000 : 0;
      // Another process took the node's name: this one has no lease to renew any more.
      if (row?.held === true) plan(renewMs);
      onWork(row?.lanes ?? []);
    },
    left: () => Math.max(0, heldUntil - performance.now()),
    async end() {
      clearTimeout(timer);
      heldUntil = 0;
      if (incarnation !== null) await database.call("end_lease", [node, incarnation]);
    },
  };
  return lease;
}
