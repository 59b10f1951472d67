/** The state of a gateway at a glance: whether it runs, what is not up, and what waits. */
import { type BackupRecord, readRecord } from "../backups/record.ts";
import type { NodeReport } from "../state/nodes.ts";
import type { StoreStats } from "../state/report.ts";
import type { Store } from "../state/store.ts";
import { isForNextTurn } from "./for-next-turn.ts";
import { mostCounted, type Waits, waitsIn } from "./waits.ts";

/** `D`: what a running gateway says of itself. */
export interface Status<D = unknown> {
  readonly running: boolean;
  readonly ready?: boolean;
  /** What is not up. If the gateway is ready, why it is degraded. */
  readonly reasons?: readonly string[];
  readonly url?: string;
  readonly pid?: number;
  readonly startedAt?: number;
  readonly configFile: string;
  /** Why the file cannot be used; a running gateway keeps the last valid one. */
  readonly configError?: string;
  readonly stateDirectory: string;
  /** `state.store`. */
  readonly store: string;
  readonly events?: Work;
  /** What events wait for, besides their turn; absent if no gateway has run on the state. */
  readonly waits?: readonly Waits[];
  /** What is known of the backups of `state.backup`; absent if none was tried. */
  readonly backup?: BackupRecord;
  readonly gateway?: D | null;
}

export interface Work extends StoreStats {
  /** The gateways that share the store; absent if only one can use it. */
  readonly nodes?: readonly NodeReport[];
  /** How many of the waiting events are reports of webhooks, which the agent reads in its next turn. */
  readonly forNextTurn: number;
  /** Since when the oldest other event has been waiting or running, in epoch milliseconds; absent if there is none. */
  readonly oldestOpenAt?: number;
}

export type PendingWork = Required<Pick<Status, "events" | "waits">> & Pick<Status, "backup">;

export async function readWork(store: Store): Promise<PendingWork> {
  const [stats, nodes, backup, open] = await Promise.all([
    store.stats(),
    store.nodes?.reports(),
    readRecord(store),
    store.events({ open: true, includeInternal: true, oldestFirst: true, limit: mostCounted }),
  ]);
  const oldest = open.find((event) => !isForNextTurn(event));
  const events = {
    ...stats,
    forNextTurn: open.filter(isForNextTurn).length,
    ...(nodes && { nodes }),
    ...(oldest === undefined ? {} : { oldestOpenAt: oldest.acceptedAt }),
  };
  const waits = oldest === undefined ? [] : await waitsIn(store);
  return { events, waits, ...(backup && { backup }) };
}
