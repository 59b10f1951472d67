/** What this node hears of the others: work that it did not accept itself, by notifications and by a poll for what was missed, and notes. */
import type { NodeNote, NodeReport, Nodes, NodeWatcher } from "service-gateway/sdk/store";
import type { Database } from "../pool.ts";
import { noteChannel, wakeChannel } from "../schema/lease.ts";
import { turnChannel } from "../schema/session-turns.ts";
import type { SharedClock } from "./clock.ts";
import type { Lease } from "./lease.ts";
import { type Listening, listen } from "./listening.ts";
import { createSessionTurns } from "./session-turns.ts";

const pollMs = 1_000;
/** Lanes that one poll reports. The next one finds the others. */
const maxLanes = 200;

export interface PostgresNodes extends Nodes {
  /** Reports lanes to the watcher. */
  work(lanes: readonly string[]): void;
  lost: NodeWatcher["lost"];
  end(): Promise<void>;
}

interface NotePayload extends NodeNote {
  readonly schema: string;
  readonly from: string;
}

export interface NodesOptions {
  readonly node: string;
  readonly now: () => number;
  readonly clock: SharedClock;
  readonly lease: () => Lease;
}

export function createNodes(database: Database, { node, now, clock, lease }: NodesOptions): PostgresNodes {
  const duties = new Set<string>();
  const turns = createSessionTurns(database, lease);
  let watcher: NodeWatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  let listening: Listening | undefined;

  const work = (lanes: readonly string[]) => {
    if (lanes.length > 0) watcher?.work(lanes);
  };

  /** Other schemas of the database use the same channel. */
  function hear(payload: string): void {
    const { schema, from, topic, body } = JSON.parse(payload) as NotePayload;
    if (schema === database.schema && from !== node) watcher?.note({ topic, body });
  }

  async function poll(): Promise<void> {
    try {
      const rows = await database.query<{ idle_lanes: string }>("SELECT * FROM @idle_lanes($1, $2, $3)", [node, now(), maxLanes]);
      work(rows.map(({ idle_lanes }) => idle_lanes));
    } catch {
      // The next poll may find the database again.
    }
    plan();
  }

  function plan(): void {
    if (watcher === undefined) return;
    timer = setTimeout(() => void poll(), pollMs);
    timer.unref();
  }

  return {
    name: node,
    time: clock.time,
    work,
    lost(what) {
      duties.clear();
      watcher?.lost(what);
    },
    watch(given) {
      watcher = given;
      listening ??= listen(database.listening, database.schema, {
        [wakeChannel]: (lane) => work(lane === "" ? [] : [lane]),
        [noteChannel]: hear,
        [turnChannel]: turns.heard,
      });
      clearTimeout(timer);
      plan();
      clock.start();
    },
    async send({ topic, body }) {
      const payload: NotePayload = { schema: database.schema, from: node, topic, body };
      await database.query("SELECT pg_notify($1, $2)", [noteChannel, JSON.stringify(payload)]);
    },
    async takeDuty(name) {
      if (duties.has(name) && lease().hasDuties()) return true;
      const [row] = await database.call<{ take_duty: boolean }>("take_duty", [...lease().values(), name]);
      if (row?.take_duty === true) duties.add(name);
      return row?.take_duty === true;
    },
    leaseLeft: () => lease().left(),
    enterSession: turns.enter,
    leaveSession: turns.leave,
    async bindUnit(unitId) {
      await database.call("bind_unit", [...lease().values(), unitId]);
    },
    reports: () => readReports(database),
    async end() {
      watcher = undefined;
      clearTimeout(timer);
      clock.end();
      await listening?.end();
    },
  };
}

interface NodeRow {
  readonly node: string;
  readonly since: number;
  readonly silent_ms: number;
  readonly alive: boolean;
  readonly duties: readonly string[];
  readonly running: number;
}

async function readReports(database: Database): Promise<readonly NodeReport[]> {
  const rows = await database.query<NodeRow>("SELECT * FROM @node_reports()");
  return rows.map(({ node, since, silent_ms, alive, duties, running }) => ({
    name: node,
    since,
    silentMs: silent_ms,
    alive,
    duties,
    running,
  }));
}
