/** The plans that this gateway knows: those of the configuration and of the store, each with what is kept of it. */
import type { Json, PluginHost } from "service-gateway/sdk";
import { checkSchedules, type Found, type Known } from "./check.ts";
import { fingerprint, type Kept, type Plan, planOf, reminderPrefix, schedulePrefix } from "./plan.ts";
import type { Schedules } from "./section.ts";
import { nextAfter } from "./times.ts";

export interface Entry {
  readonly plan: Plan;
  readonly kept: Kept;
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
  change(key: string, change: (kept: Kept | null) => Kept | null | undefined): Promise<void>;
}

const isEntry = (key: string) => key.startsWith(schedulePrefix) || key.startsWith(reminderPrefix);

const jsonOf = (kept: Kept): Json => JSON.parse(JSON.stringify(kept)) as Json;

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

  async function readOne(key: string): Promise<void> {
    const kept = (await host.store.get(key)) as unknown as Kept | null;
    const plan = kept?.plan ?? entries.get(key)?.plan;
    if (kept !== null && plan !== undefined) entries.set(key, { plan, kept });
    else entries.delete(key);
  }

  return {
    entries,
    faulty: () => faulty,
    async read({ isEdited }) {
      const wanted = await plans();
      const all = (await host.store.list()).filter(({ key }) => isEntry(key));
      const stored = new Map(all.map(({ key, value }) => [key, value as unknown as Kept] as const));
      const reminders = [...stored].flatMap(([key, { plan }]) => (plan === undefined ? [] : [[key, plan] as const]));
      entries.clear();
      for (const [key, plan] of [...wanted, ...reminders]) {
        const before = stored.get(key) ?? null;
        const kept = upToDate(plan, before);
        entries.set(key, { plan, kept });
        const isUnchanged = (value: Json | null) => JSON.stringify(value) === JSON.stringify(before);
        if (kept !== before) await host.store.update(key, (value) => (isUnchanged(value) ? jsonOf(kept) : undefined));
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
        const next = change(value as unknown as Kept | null);
        return next === undefined || next === null ? next : jsonOf(next);
      });
      await readOne(key);
    },
  };
}
