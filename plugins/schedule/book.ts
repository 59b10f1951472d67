/** The plans that this gateway knows: those of the configuration and of the store, each with what is kept of it. */
import type { Json, PluginHost } from "service-gateway/sdk";
import { checkSchedules, type Found, type Known } from "./check.ts";
import { fingerprint, type Plan, planOf, reminderPrefix, type StoredPlan, schedulePrefix } from "./plan.ts";
import type { Schedules } from "./section.ts";
import { nextAfter } from "./times.ts";

export interface Entry {
  readonly plan: Plan;
  readonly stored: StoredPlan;
}

/** A schedule that does not run because of its settings. */
export interface Faulty {
  readonly name: string;
  readonly problem: Found;
}

/** The agents and channels that a schedule may name. */
export type Names = () => Pick<Known, "agents" | "channels">;

export interface Book {
  /** By key. */
  readonly entries: Map<string, Entry>;
  faulty(): readonly Faulty[];
  /**
   * Reads everything again. `isEdited`: the configuration may have changed, so what is kept of removed schedules is
   * removed too.
   */
  read(how: { readonly isEdited: boolean }): Promise<void>;
  /** Reads what is kept of one plan. */
  readOne(key: string): Promise<void>;
  /** Changes what is kept of one plan, or of one that is not known yet. */
  change(key: string, change: (stored: StoredPlan | null) => StoredPlan | null | undefined): Promise<void>;
}

const isEntry = (key: string) => key.startsWith(schedulePrefix) || key.startsWith(reminderPrefix);

const jsonOf = (stored: StoredPlan): Json => JSON.parse(JSON.stringify(stored)) as Json;

export function createBook({
  host,
  section,
  names,
}: {
  readonly host: Pick<PluginHost, "store" | "timezone" | "now">;
  readonly section: () => Schedules | undefined;
  readonly names: Names | undefined;
}): Book {
  const entries = new Map<string, Entry>();
  let faulty: readonly Faulty[] = [];

  async function plans(): Promise<ReadonlyMap<string, Plan>> {
    const settings = section();
    const timezone = await host.timezone();
    const found = settings === undefined ? [] : checkSchedules(settings, { timezone, now: 0, ...names?.() });
    faulty = found
      .filter(({ warning }) => warning !== true)
      .map((problem) => ({ name: problem.path[0] ?? "", problem }));
    const off = new Set(faulty.map(({ name }) => name));
    const usable = Object.entries(settings ?? {}).filter(([name, { enabled }]) => enabled && !off.has(name));
    return new Map(usable.map(([name, one]) => [`${schedulePrefix}${name}`, planOf(name, one, timezone)]));
  }

  /** What is kept of a plan, for the times that it has now. */
  function upToDate(plan: Plan, stored: StoredPlan | null): StoredPlan {
    const now = host.now();
    const times = fingerprint(plan);
    const anchor = stored?.times === times ? stored.anchor : now;
    // A single time that has passed since it was written may still be made up.
    const isNewAt = "at" in plan.times && stored?.times !== times;
    const next = nextAfter(plan, isNewAt ? 0 : now, anchor);
    // An edit, or a clock that was set back: the runs that took place meanwhile keep their keys, and are not repeated.
    if (stored?.times === times && (stored.due === null || next === null || stored.due <= next)) return stored;
    return { ...stored, times, anchor, due: next };
  }

  async function readOne(key: string): Promise<void> {
    const stored = (await host.store.get(key)) as unknown as StoredPlan | null;
    const plan = stored?.plan ?? entries.get(key)?.plan;
    if (stored !== null && plan !== undefined) entries.set(key, { plan, stored });
    else entries.delete(key);
  }

  return {
    entries,
    faulty: () => faulty,
    async read({ isEdited }) {
      const wanted = await plans();
      const all = (await host.store.list()).filter(({ key }) => isEntry(key));
      const stored = new Map(all.map(({ key, value }) => [key, value as unknown as StoredPlan] as const));
      const reminders = [...stored].flatMap(([key, { plan }]) => (plan === undefined ? [] : [[key, plan] as const]));
      entries.clear();
      for (const [key, plan] of [...wanted, ...reminders]) {
        const before = stored.get(key) ?? null;
        const current = upToDate(plan, before);
        entries.set(key, { plan, stored: current });
        const isUnchanged = (value: Json | null) => JSON.stringify(value) === JSON.stringify(before);
        if (current !== before)
          await host.store.update(key, (value) => (isUnchanged(value) ? jsonOf(current) : undefined));
      }
      if (!isEdited) return;
      // What is kept of a schedule that was removed or switched off would look like missed runs when it comes back.
      const off = new Set(faulty.map(({ name }) => `${schedulePrefix}${name}`));
      for (const [key, { plan }] of stored)
        if (plan === undefined && !wanted.has(key) && !off.has(key)) await host.store.delete(key);
    },
    readOne,
    async change(key, change) {
      await host.store.update(key, (value) => {
        const next = change(value as unknown as StoredPlan | null);
        return next === undefined || next === null ? next : jsonOf(next);
      });
      await readOne(key);
    },
  };
}
