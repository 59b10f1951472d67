/** The lease of this node: who writes a run's results must hold it. */
import { requireVersion, schemaVersion } from "../migrations.ts";
import type { Database, Values } from "../pool.ts";

/** After a failure, the next attempt follows soon. */
const retryMs = 1_000;
/**
 * Parts of the lease. Two renewals may fail before this node gives up its duties, and that is before others may take
 * them (`schema/`).
 */
const renewPart = 2 / 15;
const dutyPart = 1 / 3;

export interface Lease {
  begin(): Promise<{ readonly fence: number; readonly resumed: number }>;
  /**
   * The start of the gateway that holds the node's name now; 0 if there is none. Rejects with `database_version` if a
   * newer version of the program has excluded this one.
   */
  current(): Promise<number>;
  /** The first values of each call that needs the lease. */
  values(): readonly [node: string, incarnation: number | null];
  /** Renews the lease now and takes over the work of nodes without one. Happens by itself from `begin` on. */
  renew(): Promise<void>;
  /** Returns a function for later: whether this process has held the lease from now until then, without a gap. */
  watched(): () => boolean;
  /** Whether this node still fulfils its duties. */
  hasDuties(): boolean;
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
  /** Called once for each when the lease was not renewed in time. */
  readonly onLost: (what: "duties" | "lease") => void;
}

export function createLease(database: Database, { node, running, onWork, onLost }: LeaseOptions): Lease {
  const { leaseSeconds } = database;
  const leaseMs = leaseSeconds * 1_000;
  const dutyMs = leaseMs * dutyPart;
  const renewMs = leaseMs * renewPart;
  let incarnation: number | null = null;
  let renewing: NodeJS.Timeout | undefined;
  let losing: NodeJS.Timeout | undefined;
  /** When the last successful renewal was sent, by the monotonic clock. */
  let renewedAt = Number.NEGATIVE_INFINITY;
  let lost: "nothing" | "duties" | "lease" = "nothing";
  /** How often the lease was lost. */
  let losses = 0;

  const age = () => performance.now() - renewedAt;

  const plan = (delayMs: number) => {
    clearTimeout(renewing);
    renewing = setTimeout(() => void lease.renew().catch(() => plan(retryMs)), delayMs);
    renewing.unref();
  };

  function renewed(sentAt: number): void {
    renewedAt = sentAt;
    lost = "nothing";
    watch();
  }

  /** Notices without the database what other nodes may have taken. */
  function watch(): void {
    clearTimeout(losing);
    if (lost === "lease") return;
    const limit = lost === "nothing" ? dutyMs : leaseMs;
    // The answer to a renewal may come later than the limit.
    const waitMs = Math.max(0, limit - age());
    losing = setTimeout(() => {
      lose(lost === "nothing" ? "duties" : "lease");
      watch();
    }, waitMs);
    losing.unref();
  }

  function lose(what: "duties" | "lease"): void {
    if (lost === what || lost === "lease") return;
    lost = what;
    if (what === "lease") losses += 1;
    onLost(what);
  }

  const lease: Lease = {
    async begin() {
      const sentAt = performance.now();
      const [begun] = await database
        .call<{ fence: number; resumed: number }>("begin_node", [node, leaseSeconds, schemaVersion])
        .catch(async (error: unknown) => {
          // A newer version may have changed the schema since this process looked at it.
          await requireVersion(database);
          throw error;
        });
      if (begun === undefined) throw new Error("The database returned no lease.");
      incarnation = begun.fence;
      renewed(sentAt);
      plan(renewMs);
      return begun;
    },
    async current() {
      const [row] = await database.query<{ incarnation: number }>("SELECT incarnation FROM @nodes WHERE node = $1", [
        node,
      ]);
      if (row === undefined) await requireVersion(database);
      return row?.incarnation ?? 0;
    },
    values: (): Values & readonly [string, number | null] => [node, incarnation],
    async renew() {
      const sentAt = performance.now();
      const [row] = await database.call<{ held: boolean; renewed: boolean; lanes: readonly string[] }>(
        "renew_lease",
        () => [node, incarnation, leaseSeconds, running()],
      );
      if (row?.renewed === false) lose("lease");
      // Otherwise another process took the node's name: this one has no lease to renew any more.
      if (row?.held === true) {
        renewed(sentAt);
        plan(renewMs);
      }
      onWork(row?.lanes ?? []);
    },
    watched() {
      const before = losses;
      // A process that was stopped reads answers before its timers run.
      return () => losses === before && age() < leaseMs;
    },
    hasDuties: () => age() < dutyMs,
    left: () => (lost === "lease" ? 0 : Math.max(0, leaseMs - age())),
    async end() {
      clearTimeout(renewing);
      clearTimeout(losing);
      renewedAt = Number.NEGATIVE_INFINITY;
      if (incarnation !== null) await database.call("end_lease", [node, incarnation]);
    },
  };
  return lease;
}
