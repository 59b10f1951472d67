/**
 * The plans of this gateway, and the timer of the next one. The store has the truth: what is due, what is paused and what ran last. One of
 * several gateways hands runs in; if two did, the key of the event would make them one.
 */
import type { Json, PluginHost } from "service-gateway/sdk";
import { checkSchedules, type Found } from "./check.ts";
import { createEndings } from "./ending.ts";
import { type Run, runEvent } from "./event.ts";
import { judge } from "./judge.ts";
import { fingerprint, type Kept, type Plan, planOf, reminderPrefix, schedulePrefix, settingsIn } from "./plan.ts";
import { nextAfter } from "./times.ts";

/** Timers run by a clock that no one sets, so the time of day is looked at in between. */
const lookMs = 30_000;
const dutyRetryMs = 1_000;
const maxTimerMs = 2_000_000_000;

export interface Entry {
  readonly plan: Plan;
  readonly kept: Kept;
}

/** A schedule that does not run because of its settings. */
export interface Faulty {
  readonly name: string;
  readonly problem: Found;
}

export interface Agenda {
  /** Reads the configuration and the store again. */
  refresh(): Promise<void>;
  entries(): readonly Entry[];
  faulty(): readonly Faulty[];
  /** Adds a reminder or replaces what is kept of a plan. `change` returns `undefined` to leave it as it is, `null` to remove it. */
  change(key: string, change: (kept: Kept | null) => Kept | null | undefined): Promise<void>;
  /** Hands in a run that was not planned. Resolves with the event's id. */
  runNow(plan: Plan, id: string): Promise<string>;
  close(): void;
}

type Host = Pick<
  PluginHost,
  "store" | "receive" | "hookResult" | "takeDuty" | "sharesStore" | "timezone" | "notify" | "notifyOwner" | "log" | "now"
>;

const jsonOf = (kept: Kept): Json => JSON.parse(JSON.stringify(kept)) as Json;

export function createAgenda({ host, section }: { readonly host: Host; readonly section: () => Json | undefined }): Agenda {
  const entries = new Map<string, Entry>();
  let faulty: readonly Faulty[] = [];
  let timer: NodeJS.Timeout | undefined;
  let looking: NodeJS.Timeout | undefined;
  let lastLook = host.now();
  let isClosed = false;
  let work: Promise<unknown> = Promise.resolve();
  const endings = createEndings({ host, onEnd: (key) => void queued(() => readOne(key)).catch(failed) });

  /** One after the other: a change must not come between a look at a plan and its run. */
  function queued<T>(task: () => Promise<T>): Promise<T> {
    const next = work.then(async () => {
      if (isClosed) throw new Error("the gateway closes");
      return await task();
    });
    work = next.catch(() => {});
    return next;
  }

  function failed(error: unknown): void {
    if (!isClosed)
      host.log.warn(
        { error: error instanceof Error ? error.message : String(error) },
        "the schedules could not be read or written; tried again soon",
      );
  }

  async function plans(): Promise<ReadonlyMap<string, Plan>> {
    const settings = section();
    const timezone = await host.timezone();
    const found = settings === undefined ? [] : checkSchedules(settings, { timezone, now: 0 });
    faulty = found.filter(({ warning }) => warning !== true).map((problem) => ({ name: problem.path[0] ?? "", problem }));
    const off = new Set(faulty.map(({ name }) => name));
    const usable = Object.entries(settingsIn(settings)).filter(([name, { enabled }]) => enabled && !off.has(name));
    return new Map(usable.map(([name, one]) => [`${schedulePrefix}${name}`, planOf(name, one, timezone)]));
  }

  /** What is kept of a plan, for the times that it has now. */
  function upToDate(plan: Plan, kept: Kept | null): Kept {
    const now = host.now();
    const times = fingerprint(plan);
    const anchor = kept?.times === times ? kept.anchor : now;
    // A single time that has passed since it was written may still be made up.
    const isNewAt = "at" in plan.times && kept?.times !== times;
    const next = nextAfter(plan, isNewAt ? 0 : now, anchor);
    // An edit, or a clock that was set back: the runs that took place meanwhile keep their keys, and are not repeated.
    if (kept?.times === times && (kept.due === null || next === null || kept.due <= next)) return kept;
    return { ...kept, times, anchor, due: next };
  }

  async function refresh(): Promise<void> {
    const wanted = await plans();
    const stored = new Map(
      (await host.store.list()).flatMap(({ key, value }) => (isEntry(key) ? [[key, value as unknown as Kept] as const] : [])),
    );
    const reminders = [...stored].flatMap(([key, { plan }]) => (plan === undefined ? [] : [[key, plan] as const]));
    entries.clear();
    for (const [key, plan] of [...wanted, ...reminders]) {
      const before = stored.get(key) ?? null;
      const kept = upToDate(plan, before);
      entries.set(key, { plan, kept });
      if (kept !== before)
        await host.store.update(key, (now) => (JSON.stringify(now) === JSON.stringify(before) ? jsonOf(kept) : undefined));
    }
    // What is kept of a schedule that was removed or switched off would count as missed when it comes back.
    const faultyKeys = new Set(faulty.map(({ name }) => `${schedulePrefix}${name}`));
    for (const [key, { plan }] of stored) if (plan === undefined && !wanted.has(key) && !faultyKeys.has(key)) await host.store.delete(key);
    for (const { plan, kept } of entries.values())
      if (kept.last !== undefined && kept.last.outcome === undefined) endings.follow(plan, kept.last.eventId);
    arm();
  }

  async function readOne(key: string): Promise<void> {
    const known = entries.get(key);
    const kept = (await host.store.get(key)) as unknown as Kept | null;
    if (known !== undefined && kept !== null) entries.set(key, { plan: kept.plan ?? known.plan, kept });
    else if (kept === null) entries.delete(key);
    arm();
  }

  async function look(): Promise<void> {
    const now = host.now();
    const setBack = now < lastLook;
    lastLook = now;
    if (setBack || (await host.sharesStore())) await refresh();
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
    void watch();
    const dues = [...entries.values()].flatMap(({ kept }) => (kept.due === null || kept.paused === true ? [] : [kept.due]));
    if (dues.length === 0) return;
    const wait = inMs ?? Math.min(...dues) - host.now();
    timer = setTimeout(() => void queued(fireDue).catch(failed), Math.min(Math.max(wait, 0), maxTimerMs)).unref();
  }

  async function fireDue(): Promise<void> {
    const now = host.now();
    const isDue = ({ kept }: Entry) => kept.due !== null && kept.due <= now && kept.paused !== true;
    const due = [...entries.values()].filter(isDue);
    if (due.length === 0) return arm();
    if (!(await host.takeDuty("schedules"))) {
      // Another gateway hands them in: what it has done is in the store.
      await refresh();
      return arm([...entries.values()].some(isDue) ? dutyRetryMs : undefined);
    }
    for (const entry of due) await fire(entry, now);
    arm();
  }

  async function fire({ plan, kept }: Entry, now: number): Promise<void> {
    const fresh = (await host.store.get(plan.key)) as unknown as Kept | null;
    if (fresh === null || fresh.due !== kept.due || fresh.paused === true) return await readOne(plan.key);
    const { due } = fresh;
    if (due === null) return;
    const isRunning =
      fresh.last !== undefined && fresh.last.outcome === undefined && (await host.hookResult(fresh.last.eventId))?.ended === false;
    const { run, next, tellOwner } = judge(plan, { due, now, anchor: fresh.anchor, isRunning });
    const { eventId, duplicate } = await host.receive(runEvent(plan, run));
    const isRun = run.skipped === undefined;
    await host.store.update(plan.key, (value) => {
      const current = value as unknown as Kept | null;
      if (current === null || current.due !== due) return undefined;
      const isNew = isRun && !(duplicate && current.last?.eventId === eventId);
      return jsonOf({ ...current, due: next, ...(isNew && { last: { planned: run.planned, at: now, eventId } }) });
    });
    await readOne(plan.key);
    if (isRun) endings.follow(plan, eventId);
    else host.log.warn({ plan: plan.key, reason: run.skipped?.code }, "a planned run was left out");
    if (tellOwner !== undefined) await host.notifyOwner(tellOwner, { key: `${plan.key}:${run.planned}` });
  }

  return {
    refresh: () => queued(refresh),
    entries: () => [...entries.values()],
    faulty: () => faulty,
    change: (key, change) =>
      queued(async () => {
        await host.store.update(key, (value) => {
          const next = change(value as unknown as Kept | null);
          return next === undefined || next === null ? next : jsonOf(next);
        });
        const kept = (await host.store.get(key)) as unknown as Kept | null;
        const plan = kept?.plan ?? entries.get(key)?.plan;
        if (kept !== null && plan !== undefined) entries.set(key, { plan, kept });
        else entries.delete(key);
        arm();
      }),
    runNow: (plan, id) =>
      queued(async () => {
        const run: Run = { planned: host.now(), by: `run:${id}` };
        const { eventId } = await host.receive(runEvent(plan, run));
        await host.store.update(plan.key, (value) => {
          const current = value as unknown as Kept | null;
          return current === null ? undefined : jsonOf({ ...current, last: { planned: run.planned, at: run.planned, eventId } });
        });
        await readOne(plan.key);
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

const isEntry = (key: string) => key.startsWith(schedulePrefix) || key.startsWith(reminderPrefix);
