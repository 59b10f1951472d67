import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createModelRooms } from "../../../core/agents/context/model-rooms.ts";
import type { Spending } from "../../../core/agents/spending/spending.ts";
import { createOfferedTools } from "../../../core/agents/tools/offered-tools.ts";
import { type AgentTurnsOptions, createAgentTurns } from "../../../core/agents/turn/engine.ts";
import type { AgentsView } from "../../../core/config/agents.ts";
import { HostError } from "../../../core/contract/errors.ts";
import type { Json, TurnEvent } from "../../../core/contract/types.ts";
import { type EngineDefinition, EngineError, type EngineTurn } from "../../../core/sdk/contract.ts";
import type { SessionMessage } from "../../../core/state/session.ts";
import { Visit } from "../../../core/stations/visit.ts";
import { message, route } from "./inbound.ts";

/** After every event of these tests. */
const lastStop = { event: "event-9", at: 1 };

function engine(id: string, run: EngineDefinition["run"], needsModel = false): EngineDefinition {
  return { id, needsModel, run };
}

/** Says one word and remembers what it was handed. */
function recorder(id: string, needsModel = false) {
  const turns: EngineTurn[] = [];
  const definition = engine(
    id,
    async function* (turn) {
      turns.push(turn);
      yield { type: "text", delta: id };
      yield { type: "done" };
    },
    needsModel,
  );
  return { definition, turns };
}

/** No limits, and no ledger. */
const withoutBudget: Spending = {
  meter: () => ({ spending: { begin: async () => ({ id: "call" }), end: async () => {} }, reported() {} }),
  admit: async () => {},
  usedUp: async () => undefined,
  tell: async () => undefined,
  balances: async () => [],
  today: async () => ({ tokens: 0, usd: 0 }),
  add: async () => [],
};

function setup(
  engines: readonly EngineDefinition[],
  {
    config = {},
    settings,
    stops = {},
    transcript = [],
    ...more
  }: {
    config?: AgentsView;
    settings?: Record<string, Json>;
    /** By place. */
    stops?: Record<string, Json>;
    transcript?: readonly SessionMessage[];
  } & Partial<Omit<AgentTurnsOptions, "config">> = {},
) {
  const reads: { key: string; userTurns: number | undefined }[] = [];
  const turns = createAgentTurns({
    config: () => config,
    store: {
      session: async (key) =>
        settings === undefined ? null : { key, agentId: "main", generation: 1, settings, updatedAt: 0 },
      conversation: async (key, options) => {
        reads.push({ key, userTurns: options?.userTurns });
        return { summary: null, summaries: 0, messages: transcript.map((message, id) => ({ ...message, id })) };
      },
      get: async (_, key) => stops[key] ?? null,
    },
    engines: { get: (id) => engines.find((one) => one.id === id), ids: () => engines.map((one) => one.id) },
    providers: () => ({ usable: {}, unusable: new Map() }),
    rooms: createModelRooms({ store: { get: async () => null, update: async () => null }, log: silent, now: () => 1 }),
    summaryNotes: { wasReported: async () => true, markReported: () => undefined },
    offered: createOfferedTools({
      registry: { tools: [], toolSources: [] },
      config: () => config,
      approvals: noApprovals,
      store: { set: async () => {}, list: async () => [], delete: async () => false },
      log: silent,
      now: () => 1,
    }),
    log: silent,
    spending: withoutBudget,
    now: () => 1,
    ...more,
  });
  return { turns, reads };
}

const noApprovals = {
  ask: () => Promise.reject(new Error("no tool asks")),
  began: async () => {},
  ended: async () => {},
  isOpen: async () => false,
};
const silent = { debug() {}, info() {}, warn() {} };

async function collect(stream: AsyncIterable<TurnEvent> | null): Promise<readonly TurnEvent[]> {
  const events: TurnEvent[] = [];
  for await (const event of stream ?? []) events.push(event);
  return events;
}

/** What a promise is rejected with, code and hint included, whichever class it has. */
async function failure(promise: Promise<unknown>) {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof HostError)
    return { code: error.code as string, message: error.message, hint: error.hint, cause: error.cause };
  if (error instanceof EngineError)
    return { code: error.reason, message: error.message, hint: error.hint, cause: error.cause };
  throw new Error(`neither of ours: ${String(error)}`);
}

const never = new AbortController().signal;

describe("which engine answers", () => {
  const cases: readonly [string, AgentsView, string][] = [
    ["without a model, the first that works without one", {}, "plain"],
    ["with a model, the first that needs one", { agents: { defaults: { model: "local/small" } } }, "model"],
    ["the configured one", { agents: { defaults: { engine: "other", model: "local/small" } } }, "other"],
    [
      "that of the agent before that of the defaults",
      { agents: { defaults: { engine: "plain" }, list: [{ id: "main", engine: "other" }] } },
      "other",
    ],
  ];
  test.each(cases)("%s", async (_, config, expected) => {
    const all = [recorder("model", true), recorder("plain"), recorder("other")].map((one) => one.definition);
    const events = await collect(await setup(all, { config }).turns.turn(message("hi"), route(), never, new Visit()));
    expect(events[0]).toEqual({ type: "text", delta: expected });
  });

  test("an engine that is not loaded is an error that names the loaded ones", async () => {
    const { turns } = setup([recorder("plain").definition], { config: { agents: { defaults: { engine: "gone" } } } });
    const error = await failure(turns.turn(message("hi"), route(), never, new Visit()));
    expect(error.code).toBe("engine_unknown");
    expect(`${error.message} ${error.hint}`).toMatch(/gone.*plain/);
  });
});

describe("what the engine receives", () => {
  test("the transcript of the session, followed by the message in its envelope", async () => {
    const { definition, turns: handed } = recorder("plain");
    const { turns, reads } = setup([definition], {
      transcript: [
        { role: "user", content: "before", at: 0, unitId: "event-0" },
        { role: "assistant", content: [{ text: "yes" }], at: 0, unitId: "event-0" },
        { role: "user", content: "first try of this one", at: 0, unitId: "event-1" },
      ],
      historyLimit: () => 5,
    });
    await collect(await turns.turn(message("hello"), route(), never, new Visit()));
    expect(reads).toEqual([{ key: "agent:main:main", userTurns: 5 }]);
    expect(handed[0]?.messages.map(({ role, text }) => [role, text])).toEqual([
      ["user", "before"],
      ["assistant", "yes"],
      ["user", "[irc Ada (@ada) id:42 Fri 2026-11-20 14:09 UTC] hello"],
    ]);
  });

  test("a long conversation begins with the same message for several turns, so that prompt caches work", async () => {
    const begins = await Promise.all(
      Array.from({ length: 12 }, async (_, last) => {
        const { definition, turns: handed } = recorder("plain");
        const transcript = Array.from({ length: 20 }, (__, index) => `event-${last + index}`).map((unitId) => ({
          ...{ role: "user" as const, content: unitId, at: 0, unitId },
        }));
        const { turns } = setup([definition], { transcript, config: { agents: { defaults: { historyTurns: 20 } } } });
        await collect(await turns.turn(message("hello", { id: "now" }), route(), never, new Visit()));
        expect(handed[0]?.messages.length).toBeGreaterThan(15);
        return handed[0]?.messages[0]?.text;
      }),
    );
    expect(new Set(begins).size).toBeLessThan(8);
  });

  test("an isolated run begins with an empty transcript", async () => {
    const { definition, turns: handed } = recorder("plain");
    const { turns, reads } = setup([definition], { transcript: [{ role: "user", content: "before", at: 0 }] });
    await collect(await turns.turn(message("hello"), route({ isolated: true }), never, new Visit()));
    expect(reads).toEqual([]);
    expect(handed[0]?.messages).toHaveLength(1);
  });

  test("model and thinking come from the request, else the session, else the agent, else the defaults", async () => {
    const config: AgentsView = {
      agents: {
        defaults: {
          model: { primary: "a/one", fallbacks: ["fast", "c/three"] },
          thinking: "low",
          models: { "b/two": { alias: "fast" }, "d/four": {} },
        },
      },
    };
    const run = async (settings: Record<string, string> | undefined, request: object | undefined) => {
      const { definition, turns: handed } = recorder("m", true);
      const { turns } = setup([definition], { config, ...(settings === undefined ? {} : { settings }) });
      await collect(
        await turns.turn(message("x", request === undefined ? {} : { request }), route(), never, new Visit()),
      );
      const { model, fallbacks, thinking } = handed[0] as EngineTurn;
      return { model, fallbacks, thinking };
    };
    expect(await run(undefined, undefined)).toEqual({
      model: "a/one",
      fallbacks: ["b/two", "c/three"],
      thinking: "low",
    });
    expect(await run({ model: "FAST", thinking: "high" }, undefined)).toEqual({
      model: "b/two",
      fallbacks: ["c/three"],
      thinking: "high",
    });
    expect(await run({ model: "fast" }, { model: "d/four", thinking: "max" })).toEqual({
      model: "d/four",
      fallbacks: ["b/two", "c/three"],
      thinking: "max",
    });
    await expect(run(undefined, { model: "e/five" })).rejects.toMatchObject({ code: "model_unknown" });
  });
});

test("a session's model that is no longer allowed is replaced by the default", async () => {
  const { definition, turns: handed } = recorder("m", true);
  const config: AgentsView = { agents: { defaults: { model: "a/one", models: ["a/one"] } } };
  const { turns } = setup([definition], { config, settings: { model: "b/gone" } });
  await collect(await turns.turn(message("x"), route(), never, new Visit()));
  expect(handed[0]?.model).toBe("a/one");
});

describe("a provider whose secret cannot be read", () => {
  const config = { agents: { defaults: { model: { primary: "local/small", fallbacks: ["spare/big"] } } } };
  const unread = new HostError("secret_unavailable", {
    path: "models.providers.local.apiKey",
    reason: "the variable KEY is not set",
  });
  const of = (unusable: readonly string[]) => () => ({
    usable: {},
    unusable: new Map(unusable.map((id) => [id, unread])),
  });

  test("is skipped if a fallback has another provider", async () => {
    const { definition, turns } = recorder("model", true);
    const all = setup([definition], { config, providers: of(["local"]) });
    await collect(await all.turns.turn(message("hi"), route(), never, new Visit()));
    expect(turns).toMatchObject([{ model: "spare/big", fallbacks: [] }]);
  });

  test("is the reason for the missing reply if there is no other provider", async () => {
    const all = setup([recorder("model", true).definition], { config, providers: of(["local", "spare"]) });
    expect(await failure(all.turns.turn(message("hi"), route(), never, new Visit()))).toMatchObject({
      code: "model_provider_invalid",
      message: "models.providers.local.apiKey: the secret cannot be read: the variable KEY is not set",
      hint: "Set the variable or the file that it names.",
    });
  });

  test("does not affect an engine that needs no model", async () => {
    const events = await collect(
      await setup([recorder("plain").definition], {
        config: { agents: { defaults: { ...config.agents.defaults, engine: "plain" } } },
        providers: of(["local", "spare"]),
      }).turns.turn(message("hi"), route(), never, new Visit()),
    );
    expect(events[0]).toEqual({ type: "text", delta: "plain" });
  });
});

describe("a turn", () => {
  const deaf = engine("deaf", async function* () {
    yield { type: "text", delta: "one" };
    await new Promise(() => undefined);
  });
  const failing = engine("failing", async function* () {
    yield { type: "text", delta: "one" };
    throw new EngineError("model_busy", { detail: "The model is busy", hint: "Wait a minute." });
  });

  test("ends with one `done`, even if the engine forgets it or continues after it", async () => {
    const forgets = engine("forgets", async function* () {
      yield { type: "text", delta: "x" };
    });
    const goesOn = engine("goes-on", async function* () {
      yield { type: "done" };
      yield { type: "text", delta: "late" };
    });
    expect(await collect(await setup([forgets]).turns.turn(message(""), route(), never, new Visit()))).toEqual([
      { type: "text", delta: "x" },
      { type: "done" },
    ]);
    expect(await collect(await setup([goesOn]).turns.turn(message(""), route(), never, new Visit()))).toEqual([
      { type: "done" },
    ]);
  });

  test("passes text on as it arrives", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = engine("slow", async function* () {
      yield { type: "text", delta: "first" };
      await held;
      yield { type: "text", delta: "second" };
    });
    const stream = await setup([slow]).turns.turn(message(""), route(), never, new Visit());
    const iterator = (stream as AsyncIterable<TurnEvent>)[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toEqual({ type: "text", delta: "first" });
    release();
    expect((await iterator.next()).value).toEqual({ type: "text", delta: "second" });
  });

  // Tried again: the machine may do something else in such a moment.
  test("is ended by /stop in its chat and thread within 200 ms, even if the engine ignores the signal", {
    retry: 5,
  }, async () => {
    const { turns } = setup([deaf]);
    const here = { channel: "irc", account: "default", chat: "42" };
    const ends = failure(turns.turn(message(""), route(), never, new Visit()).then(collect));
    const elsewhere = [{ chat: "43" }, { account: "second" }, { thread: "7" }].map((more) =>
      route({ to: { ...here, ...more } }),
    );
    for (const [index, to] of elsewhere.entries())
      turns
        .turn(message("", { id: `event-${index + 2}` }), to, never, new Visit())
        .then(collect, () => undefined)
        .catch(() => undefined);
    while (turns.running().length < 4) await delay(1);
    expect(turns.running()[0]).toEqual({ sessionKey: "agent:main:main", doing: "answering", startedAt: 1 });
    const began = performance.now();
    expect(turns.stop(route(), lastStop)).toBe(1);
    expect((await ends).code).toBe("stopped");
    expect(performance.now() - began).toBeLessThan(200);
    expect(turns.running()).toHaveLength(3);
    for (const to of elsewhere) expect(turns.stop(to, lastStop)).toBe(1);
  });

  test("has its follow-up work aborted by /stop, and the result of that work is not sent", async () => {
    const { turns } = setup([deaf]);
    const work = (signal: AbortSignal) =>
      new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("cut")));
    const here = turns.after(route(), never, work);
    const closing = new AbortController();
    const elsewhere = turns.after(
      route({ to: { channel: "irc", account: "default", chat: "43" } }),
      closing.signal,
      work,
    );
    expect(turns.stop(route(), lastStop)).toBe(1);
    expect(await here).toBeNull();
    closing.abort();
    expect(await elsewhere).toBe("cut");
    expect(turns.stop(route(), lastStop)).toBe(0);
  });

  test("does not start if received before a /stop, even while it is being prepared; a later one does", async () => {
    const place = '["irc","default","42",null]';
    const { turns } = setup([recorder("one").definition], { stops: { [place]: { event: "event-5", at: 1 } } });
    for (const id of ["event-4", "event-5"])
      expect((await failure(turns.turn(message("", { id }), route(), never, new Visit()).then(collect))).code).toBe(
        "stopped",
      );
    expect(await turns.turn(message("", { id: "event-6" }), route(), never, new Visit()).then(collect)).toHaveLength(2);
    // Neither a heartbeat nor another chat, whatever they share.
    const heartbeat = message("", { id: "event-4", request: { heartbeat: { events: ["x"], scheduled: false } } });
    expect(await turns.turn(heartbeat, route(), never, new Visit()).then(collect)).toHaveLength(2);
    const other = route({ to: { channel: "irc", account: "default", chat: "43" } });
    expect(await turns.turn(message("", { id: "event-4" }), other, never, new Visit()).then(collect)).toHaveLength(2);
    const preparing = failure(turns.turn(message("", { id: "event-7" }), route(), never, new Visit()).then(collect));
    expect(turns.stop(route(), lastStop)).toBe(1);
    expect((await preparing).code).toBe("stopped");
    // A clock that was set back since makes ids that only look older.
    const later = setup([recorder("one").definition], { stops: { [place]: { event: "event-5", at: 2 } } });
    expect(
      await later.turns.turn(message("", { id: "event-4" }), route(), never, new Visit()).then(collect),
    ).toHaveLength(2);
  });

  test("ends at its timeout, which a request may set", async () => {
    const { turns } = setup([deaf]);
    const error = await failure(
      turns.turn(message("", { request: { timeoutSeconds: 0.05 } }), route(), never, new Visit()).then(collect),
    );
    expect(error.code).toBe("turn_timeout");
    expect(error.message).toContain("0.05 s");
    expect(error.hint).toBe("Raise timeoutSeconds of the webhook's request or mapping, or split the request.");
    expect(turns.running()).toEqual([]);
  });

  test.each([
    ["agents.list[1].timeoutSeconds", [{ id: "other" }, { id: "main", timeoutSeconds: 0.02 }]],
    ["agents.defaults.timeoutSeconds", [{ id: "main" }]],
  ])("ends at a timeout and names the setting to raise: %s", async (setting, list) => {
    const { turns } = setup([deaf], { config: { agents: { defaults: { timeoutSeconds: 0.02 }, list } } });
    const error = await failure(turns.turn(message(""), route(), never, new Visit()).then(collect));
    expect(error).toMatchObject({ code: "turn_timeout", hint: `Raise ${setting}, or split the request.` });
  });

  test("ends when the gateway closes, with the gateway's reason", async () => {
    const closing = new AbortController();
    const reason = new Error("closing");
    const { turns } = setup([deaf]);
    const ends = turns.turn(message(""), route(), closing.signal, new Visit()).then(collect);
    setTimeout(() => closing.abort(reason), 5);
    await expect(ends).rejects.toBe(reason);
    expect(turns.running()).toEqual([]);
  });

  test("ends with the engine's own error, including reason and hint", async () => {
    const error = await failure(setup([failing]).turns.turn(message(""), route(), never, new Visit()).then(collect));
    expect(error).toMatchObject({ code: "model_busy", message: "The model is busy", hint: "Wait a minute." });
  });

  test("ends with an error that names the engine if it throws anything else", async () => {
    const broken = engine("broken", () => {
      throw new TypeError("x is not a function");
    });
    const error = await failure(setup([broken]).turns.turn(message(""), route(), never, new Visit()).then(collect));
    expect(error).toMatchObject({ code: "engine_failed", message: "The engine broken failed: x is not a function." });
    expect(error.cause).toBeInstanceOf(TypeError);
  });

  test("ends when the caller stops reading, and leaves nothing running in the engine", async () => {
    let returned = false;
    const endless = engine("endless", async function* () {
      try {
        for (;;) yield { type: "text", delta: "x" };
      } finally {
        returned = true;
      }
    });
    const { turns } = setup([endless]);
    for await (const _ of (await turns.turn(message(""), route(), never, new Visit())) ?? []) break;
    await delay(1);
    expect(returned).toBe(true);
    expect(turns.running()).toEqual([]);
  });
});

describe("an engine's reasoning", () => {
  const thinks = engine("thinks", async function* () {
    yield { type: "reasoning", delta: "hm" };
    yield { type: "text", delta: "yes" };
  });
  test.each([
    ["off", { type: "reasoning", delta: "hm" }],
    ["on", { type: "reasoning", delta: "hm" }],
    ["stream", { type: "reasoning", delta: "hm", preview: true }],
  ])("is passed on in a session with /reasoning %s", async (reasoning, expected) => {
    const { turns } = setup([thinks], { settings: { reasoning } });
    expect((await collect(await turns.turn(message("x"), route(), never, new Visit())))[0]).toEqual(expected);
  });

  test("an endless reply is cut off", async () => {
    const endless = engine("endless", async function* () {
      for (;;) yield { type: "text", delta: "x".repeat(10_000) };
    });
    expect(
      await failure(setup([endless]).turns.turn(message("x"), route(), never, new Visit()).then(collect)),
    ).toMatchObject({
      code: "answer_too_long",
    });
  });

  test("engines of the configured agents preload slow resources; a failing one does not stop the others", async () => {
    const loaded: string[] = [];
    const warnings: object[] = [];
    const slow: EngineDefinition = { ...thinks, id: "slow", prepare: async () => void loaded.push("slow") };
    const broken: EngineDefinition = { ...thinks, id: "broken", prepare: () => Promise.reject(new Error("no disk")) };
    const { turns } = setup([broken, slow], {
      config: {
        agents: {
          list: [
            { id: "a", engine: "broken" },
            { id: "b", engine: "slow" },
            { id: "c", engine: "gone" },
          ],
        },
      },
      log: { debug() {}, info() {}, warn: (fields) => warnings.push(fields) },
    });
    await turns.prepare();
    expect(loaded).toEqual(["slow"]);
    expect(warnings).toHaveLength(2);
  });
});
