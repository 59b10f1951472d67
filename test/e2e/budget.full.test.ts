/** Budgets: what a limit stops, and what a person, an owner and an operator read of it. */
import { createTestHost, type TestHostOptions } from "service-gateway/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { EngineTurn, TurnEvent } from "../../core/sdk/contract.ts";
import ai from "../../plugins/ai/index.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { callTools, refuse, say } from "../openai-server/answers.ts";
import { createOpenAiServer } from "../openai-server/index.ts";

/** An engine that announces one call of `acme/model`, which uses 10 tokens in and 5 out. */
async function* announces(turn: EngineTurn, work: () => Promise<void> = async () => {}): AsyncGenerator<TurnEvent> {
  const call = await turn.spending?.begin({ model: "acme/model", inputTokens: 10, outputTokens: 5 });
  await work();
  await turn.spending?.end(call?.id ?? "", { inputTokens: 10, outputTokens: 5 });
  yield { type: "text", delta: `heard ${turn.inbound.text}` };
  yield { type: "done" };
}

async function open(config: Readonly<Record<string, unknown>>, more: Partial<TestHostOptions> = {}) {
  const host = await createTestHost({ answer: (turn) => announces(turn), config, ...more });
  onTestFinished(() => host.close());
  const command = async (...args: readonly string[]) =>
    (await run([...args, "--config", host.configFile], { home: temporaryHome() })).out;
  const usage = async (...args: readonly string[]) =>
    JSON.parse(await command("usage", "--json", ...args)) as {
      readonly usage: readonly Record<string, unknown>[];
      readonly total: Record<string, unknown>;
      readonly budgets: readonly Record<string, unknown>[];
    };
  const textsTo = (chat: string) => host.outbox().flatMap((sent) => (sent.chat === chat ? [sent.text] : []));
  return { host, command, usage, textsTo };
}

/** The same with the `ai` engine and a stand-in of a model server, which counts 11 tokens in and 7 out. */
async function openModel(config: Readonly<Record<string, unknown>>) {
  const model = await createOpenAiServer();
  onTestFinished(() => model.close());
  const opened = await open(
    {
      agents: { defaults: { model: "local/small" } },
      models: {
        providers: { local: { api: "openai-compatible", baseUrl: model.url } },
        prices: { "local/small": { input: 1, output: 10 } },
      },
      ...config,
    },
    { plugins: [ai] },
  );
  return { model, ...opened };
}

const day = 24 * 3_600_000;

describe("a token limit", () => {
  test("refuses what exceeds it with one reply, notifies the owner once at each step, allows commands", async () => {
    const { host, textsTo } = await open({ budget: { perDayTokens: 50, warnAt: 0.5 } });
    await host.say("hello");
    expect(textsTo("owner")).toEqual(["heard hello"]);
    await host.say("second", { from: "7" });
    await expect
      .poll(() => textsTo("owner").at(-1))
      .toMatch(/^The budget of all agents is used to 60 %: 30 of 50 tokens today \(budget\.perDayTokens\)\.$/);
    await host.say("third", { from: "7" });
    const refused = await host.say("fourth", { from: "7" });
    expect(refused).toMatchObject({ outcome: "refused", reason: "budget_exceeded" });
    expect(refused.decisions.find(({ code }) => code === "budget_exceeded")).toMatchObject({
      ...{ plugin: "core", verdict: "refused", path: "budget.perDayTokens" },
      detail: expect.stringMatching(
        /^budget\.perDayTokens: 45 of 50 tokens are used today, and the next call may need 15 tokens; the limit is renewed at /,
      ),
      hint: "Raise budget.perDayTokens, or send /budget add 50000 tokens today as an owner.",
    });
    await host.say("fifth", { from: "7" });
    const told =
      "I have used up what I may spend today. Please write again tomorrow; the owner of this bot can raise the limit.";
    // The channel has no reactions.
    expect(textsTo("7")).toEqual(["heard second", "heard third", told, "Nothing is left for today."]);
    await expect.poll(() => textsTo("owner")).toHaveLength(3);
    expect(textsTo("owner").at(-1)).toMatch(
      /^The budget of all agents is used up: 45 of 50 tokens today .* \/budget add 50000 tokens today as an owner\.$/,
    );
    expect(await host.say("/usage")).toMatchObject({ outcome: "answered" });
    expect(textsTo("owner").at(-1)).toBe("**Budget**\n- all agents, today: 45 of 50 tokens (90 %)");
    await host.say("/usage", { from: "7" });
    expect(textsTo("7").at(-1)).toBe("Your messages, today: 30 tokens. There is no budget here that you can see.");
  });

  test("can be raised by an owner until the end of the day, and then starts over", async () => {
    const { host, textsTo } = await open({ agents: { defaults: { budget: { perDayTokens: 20 } } } });
    const outcomes = async (...texts: readonly string[]) => {
      const ends = [];
      for (const text of texts) ends.push((await host.say(text)).outcome);
      return ends;
    };
    expect(await outcomes("1", "2")).toEqual(["answered", "refused"]);
    await host.say("/budget add 2 today");
    expect(textsTo("owner").at(-1)).toBe("No budget in US dollars applies here today.");
    await host.say("/budget add many");
    expect(textsTo("owner").at(-1)).toContain("/budget add 50000 tokens today");
    expect(await host.say("/budget add 20 tokens today", { from: "7" })).toMatchObject({ outcome: "refused" });
    await host.say("/budget add 20 tokens today");
    expect(textsTo("owner").at(-1)).toBe("Added 20 tokens today:\n- this agent, today: 15 of 40 tokens (38 %)");
    expect(await outcomes("3", "4")).toEqual(["answered", "refused"]);
    await host.advance(day);
    expect(await outcomes("5", "6")).toEqual(["answered", "refused"]);
  });

  test("allows three of twenty turns that start at the same time", async () => {
    const running = Promise.withResolvers<void>();
    let begun = 0;
    const { host } = await open(
      { session: { dmScope: "per-peer" }, agents: { defaults: { maxConcurrent: 20, budget: { perDayTokens: 50 } } } },
      {
        answer: (turn) =>
          announces(turn, async () => {
            begun += 1;
            await running.promise;
          }),
      },
    );
    const ends = Array.from({ length: 20 }, (_, n) => host.say("hello", { from: `${n + 100}` }));
    await Promise.race(ends);
    await expect.poll(() => begun).toBe(3);
    await expect.poll(() => host.ended().filter(({ outcome }) => outcome === "refused")).toHaveLength(17);
    // None of it is used yet, so nobody is told that it is used up.
    expect(new Set(host.outbox().map(({ text }) => text))).toEqual(
      new Set([
        "I am working on several requests, and one more could exceed what I may spend. Please send your " +
          "message again in a moment.",
      ]),
    );
    running.resolve();
    expect((await Promise.all(ends)).filter(({ outcome }) => outcome === "answered")).toHaveLength(3);
  });

  test("still applies after a kill, including a call that the kill interrupted", async () => {
    const hangs = Promise.withResolvers<void>();
    const { host, usage } = await open(
      { agents: { defaults: { budget: { perDayTokens: 44 } } } },
      { answer: (turn) => announces(turn, () => (turn.inbound.text === "hang" ? hangs.promise : Promise.resolve())) },
    );
    await host.say("hello");
    const ended = host.say("hang").catch(() => undefined);
    await expect.poll(async () => (await usage()).total.calls).toBe(2);
    await host.restart({ killed: true });
    hangs.resolve();
    expect(await ended).toMatchObject({ outcome: "refused" });
    expect(await usage()).toMatchObject({
      total: { calls: 2, inputTokens: 20, outputTokens: 10, estimated: 1 },
      budgets: [
        {
          path: "agents.defaults.budget.perDayTokens",
          agentId: "main",
          period: "day",
          unit: "tokens",
          used: 30,
          total: 44,
        },
      ],
    });
  });

  test("per sender stops only that sender", async () => {
    const { host, textsTo } = await open({ budget: { perSenderPerDayTokens: 20 } });
    await host.say("hello", { from: "7" });
    expect(await host.say("again", { from: "7" })).toMatchObject({ outcome: "refused" });
    expect(textsTo("7").at(-1)).toBe(
      "I have used up what I may spend on your messages today. Please write again tomorrow.",
    );
    expect(await host.say("hello", { from: "8" })).toMatchObject({ outcome: "answered" });
  });

  test("includes calls without reported usage; the owner and the sender are informed when it is used up", async () => {
    const { host, textsTo } = await open(
      { budget: { perDayTokens: 50 } },
      {
        async *answer(turn) {
          const call = await turn.spending?.begin({ model: "acme/model", inputTokens: 10, outputTokens: 5 });
          await turn.spending?.end(call?.id ?? "", { inputTokens: 10, outputTokens: 5, estimated: true });
          yield { type: "text", delta: "well" };
          yield { type: "done" };
        },
      },
    );
    for (const text of ["1", "2", "3", "4"]) await host.say(text, { from: "7" });
    expect(textsTo("7").at(-1)).toMatch(/^I have used up what I may spend today/);
    await host.say("hello");
    await expect
      .poll(() => textsTo("owner").join())
      .toMatch(/The budget of all agents is used up: 45 of 50 tokens today/);
  });

  test("is not used up by a call that is too large for it; smaller calls run, and each sender learns why", async () => {
    const { host, textsTo } = await open(
      { budget: { perDayTokens: 100 } },
      {
        async *answer(turn) {
          const inputTokens = turn.inbound.text.includes("long") ? 200 : 10;
          const call = await turn.spending?.begin({ model: "acme/model", inputTokens, outputTokens: 5 });
          await turn.spending?.end(call?.id ?? "", { inputTokens, outputTokens: 5 });
          yield { type: "text", delta: "well" };
          yield { type: "done" };
        },
      },
    );
    // A heartbeat on a busy machine would write to the person who has written meanwhile.
    const wakeMode = "next-heartbeat";
    expect(await host.deliver("agent", { message: "long", wakeMode })).toMatchObject({
      status: 202,
      ended: [{ reason: "budget_exceeded" }],
    });
    expect(await host.deliver("agent", { message: "short", wakeMode })).toMatchObject({
      status: 202,
      ended: [{ outcome: "silent" }],
    });
    for (const text of ["long", "long", "short"]) await host.say(text, { from: "7" });
    const again = "This needs more than I may still spend, too.";
    const large =
      "Replying to this needs more than I may still spend. A shorter message may fit, or `/new`, which leaves out " +
      "what was said before. The owner of this bot can raise the limit.";
    expect(textsTo("7")).toEqual([large, again, "well"]);
    await host.say("hello");
    await host.say("long");
    await expect.poll(() => textsTo("owner")).toContainEqual(large);
    const notices = host.outbox().filter(({ text }) => text.startsWith("A model was not called"));
    for (const { text } of notices)
      expect(text).toMatch(
        /^A model was not called: the call may need 205 tokens, and \d+ of 100 tokens are used today \(budget\.perDayTokens\)\./,
      );
    expect(host.outbox().some(({ text }) => text.includes("is used up"))).toBe(false);
  });

  test("per month is reported to a sender once an hour", async () => {
    const { host, textsTo } = await open({ budget: { perMonthTokens: 20, timezone: "UTC" } });
    const isEndOfMonth = new Date().getUTCDate() > 26;
    if (isEndOfMonth) await host.advance(5 * day);
    for (const text of ["1", "2", "3"]) await host.say(text, { from: "7" });
    await host.advance(day);
    for (const text of ["4", "5"]) await host.say(text, { from: "7" });
    const told = "I have used up what I may spend this month. The owner of this bot can raise the limit.";
    const short = "Nothing is left for this month.";
    expect(textsTo("7")).toEqual(["heard 1", told, short, told, short]);
  });

  test("answers webhooks with 429 and delays heartbeats silently with their events", async () => {
    const { host, command, textsTo } = await open({ agents: { defaults: { budget: { perDayTokens: 20 } } } });
    expect((await host.deliver("agent", { message: "first" })).status).toBe(202);
    // There is some room left when this one is accepted, but not enough for its call.
    expect(await host.deliver("agent", { message: "second" })).toMatchObject({
      status: 202,
      ended: [{ reason: "budget_exceeded" }],
    });
    expect(await host.deliver("agent", { message: "third" })).toMatchObject({
      status: 429,
      body: {
        ok: false,
        code: "budget_exceeded",
        error: "The budget of the agent is used up; send the request again later.",
      },
    });
    const why = await command("why", "last");
    expect(why).toMatch(/refused \(budget_exceeded\) with 429/);
    expect(why, "the limit, not where limits are set").toMatch(
      /\d+ of 20 tokens are used today, which .*\n +decided by agents\.defaults\.budget\.perDayTokens\n.*Raise agents/,
    );
    await host.configure({ agents: { defaults: { budget: { perDayTokens: 15 } } } });
    expect(await command("doctor")).toMatch(
      /! +budgets +the limit of main is used up: 15 of 15 tokens today, .*\n +to do +Raise agents\.defaults\.budget/,
    );
    const woken = host.deliver("wake", { text: "The disk is full.", mode: "now" });
    await expect.poll(() => command("why", "last")).toMatch(/budget_exceeded/);
    expect(textsTo("owner").filter((text) => text.includes("The disk is full"))).toEqual([]);
    await host.configure({ agents: { defaults: { budget: { perDayTokens: 1_000 } } } });
    expect(await host.say("what is new?")).toMatchObject({ outcome: "answered" });
    expect((await woken).ended).toMatchObject([{ outcome: "answered" }]);
  });
});

describe("the ledger", () => {
  test("counts usage that an engine reports afterwards, and refuses its next turn", async () => {
    const { host, usage } = await open(
      { agents: { defaults: { budget: { perDayTokens: 100 } } } },
      {
        async *answer() {
          yield { type: "usage", inputTokens: 90, outputTokens: 20, cacheRead: 40, reasoning: 5, model: "acme/other" };
          yield { type: "text", delta: "well" };
          yield { type: "done" };
        },
      },
    );
    expect(await host.say("hello")).toMatchObject({ outcome: "answered" });
    await expect
      .poll(async () => (await usage()).total)
      .toMatchObject({ calls: 1, inputTokens: 90, cacheRead: 40, reasoning: 5 });
    expect(await host.say("again")).toMatchObject({ outcome: "refused" });
  });

  test("contains the calls of failed and stopped turns, but none that the server rejected", async () => {
    const { model, host, usage, command } = await openModel({});
    model.script(say("Well, this goes on for a long time.", { delayMs: 300 }));
    const stopped = host.say("go on", { from: "7" });
    await expect.poll(() => model.requests.length).toBe(1);
    await host.say("/stop", { from: "7" });
    expect(await stopped).toMatchObject({ reason: "stopped" });
    model.script(refuse(400, "no"), say("", {}), say("", {}));
    await host.say("refused");
    expect(await host.say("empty")).toMatchObject({ reason: "model_empty" });
    expect((await usage("--by", "sender")).usage).toMatchObject([
      { sender: "loopback:7", calls: 1, estimated: 1 },
      {
        sender: "loopback:owner",
        calls: 2,
        inputTokens: 22,
        outputTokens: 14,
        usd: 0.000162,
        unpricedCalls: 0,
        estimated: 0,
      },
    ]);
    const exported = JSON.parse(await command("privacy", "export", "loopback:7")) as { readonly modelCalls: unknown };
    expect(exported.modelCalls).toMatchObject([{ sender: "loopback:7", calls: 1, model: "local/small" }]);
    await command("privacy", "erase", "loopback:7");
    expect((await usage("--by", "sender")).usage.map(({ sender, calls }) => ({ sender, calls }))).toContainEqual({
      sender: "",
      calls: 1,
    });
    expect(await command("usage", "--by", "purpose", "--days", "2")).toMatch(/turn +3 .*\ntotal +3 |turn +3 /);
    expect(JSON.parse(await command("usage", "--by", "colour", "--json"))).toMatchObject({ ok: false, code: "usage" });
  });
});

describe("a limit in US dollars", () => {
  test("is calculated with the configured prices", async () => {
    const { model, host, usage } = await openModel({ budget: { perDayUsd: 0.05, perMonthUsd: 5 } });
    model.script(say("one"), say("two"));
    expect(await host.say("hello")).toMatchObject({ outcome: "answered" });
    expect((await usage()).total).toMatchObject({ usd: 0.000081 });
    await host.configure({ models: { prices: { "local/small": { input: 1, output: 100_000 } } } });
    const refused = await host.say("again");
    expect(refused).toMatchObject({ outcome: "refused", reason: "budget_exceeded" });
    expect(refused.decisions.findLast(({ station }) => station === "turn")).toMatchObject({
      path: "budget.perDayUsd",
      detail: expect.stringContaining("$0.0001 of $0.0500 are used today"),
    });
  });

  test("refuses a model with an unknown price unless that is allowed", async () => {
    const { model, host } = await openModel({ budget: { perDayUsd: 1 }, models: {} });
    await host.configure({
      models: { providers: { local: { api: "openai-compatible", baseUrl: model.url } }, prices: undefined },
    });
    const refused = await host.say("hello");
    expect(refused).toMatchObject({ outcome: "failed", reason: "budget_unpriced" });
    expect(refused.decisions.findLast(({ station }) => station === "turn")).toMatchObject({
      detail: "budget.perDayUsd is set, and the price of local/small is unknown",
      hint: 'Set models.prices["local/small"], with 0 if it costs nothing, or onUnpriced to "allow" beside that limit.',
    });
    expect(model.requests).toHaveLength(0);
    await host.configure({ budget: { onUnpriced: "allow" } });
    model.script(say("now"));
    expect(await host.say("hello")).toMatchObject({ outcome: "answered" });
  });
});

test("at a run's limit, the model must answer without tools; a run too large from the start is refused", async () => {
  const { model, host, textsTo } = await openModel({
    agents: { defaults: { model: "local/small", budget: { perRunTokens: 3_500 } } },
  });
  model.script(callTools([{ name: "send", args: { message: "x".repeat(4_000) } }]), say("That is what I found."));
  expect(await host.say("look it up")).toMatchObject({ outcome: "answered" });
  expect(textsTo("owner").at(-1)).toBe("That is what I found.");
  const [first, second] = model.requests;
  expect(first?.body.tools?.length).toBeGreaterThan(0);
  expect(second?.body.tools).toBeUndefined();
  expect(JSON.stringify(second?.body.messages.at(-1))).toContain("The token limit of this run is nearly used up");
  await host.configure({ agents: { defaults: { budget: { perRunTokens: 300 } } } });
  expect(await host.say("and now?")).toMatchObject({ outcome: "failed", reason: "budget_run_exceeded" });
  expect(textsTo("owner").at(-1)).toBe(
    "Sorry, this needs more than I may spend on one answer. Please ask for less at once.",
  );
});
