/**
 * The plans of this gateway, and the timer of the next one. The store has the truth: what is due, what is paused and
 * what ran last. One of several gateways submits runs; if two did, the key of the event would make them one.
 */
import type { PluginHost } from "service-gateway/sdk";
import { createBook, type Entry, type Faulty, type Names } from "./book.ts";
import { createEndings } from "./ending.ts";
import { type Run, runEvent } from "./event.ts";
import { judge } from "./judge.ts";
import type { Plan, StoredPlan } from "./plan.ts";
import { createQueue } from "./queue.ts";
import type { Schedules } from "./section.ts";

/** Timers run by a clock that no one sets, so the time of day is looked at in between. */
const lookMs = 30_000;
const dutyRetryMs = 1_000;
const maxTimerMs = 2_000_000_000;

export interface Agenda {
  /** Reads the configuration and the store again. */
  refresh(): Promise<void>;
  entries(): readonly Entry[];
  faulty(): readonly Faulty[];
  /**
   * Adds a reminder or replaces what is kept of a plan. `change` returns `undefined` to leave it as it is, `null` to
   * remove it.
   */
  change(key: string, change: (stored: StoredPlan | null) => StoredPlan | null | undefined): Promise<void>;
  /** Submits a run that was not planned. Resolves with the event's id. */
  runNow(plan: Plan, id: string): Promise<string>;
  close(): void;
}

type Host = Pick<
  PluginHost,
  | "store"
  | "receive"
  | "hookResult"
  | "takeDuty"
  | "sharesStore"
  | "timezone"
  | "notify"
  | "notifyOwner"
  | "log"
  | "now"
>;

export interface AgendaOptions {
  readonly host: Host;
  readonly section: () => Schedules | undefined;
  /** Absent where they are unknown: then what a schedule names is not checked. */
  readonly names?: Names;
}

export function createAgenda({ host, section, names }: AgendaOptions): Agenda {
  const book = createBook({ host, section, names });
  const { entries } = book;
  let timer: NodeJS.Timeout | undefined;
  let looking: NodeJS.Timeout | undefined;
  let lastLook = host.now();
  let isClosed = false;
  const queue = createQueue();
  const endings = createEndings({ host, onEnd: (key) => void queued(() => readOne(key)).catch(failed) });

  /** One after the other: a change must not come between a look at a plan and its run. */
  const queued = <T>(task: () => Promise<T>): Promise<T> =>
    queue.add(async () => {
      if (isClosed) throw new Error("the gateway closes");
      return await task();
    });

  const failed = (error: unknown) => void (isClosed || logFailure(host, error));

  async function refresh(isEdited: boolean): Promise<void> {
    await book.read({ isEdited });
    for (const { plan, stored } of entries.values())
      if (stored.last !== undefined && stored.last.outcome === undefined) endings.follow(plan, stored.last.eventId);
    arm();
  }

  async function readOne(key: string): Promise<void> {
    await book.readOne(key);
    arm();
  }

  async function look(): Promise<void> {
    const now = host.now();
    const setBack = now < lastLook;
    lastLook = now;
    if (setBack || (await host.sharesStore())) await refresh(false);
    else await fireDue();
  }

  /** Looks at the clock only while there is something that could be due, or another gateway could add it. */
  async function watch(): Promise<void> {
    const isNeeded = !isClosed && (entries.size > 0 || (await host.sharesStore()));
    if (isNeeded) looking ??= setInterval(() => void queued(look).catch(failed), lookMs).unref();
    else {
      clearInterval(looking);
      looking = undefined;
    }
  }

  function arm(inMs?: number): void {
    clearTimeout(timer);
    if (isClosed) return;
    void watch().catch(failed);
    const dues = [...entries.values()].flatMap(({ stored }) =>
      stored.due === null || stored.paused === true ? [] : [stored.due],
    );
    if (dues.length === 0) return;
    const wait = inMs ?? dues.reduce((first, due) => Math.min(first, due)) - host.now();
    timer = setTimeout(() => void queued(fireDue).catch(failed), Math.min(Math.max(wait, 0), maxTimerMs)).unref();
  }

  async function fireDue(): Promise<void> {
    const now = host.now();
    const isDue = ({ stored }: Entry) => stored.due !== null && stored.due <= now && stored.paused !== true;
    // Of a chat's reminders, the earlier one is sent first, and of those for one time the one that was set first.
    const due = [...entries.values()]
      .filter(isDue)
      .sort((a, b) => (a.stored.due ?? 0) - (b.stored.due ?? 0) || a.stored.anchor - b.stored.anchor);
    if (due.length === 0) return arm();
    if (!(await host.takeDuty("schedules"))) {
      // Another gateway submits them: what it has done is in the store.
      await refresh(false);
      return arm([...entries.values()].some(isDue) ? dutyRetryMs : undefined);
    }
    for (const entry of due) await fire(entry, now);
    arm();
  }

  async function fire({ plan, stored }: Entry, now: number): Promise<void> {
    const fresh = (await host.store.get(plan.key)) as unknown as StoredPlan | null;
    if (fresh === null || fresh.due !== stored.due || fresh.paused === true) return await readOne(plan.key);
    const { due } = fresh;
    if (due === null) return;
    const isRunning =
      fresh.last !== undefined &&
      fresh.last.outcome === undefined &&
      (await host.hookResult(fresh.last.eventId))?.ended === false;
    const { run, next, tellOwner } = judge(plan, { due, now, anchor: fresh.anchor, isRunning });
    const { eventId, duplicate } = await host.receive(runEvent(plan, run));
    const isRun = run.skipped === undefined;
    await book.change(plan.key, (current) => {
      if (current === null || current.due !== due) return undefined;
      const isNew = isRun && !(duplicate && current.last?.eventId === eventId);
      return { ...current, due: next, ...(isNew && { last: { planned: run.planned, at: now, eventId } }) };
    });
    if (isRun) endings.follow(plan, eventId);
    else host.log.warn({ plan: plan.key, reason: run.skipped?.code }, "a planned run was left out");
    if (tellOwner !== undefined) await host.notifyOwner(tellOwner, { key: `${plan.key}:${run.planned}` });
  }

  return {
    refresh: () => queued(() => refresh(true)),
    entries: () => [...entries.values()],
    faulty: book.faulty,
    change: (key, change) =>
      queued(async () => {
        await book.change(key, change);
        arm();
      }),
    runNow: (plan, id) =>
      queued(async () => {
        const run: Run = { planned: host.now(), by: `run:${id}` };
        const { eventId } = await host.receive(runEvent(plan, run));
        const last = { planned: run.planned, at: run.planned, eventId };
        await book.change(plan.key, (stored) => (stored === null ? undefined : { ...stored, last }));
        endings.follow(plan, eventId);
        return eventId;
      }),
    close() {
      isClosed = true;
      clearTimeout(timer);
      clearInterval(looking);
      endings.close();
    },
  };
}

function logFailure({ log }: Pick<Host, "log">, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  log.warn({ error: reason }, "the schedules could not be read or written; tried again soon");
}
