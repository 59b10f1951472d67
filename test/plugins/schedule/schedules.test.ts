/** Schedules of the configuration, through a whole gateway. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { EngineTurn, TurnEvent } from "../../../core/sdk/contract.ts";
import { createTestHost, type TestHost, type TestHostOptions } from "../../../core/testkit/index.ts";
import schedule from "../../../plugins/schedule/index.ts";

const minute = 60_000;

const open = (schedules: object, more: Omit<TestHostOptions, "plugins"> = {}) =>
  createTestHost({
    plugins: [schedule],
    ...more,
    config: { schedules, agents: { defaults: { timezone: "UTC" } }, ...more.config },
  });

/** Uses up a budget of ten tokens. */
async function* spends(turn: EngineTurn): AsyncGenerator<TurnEvent> {
  const call = await turn.spending?.begin({ model: "acme/model", inputTokens: 5, outputTokens: 5 });
  await turn.spending?.end(call?.id ?? "", { inputTokens: 5, outputTokens: 5 });
  yield { type: "text", delta: "well" };
  yield { type: "done" };
}

interface Plan {
  readonly name: string;
  readonly state: string;
  readonly next: readonly { readonly text: string }[];
  readonly last?: { readonly eventId: string; readonly outcome?: string };
}

async function plansOf(host: TestHost): Promise<readonly Plan[]> {
  return ((await (await host.fetch("/plugins/schedule/plans")).json()) as { readonly plans: readonly Plan[] }).plans;
}

async function post(host: TestHost, what: string, name: string) {
  const headers = { "content-type": "application/json" };
  const response = await host.fetch(`/plugins/schedule/${what}`, {
    method: "POST",
    headers,
    body: JSON.stringify({ name }),
  });
  return {
    status: response.status,
    body: (await response.json()) as { readonly eventId: string; readonly error?: string },
  };
}

/** Runs it now, to its end. */
const runNow = async (host: TestHost, name: string) => await host.settled((await post(host, "run", name)).body.eventId);

describe("a schedule", () => {
  test("runs the agent at its time in its own conversation and sends the reply to its target", async () => {
    const turns: EngineTurn[] = [];
    await using host = await open(
      { watch: { every: "1m", message: "What is new?", to: "loopback:42:topic:7" } },
      { answer: (turn) => `run ${turns.push(turn)}` },
    );
    await host.advance(2 * minute + 1_000);
    expect(host.outbox()).toMatchObject([
      { chat: "42", thread: "7", text: "run 1" },
      { chat: "42", thread: "7", text: "run 2" },
    ]);
    expect(turns[0]?.inbound.text).toMatch(
      /^\[schedule watch, due \w{3} \d{4}-\d\d-\d\d \d\d:\d\d UTC\]\nWhat is new\?$/,
    );
    expect(turns[1]).toMatchObject({
      sessionKey: "schedule:watch",
      messages: [{ role: "user" }, { role: "assistant", text: "run 1" }, {}],
    });
    expect(await plansOf(host)).toMatchObject([{ name: "watch", state: "on", last: { outcome: "answered" } }]);
  });

  test("sends its message without a model", async () => {
    let turns = 0;
    await using host = await open(
      { tea: { every: "1m", kind: "say", message: "Tea!", to: "loopback:42" } },
      {
        answer() {
          turns += 1;
          return "a turn";
        },
      },
    );
    await host.advance(minute + 1_000);
    expect(host.outbox()).toMatchObject([{ chat: "42", text: "Tea!" }]);
    expect(turns).toBe(0);
  });

  test("is not a heartbeat: HEARTBEAT_OK is plain text, and content for the next heartbeat keeps waiting", async () => {
    const turns: EngineTurn[] = [];
    await using host = await open(
      { all: { every: "1d", session: "main", message: "Report.", to: "loopback:42" } },
      {
        answer(turn) {
          turns.push(turn);
          return turn.inbound.channel === "schedule" ? "HEARTBEAT_OK" : "noted";
        },
      },
    );
    await host.deliver("wake", { text: "the backup is done", mode: "next-heartbeat" });
    expect(await runNow(host, "all")).toMatchObject({ outcome: "answered", sessionKey: "agent:main:main" });
    expect(host.outbox()).toMatchObject([{ chat: "42", text: "HEARTBEAT_OK" }]);
    const [asked] = turns;
    expect(asked?.instructions).not.toContain("HEARTBEAT_OK");
    expect(JSON.stringify(asked?.messages)).not.toContain("backup");
    await host.say("hello");
    expect(JSON.stringify(turns.at(-1)?.messages.at(-1))).toContain("backup");
  });

  test("can stay silent, and sends nothing without a target", async () => {
    await using host = await open(
      { quiet: { every: "1d", message: "Anything?", to: "loopback:42" }, lost: { every: "1d", message: "Anything?" } },
      { answer: ({ inbound }) => (inbound.text.includes("quiet") ? "NO_REPLY" : "something") },
    );
    expect(await runNow(host, "quiet")).toMatchObject({ outcome: "silent", reason: "no_reply" });
    await runNow(host, "lost");
    expect(host.outbox()).toEqual([]);
  });

  test("sends to its own target, not to the latest sender", async () => {
    await using host = await open({ all: { every: "1d", message: "Report.", to: "loopback:team:topic:7" } });
    await host.say("hello", { from: "owner" });
    await runNow(host, "all");
    expect(host.outbox().map(({ chat, thread }) => [chat, thread])).toEqual([
      ["owner", undefined],
      ["team", "7"],
    ]);
  });

  test("runs once even if it is killed during its turn", async () => {
    let turns = 0;
    await using host = await open(
      { slow: { every: "1h", message: "Go.", to: "loopback:42" } },
      {
        answer: async () => {
          turns += 1;
          if (turns === 1) await new Promise((resolve) => setTimeout(resolve, 5_000).unref());
          return `turn ${turns}`;
        },
      },
    );
    const { body } = await post(host, "run", "slow");
    await expect.poll(() => turns).toBe(1);
    await host.restart({ killed: true });
    await host.settled(body.eventId);
    expect(host.outbox().map(({ text }) => text)).toEqual(["turn 2"]);
    await expect.poll(() => plansOf(host)).toMatchObject([{ last: { eventId: body.eventId, outcome: "answered" } }]);
  });

  test("does not run if it is removed while its run waits", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await using host = await open(
      { slow: { every: "1d", message: "Go.", to: "loopback:42" } },
      { answer: () => held.then(() => "done") },
    );
    const first = await post(host, "run", "slow");
    const second = await post(host, "run", "slow");
    await host.configure({ schedules: { slow: undefined } });
    release();
    // What runs already ends as usual.
    expect(await host.settled(first.body.eventId)).toMatchObject({ outcome: "answered" });
    expect(await host.settled(second.body.eventId)).toMatchObject({ outcome: "silent", reason: "schedule_removed" });
    expect(await plansOf(host)).toEqual([]);
  });

  test("follows an edit without a restart", async () => {
    await using host = await open({ one: { every: "10m", kind: "say", message: "one", to: "loopback:42" } });
    await host.configure({
      schedules: {
        one: { every: "1m", message: "edited" },
        two: { every: "1m", kind: "say", message: "two", to: "loopback:43" },
      },
    });
    await host.advance(minute + 1_000);
    expect(
      host
        .outbox()
        .map(({ chat, text }) => [chat, text])
        .sort(),
    ).toEqual([
      ["42", "edited"],
      ["43", "two"],
    ]);
  });

  test("stays paused over a restart and resumes without missed runs", async () => {
    await using host = await open({ tea: { every: "1m", kind: "say", message: "Tea!", to: "loopback:42" } });
    await post(host, "pause", "tea");
    await host.restart();
    await host.advance(3 * minute);
    expect(host.outbox()).toEqual([]);
    expect(await plansOf(host)).toMatchObject([{ state: "paused", next: [] }]);
    await post(host, "resume", "tea");
    await host.advance(minute);
    expect(host.outbox()).toHaveLength(1);
  });

  test("that fails is reported to the owner, in status and by /readyz until it succeeds", async () => {
    let fails = true;
    await using host = await open(
      { all: { every: "1d", message: "Report.", to: "loopback:42" } },
      {
        answer: ({ inbound }) => {
          if (fails && inbound.channel === "schedule") throw new Error("no model today");
          return "fine";
        },
        allowErrors: [/a run of a schedule/],
      },
    );
    await host.say("hello");
    const { eventId } = await runNow(host, "all");
    await expect
      .poll(() => host.outbox().at(-1)?.text)
      .toContain(`The schedule all could not run: engine_failed. The command \`why ${eventId}\``);
    const reasons = async () =>
      ((await (await host.fetch("/readyz")).json()) as { readonly reasons?: readonly string[] }).reasons ?? [];
    expect(await reasons()).toEqual([
      expect.stringContaining("schedule:all is retrying: Its last run failed: engine_failed."),
    ]);
    fails = false;
    await runNow(host, "all");
    await expect.poll(reasons).toEqual([]);
  });

  test("skipped for a budget is not a failure, and a person who requested the run is informed", async () => {
    await using host = await open(
      { all: { every: "1d", message: "Report.", to: "loopback:42" } },
      { config: { budget: { perDayTokens: 10 } }, answer: spends },
    );
    await host.say("hello");
    const { eventId } = await runNow(host, "all");
    const { decisions } = await host.settled(eventId);
    expect(decisions.map(({ code }) => code)).toContain("budget_exceeded");
    await expect
      .poll(async () => (await plansOf(host))[0])
      .toMatchObject({ failures: 0, last: { reason: "budget_exceeded" } });
    expect(await (await host.fetch("/readyz")).text()).not.toContain("schedule");
    expect(host.outbox().some(({ text }) => text.includes("could not run"))).toBe(false);
  });

  test("with a missing agent or channel is disabled until a reload adds it", async () => {
    await using host = await open(
      {
        ghostly: { every: "1m", message: "Report.", agent: "ghost" },
        astray: { every: "1m", kind: "say", message: "Tea!", to: "nowhere:1" },
      },
      { answer: () => "fine", allowErrors: [/schedules\./] },
    );
    expect((await plansOf(host)).map(({ name, state }) => [name, state])).toEqual([
      ["ghostly", "error"],
      ["astray", "error"],
    ]);
    expect(await post(host, "run", "ghostly")).toMatchObject({
      status: 409,
      body: { error: 'The schedule ghostly has an error: it is "ghost", which is not an agent. The agents are main.' },
    });
    await host.configure({
      agents: { list: [{ id: "main", default: true }, { id: "ghost" }] },
      schedules: { astray: undefined },
    });
    expect(await plansOf(host)).toMatchObject([{ name: "ghostly", state: "on" }]);
  });

  test("that was removed while no gateway ran has no missed runs when it returns", async () => {
    const schedules = { all: { every: "10m", message: "Report.", to: "loopback:42" } };
    const directory = await mkdtemp(join(tmpdir(), "schedules-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const before = await open(schedules, { directory });
    await before.advance(minute);
    await before.close();
    await using host = await open({}, { directory });
    await host.advance(25 * minute);
    await host.configure({ schedules });
    await host.advance(minute);
    expect(host.outbox()).toEqual([]);
  });

  test("names an unknown schedule in its error", async () => {
    await using host = await open({});
    expect(await post(host, "run", "nothing")).toMatchObject({
      status: 404,
      body: { error: "There is no enabled schedule or reminder nothing." },
    });
  });
});

describe("a schedule with an error", () => {
  test.each<readonly [string, object, string]>([
    ["no time", { message: "x" }, "schedules.bad: has none of cron, every and at"],
    [
      "two times",
      { every: "1h", cron: "0 8 * * *", message: "x" },
      "schedules.bad: has more than one of cron, every and at",
    ],
    [
      "a cron of four fields",
      { cron: "0 8 * *", message: "x" },
      'schedules.bad.cron: is "0 8 * *", which does not have five fields',
    ],
    ["an unknown zone", { every: "1h", timezone: "Mars/Base", message: "x" }, 'schedules.bad.timezone: is "Mars/Base"'],
    ["nothing to say it to", { every: "1h", kind: "say", message: "x" }, "schedules.bad.to: is missing"],
    ["the last place", { every: "1h", message: "x", to: "last:1" }, "schedules.bad.to: is"],
    ["an unknown channel", { every: "1h", message: "x", to: "telex:1" }, "and channels has no telex"],
    [
      "an unknown agent",
      { every: "1h", message: "x", agent: "eve" },
      'schedules.bad.agent: is "eve", which is not an agent',
    ],
    ["no message", { every: "1h" }, "schedules.bad.message: is missing"],
  ])("%s: an edit is rejected with the place and the reason", async (_what, bad, reason) => {
    await using host = await open({}, { allowErrors: [/schedules\.bad/] });
    await expect(host.configure({ schedules: { bad } })).rejects.toThrow(reason);
    // Each is said once.
    expect((await host.problems()).map(({ path, message }) => `${path}: ${message}`)).toEqual([
      expect.stringContaining(reason),
    ]);
  });

  test("with a past one-time date is only a warning, because every such date passes", async () => {
    await using host = await open({ once: { at: "2020-01-01T08:00", message: "x" } });
    expect(await host.problems()).toMatchObject([{ severity: "warning", path: "schedules.once.at" }]);
  });

  test("does not stop the others", async () => {
    await using host = await open(
      { bad: { cron: "never", message: "x" }, tea: { every: "1m", kind: "say", message: "Tea!", to: "loopback:42" } },
      { allowErrors: [/schedules\.bad/] },
    );
    await host.advance(minute + 1_000);
    expect(host.outbox()).toHaveLength(1);
    expect(await plansOf(host)).toContainEqual(expect.objectContaining({ name: "bad", state: "error" }));
    expect(await host.problems()).toMatchObject([{ severity: "error", path: "schedules.bad.cron" }]);
  });
});

test("without a schedule or reminder, the plugin loads nothing and runs no timer", async () => {
  await using host = await createTestHost({ plugins: [schedule] });
  await host.say("hello");
  expect(await (await host.fetch("/readyz")).json()).toMatchObject({ ok: true });
  // The engine of the plugin starts with the first route that needs it.
  expect(await plansOf(host)).toEqual([]);
});
