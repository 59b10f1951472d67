/**
 * What this node hears of the others: work that it did not accept itself, and notes. Notifications and a poll say when
 * to look for them.
 */
import type { NodeReport, Nodes, NodeWatcher } from "service-gateway/sdk/store";
import type { Database } from "../pool.ts";
import { wakeChannel } from "../schema/lease.ts";
import { lookChannel } from "../schema/notes.ts";
import { turnChannel } from "../schema/session-turns.ts";
import type { SharedClock } from "./clock.ts";
import type { Lease } from "./lease.ts";
import { type Listening, listen } from "./listening.ts";
import { createLook } from "./look.ts";
import { createNotes } from "./notes.ts";
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

export interface NodesOptions {
  readonly node: string;
  readonly now: () => number;
  readonly clock: SharedClock;
  readonly lease: () => Lease;
}

export function createNodes(database: Database, { node, now, clock, lease }: NodesOptions): PostgresNodes {
  const duties = new Set<string>();
  const turns = createSessionTurns(database, lease);
  const notes = createNotes(database, node);
  /** Lanes that a look has reported and that were not due then. */
  let later: ReadonlySet<string> = new Set();
  let watcher: NodeWatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  let listening: Listening | undefined;

  const work = (lanes: readonly string[]) => {
    if (lanes.length > 0) watcher?.work(lanes);
  };

  const lanesOf = (rows: readonly Readonly<Record<string, string>>[]): readonly string[] =>
    rows.flatMap((row) => Object.values(row));

  /** Lanes whose head is due and in which nothing runs. */
  async function lookForWork(): Promise<boolean> {
    const lanes = lanesOf(await database.query("SELECT * FROM @idle_lanes($1, $2, $3)", [node, now(), maxLanes]));
    work(lanes);
    return lanes.length > 0;
  }

  /** After a notification also lanes that are due later, each once, so that this node wakes for them in time. */
  async function lookForLater(): Promise<boolean> {
    const lanes = lanesOf(await database.query("SELECT * FROM @later_lanes($1, $2)", [now(), maxLanes]));
    const fresh = lanes.filter((lane) => !later.has(lane));
    later = new Set(lanes);
    work(fresh);
    return fresh.length > 0;
  }

  const hear: NodeWatcher["note"] = (note) => watcher?.note(note);
  const workLook = createLook(async () => (await lookForWork()) || (await lookForLater()));
  const noteLook = createLook(() => notes.look(hear));

  async function poll(): Promise<void> {
    try {
      await lookForWork();
      noteLook.ask();
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
      listening ??= listen(
        database.listening,
        database.schema,
        new Map([
          [wakeChannel, workLook.ask],
          [lookChannel, noteLook.ask],
          [turnChannel, turns.heard],
        ]),
      );
      noteLook.ask();
      clearTimeout(timer);
      plan();
      clock.start();
    },
    send: notes.send,
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
      for (const each of [workLook, noteLook, turns]) each.end();
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
