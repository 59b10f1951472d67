/** What the command line asks of the running gateway. */
import type { Json, RouteAnswer } from "service-gateway/sdk";
import type { Agenda } from "./agenda.ts";
import type { Entry } from "./book.ts";
import { fingerprint, reminderPrefix, type StoredPlan, titleOf } from "./plan.ts";
import { nextAfter } from "./times.ts";
import { viewOf, viewsOf } from "./view.ts";

export interface Operations {
  list(): RouteAnswer;
  run(name: string): Promise<RouteAnswer>;
  pause(name: string, paused: boolean): Promise<RouteAnswer>;
  /** Removes a reminder. Schedules are removed from the configuration. */
  cancel(name: string): Promise<RouteAnswer>;
}

const problem = (status: number, error: string, code: string): RouteAnswer => ({
  status,
  body: { ok: false, error, code },
});

const jsonOf = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

/** A schedule of this name; else the reminder with this id. */
function entryOf(entries: readonly Entry[], name: string): Entry | undefined {
  return (
    entries.find(({ plan }) => plan.key === `schedule:${name}`) ??
    entries.find(({ plan }) => plan.name === name.toUpperCase())
  );
}

/**
 * What is kept of a plan that is paused, or goes on: then with its next time, because what it missed was missed on
 * purpose.
 */
function pausedOrNot(
  entry: Entry,
  stored: StoredPlan,
  { paused, now }: { readonly paused: boolean; readonly now: number },
): StoredPlan {
  const { paused: _, ...rest } = stored;
  if (paused) return { ...rest, paused: true };
  const due = stored.paused === true && stored.due !== null ? nextAfter(entry.plan, now, stored.anchor) : stored.due;
  return { ...rest, times: fingerprint(entry.plan), due };
}

export function createOperations({
  agenda,
  now,
  newId,
}: {
  readonly agenda: Agenda;
  readonly now: () => number;
  readonly newId: () => string;
}): Operations {
  function unknown(name: string): RouteAnswer {
    const faulty = agenda.faulty().find((one) => one.name === name);
    if (faulty !== undefined)
      return problem(
        409,
        `The schedule ${name} has an error: it ${faulty.problem.message}. ${faulty.problem.hint}`,
        "schedule_faulty",
      );
    return problem(404, `There is no enabled schedule or reminder ${name}.`, "schedule_unknown");
  }
  return {
    list: () => ({ body: jsonOf({ plans: viewsOf(agenda) }) }),
    async run(name) {
      const entry = entryOf(agenda.entries(), name);
      if (entry === undefined) return unknown(name);
      const eventId = await agenda.runNow(entry.plan, newId());
      return { status: 202, body: { ok: true, eventId, title: titleOf(entry.plan) } };
    },
    async pause(name, paused) {
      const entry = entryOf(agenda.entries(), name);
      if (entry === undefined) return unknown(name);
      await agenda.change(entry.plan.key, (stored) =>
        stored === null ? undefined : pausedOrNot(entry, stored, { paused, now: now() }),
      );
      const changed = entryOf(agenda.entries(), name) ?? entry;
      return { body: jsonOf({ ok: true, title: titleOf(entry.plan), plan: viewOf(changed) }) };
    },
    async cancel(name) {
      const key = `${reminderPrefix}${name.toUpperCase()}`;
      const entry = agenda.entries().find(({ plan }) => plan.key === key);
      if (entry === undefined) return problem(404, `There is no reminder ${name}.`, "schedule_unknown");
      await agenda.change(key, () => null);
      return { body: { ok: true, title: titleOf(entry.plan) } };
    },
  };
}
