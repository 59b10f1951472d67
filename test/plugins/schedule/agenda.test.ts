/**
 * Clocks that jump, machines that sleep, processes that die and two gateways on one store: each planned time is one
 * run, or is accounted for.
 */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Json, PluginHost, RawEvent } from "../../../core/sdk/contract.ts";
import { type Agenda, createAgenda } from "../../../plugins/schedule/agenda.ts";
import type { Schedules } from "../../../plugins/schedule/section.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const start = Date.parse("2026-06-01T07:00:00Z");

type Event = RawEvent & { readonly at: number };

/** What several gateways share: the events by their keys, who has the duty, and how each event ended. */
interface Shared {
  readonly store: PluginHost["store"];
  readonly accepted: Event[];
  readonly told: string[];
  duty: string | undefined;
  ended: boolean;
  outcome: "answered" | "failed";
  beforeAccept: () => void;
}

/** A store whose calls take no time, so that only the played clock moves. */
function memory(): PluginHost["store"] {
  const values = new Map<string, Json>();
  const put = (key: string, value: Json | null) => (value === null ? values.delete(key) : values.set(key, value));
  return {
    get: async (key) => values.get(key) ?? null,
    set: async (key, value) => void put(key, value),
    delete: async (key) => values.delete(key),
    list: async ({ prefix = "" } = {}) =>
      [...values].filter(([key]) => key.startsWith(prefix)).map(([key, value]) => ({ key, value })),
    async update(key, change) {
      const next = change(values.get(key) ?? null);
      if (next !== undefined) put(key, next);
      return values.get(key) ?? null;
    },
  };
}

let shared: Shared;
const open: Agenda[] = [];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] });
  vi.setSystemTime(start);
  shared = {
    store: memory(),
    ...{ accepted: [], told: [], duty: undefined, ended: true, outcome: "answered", beforeAccept() {} },
  };
});

afterEach(() => {
  for (const agenda of open.splice(0)) agenda.close();
  vi.useRealTimers();
});

async function gateway(schedules: Json, node = "one"): Promise<Agenda & { edit(next: Json): Promise<void> }> {
  let settings = schedules;
  const host = {
    store: shared.store,
    now: () => Date.now(),
    timezone: async () => "UTC",
    sharesStore: async () => node !== "one" || shared.duty !== undefined,
    async takeDuty() {
      shared.duty ??= node;
      return shared.duty === node;
    },
    async receive(event: RawEvent) {
      shared.beforeAccept();
      const known = shared.accepted.findIndex(({ dedupeKey }) => dedupeKey === event.dedupeKey);
      if (known === -1) shared.accepted.push({ ...event, at: Date.now() });
      return { eventId: `e${known === -1 ? shared.accepted.length - 1 : known}`, duplicate: known !== -1 };
    },
    hookResult: async () =>
      shared.ended ? { ended: true, outcome: shared.outcome, reason: shared.outcome } : { ended: false },
    notify: async () => ({ eventId: "n", duplicate: false }),
    async notifyOwner(text: string) {
      shared.told.push(text);
      return true;
    },
    log: { trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  };
  const agenda = createAgenda({ host, section: () => settings as Schedules });
  open.push(agenda);
  await agenda.refresh();
  return Object.assign(agenda, {
    async edit(next: Json) {
      settings = next;
      await agenda.refresh();
    },
  });
}

/** A wait in which the clock runs and timers fire, and what they began ends. */
async function wait(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  // What the last timer began.
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
}

/** The time comes, and the next look at the clock: half a minute of timers instead of a day of them. */
async function pass(time: string): Promise<void> {
  vi.setSystemTime(Date.parse(`2026-${time}Z`));
  await wait(31_000);
}

/** The clock is set, or the machine slept: no timer has run. */
const jump = (ms: number) => vi.setSystemTime(Date.now() + ms);

const plan = (more: object = {}): Json => ({
  morning: {
    ...{ enabled: true, cron: "0 8 * * *", timezone: "UTC", kind: "ask", message: "What is new?", session: "own" },
    ...{ ifMissed: "run-once", graceMinutes: 60, ...more },
  },
});

const runs = () => shared.accepted.map(({ at, body }) => [new Date(at).toISOString().slice(5, 16), outline(body)]);

function outline(body: Json): string {
  const { planned, lateMs, skipped, notice } = body as {
    planned: number;
    lateMs?: number;
    skipped?: { code: string };
    notice?: string;
  };
  const late = lateMs === undefined ? "run" : "late run";
  return (
    `${skipped?.code ?? (notice === undefined ? late : "notice")} of ` +
    `${new Date(planned).toISOString().slice(5, 16)}`
  );
}

test("a run begins at each planned time", async () => {
  await gateway(plan({ cron: "*/20 8 * * *" }));
  await wait(85 * minute);
  expect(runs()).toEqual([
    ["06-01T08:00", "run of 06-01T08:00"],
    ["06-01T08:20", "run of 06-01T08:20"],
  ]);
});

test("after three days of sleep, only the newest run within the grace period is made up, once", async () => {
  await gateway(plan({ graceMinutes: 24 * 60 }));
  await wait(2 * hour);
  jump(3 * day);
  await wait(minute);
  await wait(hour);
  expect(runs()).toEqual([
    ["06-01T08:00", "run of 06-01T08:00"],
    ["06-04T09:00", "late run of 06-04T08:00"],
  ]);
});

test.each([
  ["run-once", "schedule_missed of 06-04T08:00"],
  ["skip", "schedule_missed of 06-04T08:00"],
])("%s after the grace period leaves a trace and no run", async (ifMissed, trace) => {
  await gateway(plan({ ifMissed, graceMinutes: 30 }));
  jump(3 * day + 2 * hour);
  await wait(minute);
  expect(runs().map(([, what]) => what)).toEqual([trace]);
  await pass("06-05T08:00");
  expect(runs().at(-1)).toEqual(["06-05T08:00", "run of 06-05T08:00"]);
});

test("tell sends a notice to its target, or to the owner if no target is set", async () => {
  await gateway(plan({ ifMissed: "tell", to: "chat:42" }));
  jump(2 * hour);
  await wait(minute);
  expect(runs().map(([, what]) => what)).toEqual(["notice of 06-01T08:00"]);
  expect(JSON.stringify(shared.accepted[0]?.body)).toContain("Its next run is at Tue 2026-06-02 08:00 UTC.");
  open.splice(0)[0]?.close();
  await gateway(plan({ ifMissed: "tell" }));
  jump(day);
  await wait(minute);
  expect(shared.told).toEqual([expect.stringContaining("The schedule morning was due at Tue 2026-06-02 08:00 UTC")]);
});

test("a one-time plan that passed beyond its grace period is reported to the owner", async () => {
  await gateway(plan({ cron: undefined, at: "2026-06-01T08:00" }));
  jump(day);
  await wait(minute);
  expect(shared.told).toEqual([expect.stringMatching(/was due at Mon 2026-06-01 08:00 UTC.*It will not run again/)]);
  await pass("06-02T08:00");
  expect(runs()).toHaveLength(1);
});

test("a clock that is set back repeats no run, and the next runs are on time", async () => {
  await gateway(plan({ cron: "*/30 * * * *" }));
  await wait(hour + minute);
  expect(runs()).toHaveLength(2);
  jump(-hour);
  await wait(hour);
  expect(runs()).toHaveLength(2);
  await wait(hour);
  expect(runs().slice(2)).toEqual([
    ["06-01T08:30", "run of 06-01T08:30"],
    ["06-01T09:00", "run of 06-01T09:00"],
  ]);
});

test("a clock that was a year ahead does not stop a schedule for a year", async () => {
  vi.setSystemTime(start + 365 * day);
  await gateway(plan());
  await wait(2 * hour);
  vi.setSystemTime(start);
  await wait(2 * hour);
  expect(runs().at(-1)).toEqual(["06-01T08:00", "run of 06-01T08:00"]);
});

test("a clock set forward by hours is noticed within half a minute", async () => {
  await gateway(plan());
  jump(hour + minute);
  await wait(31_000);
  expect(runs()).toEqual([["06-01T08:01", "run of 06-01T08:00"]]);
});

test("a process that dies after accepting the event but before storing the next time repeats nothing", async () => {
  const first = await gateway(plan());
  const { store } = shared;
  const lost = vi.spyOn(store, "update").mockImplementation(async () => {
    throw new Error("killed");
  });
  await wait(hour + minute);
  expect(runs()).toHaveLength(1);
  first.close();
  lost.mockRestore();
  await gateway(plan());
  await wait(minute);
  expect(runs()).toEqual([["06-01T08:00", "run of 06-01T08:00"]]);
  await pass("06-02T08:00");
  expect(runs()).toHaveLength(2);
});

test("a store that is down at the planned time delays the run", async () => {
  let away = true;
  shared.beforeAccept = () => {
    if (away) throw new Error("the disk is full");
  };
  await gateway(plan());
  await wait(hour + 10_000);
  expect(runs()).toEqual([]);
  away = false;
  await wait(minute);
  expect(runs().map(([, what]) => what)).toEqual(["run of 06-01T08:00"]);
});

test("two gateways on one store run a plan once, and the second takes over from a lost one", async () => {
  shared.duty = "one";
  const first = await gateway(plan());
  await gateway(plan(), "two");
  await wait(2 * hour);
  expect(runs()).toHaveLength(1);
  first.close();
  shared.duty = undefined;
  await pass("06-02T08:00");
  expect(runs().map(([, what]) => what)).toEqual(["run of 06-01T08:00", "run of 06-02T08:00"]);
});

test("two gateways that both consider themselves in charge run a plan once", async () => {
  await gateway(plan());
  shared.duty = undefined;
  await gateway(plan());
  await wait(2 * hour);
  expect(runs()).toHaveLength(1);
});

test("an unfinished run prevents the next one, with a trace", async () => {
  shared.ended = false;
  await gateway(plan({ cron: "*/30 * * * *" }));
  await wait(hour + minute);
  shared.ended = true;
  await wait(hour);
  expect(runs().map(([, what]) => what)).toEqual([
    "run of 06-01T07:30",
    "schedule_still_running of 06-01T08:00",
    "run of 06-01T08:30",
    "run of 06-01T09:00",
  ]);
});

test("a time edited while it is due runs at the new time only", async () => {
  const agenda = await gateway(plan());
  await wait(hour - 1_000);
  await agenda.edit(plan({ cron: "30 8 * * *" }));
  await wait(hour);
  expect(runs()).toEqual([["06-01T08:30", "run of 06-01T08:30"]]);
});

test("a schedule that is disabled and enabled again makes up no missed runs", async () => {
  const agenda = await gateway(plan());
  await agenda.edit(plan({ enabled: false }));
  await wait(90 * minute);
  await agenda.edit(plan());
  await wait(hour);
  expect(runs()).toEqual([]);
});

test("the owner is notified of the first failure in a row and of every tenth", async () => {
  shared.outcome = "failed";
  await gateway(plan({ every: "2m", cron: undefined }));
  await wait(43 * minute);
  expect(shared.told.map((text) => /could not run|failed \d+ times/.exec(text)?.[0])).toEqual([
    "could not run",
    "failed 10 times",
    "failed 20 times",
  ]);
  shared.outcome = "answered";
  await wait(2 * minute);
  shared.outcome = "failed";
  await wait(2 * minute);
  expect(shared.told.at(-1)).toContain("could not run");
});

test("no timer runs after the last plan is removed", async () => {
  const agenda = await gateway(plan());
  expect(vi.getTimerCount()).toBeGreaterThan(0);
  await agenda.edit({});
  await wait(0);
  expect(vi.getTimerCount()).toBe(0);
});
