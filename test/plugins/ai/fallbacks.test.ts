import {
  EngineError,
  type EngineProvider,
  type EngineTool,
  type EngineTurn,
  type TurnEvent,
} from "service-gateway/sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createCooldowns } from "../../../plugins/ai/cooldowns.ts";
import { Step } from "../../../plugins/ai/order.ts";
import { findTarget } from "../../../plugins/ai/provider.ts";
import { skippedModels } from "../../../plugins/ai/skipped.ts";
import { type Answer, hang, refuse, say, stall } from "../../openai-server/answers.ts";
import { createOpenAiServer, type OpenAiServer } from "../../openai-server/index.ts";
import { collect, openEngine, openRooms, turnOf } from "./engine.ts";

let first: OpenAiServer;
let second: OpenAiServer;
let third: OpenAiServer;
let providers: Record<"first" | "second" | "third", EngineProvider>;
const never = new AbortController().signal;
const minute = 60_000;

beforeEach(async () => {
  [first, second, third] = await Promise.all([createOpenAiServer(), createOpenAiServer(), createOpenAiServer()]);
  const at = ({ url }: OpenAiServer): EngineProvider => ({ api: "openai-compatible", baseUrl: url });
  providers = { first: at(first), second: at(second), third: at(third) };
});

afterEach(async () => {
  await Promise.all([first.close(), second.close(), third.close()]);
});

const chain = { model: "first/a", fallbacks: ["second/b", "third/c"] };

/** An engine with a clock that the test sets, and the calls of each server since the last question. */
function open(options: Parameters<typeof openEngine>[0] = {}) {
  let time = 0;
  const opened = openEngine({ retries: 0, ...options, now: () => time });
  const seen = new Map<OpenAiServer, number>();
  return {
    ...opened,
    sleep(ms: number) {
      time += ms;
    },
    async ask(more: Partial<EngineTurn> = {}) {
      const outcome = await collect(opened.engine.run(turnOf("hi", { providers, ...chain, ...more }), never));
      const asked = [first, second, third].map((server) => {
        const calls = server.requests.length - (seen.get(server) ?? 0);
        seen.set(server, server.requests.length);
        return calls;
      });
      return { ...outcome, asked };
    },
  };
}

const quota = refuse(429, "You exceeded your current quota");
const reasonOf = (error: unknown) => (error instanceof EngineError ? error.reason : error);
const standing = (events: readonly TurnEvent[]) => events.filter((event) => event.type === "model");

describe("a model that did not answer is skipped by the next turns", () => {
  const pauses: readonly [string, Answer, string, number, "warn" | "error"][] = [
    ["its quota is used up: 10 min", quota, "model_quota", 10, "warn"],
    ["its key is refused: an hour", refuse(401, "no"), "model_unauthorized", 60, "error"],
    ["its provider does not know it: a minute", refuse(404, "no such model"), "model_unknown", 1, "error"],
    ["its server fails: a minute", refuse(503, "overloaded"), "model_unavailable", 1, "warn"],
    [
      "its server is busy: for as long as it asks",
      refuse(429, "slow down", { headers: { "retry-after": "300" } }),
      "model_busy",
      5,
      "warn",
    ],
  ];
  test.each(pauses)("%s", async (_, answer, reason, minutes, level) => {
    const { ask, sleep, warnings, errors } = open();
    first.script(answer);
    expect((await ask()).asked).toEqual([1, 1, 0]);
    expect(level === "error" ? errors : warnings).toMatchObject([{ model: "first/a", next: "second/b", reason }]);
    const next = await ask();
    expect(next.asked).toEqual([0, 1, 0]);
    expect(standing(next.events)).toMatchObject([
      {
        model: "second/b",
        skipped: [
          { model: "first/a", reason, until: minutes * minute, detail: expect.stringContaining("first at http") },
        ],
      },
    ]);
    sleep(minutes * minute - 1);
    expect((await ask()).asked).toEqual([0, 1, 0]);
    sleep(1);
    const after = await ask();
    expect(after.asked).toEqual([1, 0, 0]);
    expect(standing(after.events)).toEqual([{ type: "model", model: "first/a", skipped: [] }]);
    expect(warnings.length + errors.length).toBe(1);
  });

  test("a silent server is not waited for twice, and each further failure doubles the pause", async () => {
    const { ask, sleep } = open({ firstChunkMs: 500 });
    first.script(hang(), refuse(503, "not yet"), say("Here I am."));
    expect((await ask()).asked).toEqual([1, 1, 0]);
    expect((await ask()).asked).toEqual([0, 1, 0]);
    sleep(minute);
    expect((await ask()).asked).toEqual([1, 1, 0]);
    sleep(2 * minute - 1);
    expect((await ask()).asked).toEqual([0, 1, 0]);
    sleep(1);
    expect((await ask()).text).toBe("Here I am.");
    // An answer ends the doubling.
    first.script(refuse(503, "again"));
    await ask();
    sleep(minute);
    expect((await ask()).asked).toEqual([1, 0, 0]);
  });

  test("a model that stalls in an answer is replaced by the next model, also in the next turn", async () => {
    const { ask } = open({ chunkMs: 200 });
    first.script(stall("one two"));
    second.script(say("Here."));
    expect(await ask()).toMatchObject({ text: "Here.", asked: [1, 1, 0] });
    expect((await ask()).asked).toEqual([0, 1, 0]);
  });

  test("unless its provider has a new key or address by then", async () => {
    const { ask } = open();
    first.script(refuse(401, "no"));
    await ask();
    expect((await ask()).asked).toEqual([0, 1, 0]);
    expect((await ask({ providers: { ...providers, first: { ...providers.first, apiKey: "new" } } })).asked).toEqual([
      1, 0, 0,
    ]);
  });

  test("as are all models of a provider whose key is rejected; a quota affects only one model", async () => {
    const { ask } = open();
    const models = { model: "first/a", fallbacks: ["first/b", "second/c"] };
    first.script(quota);
    expect((await ask(models)).asked).toEqual([2, 0, 0]);
    first.script(refuse(401, "no"));
    expect((await ask(models)).asked).toEqual([1, 1, 0]);
    expect((await ask(models)).asked).toEqual([0, 1, 0]);
  });

  test("until one turn tries it after the pause, while parallel turns do not wait", async () => {
    const { ask, sleep, engine } = open();
    first.script(quota);
    await ask();
    sleep(10 * minute);
    let answer = () => {};
    first.script(async (exchange) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      await say("Back.")(exchange);
    });
    const probing = collect(engine.run(turnOf("probe", { providers, ...chain }), never));
    await expect.poll(() => first.requests.length).toBe(2);
    expect((await ask()).text).toBe("hi");
    expect(first.requests).toHaveLength(2);
    answer();
    expect((await probing).text).toBe("Back.");
    expect((await ask()).asked).toEqual([1, 0, 0]);
  });

  test("a stopped trial leaves the next attempt to the following turn", async () => {
    const { ask, sleep, engine } = open();
    first.script(quota, hang());
    await ask();
    sleep(10 * minute);
    const stopper = new AbortController();
    const stopped = collect(engine.run(turnOf("probe", { providers, ...chain }), stopper.signal));
    await expect.poll(() => first.requests.length).toBe(2);
    stopper.abort(new Error("stopped"));
    await stopped;
    expect((await ask()).asked.slice(1)).toEqual([0, 0]);
  });
});

describe("when every model is paused", () => {
  test("the one whose pause ends first is asked once, and the failure names the others", async () => {
    const { ask } = open({ retries: 2 });
    const broken = refuse(503, "overloaded");
    first.script(quota);
    second.script(broken, broken, broken, broken);
    third.script(refuse(401, "no"));
    expect(reasonOf((await ask()).error)).toBe("model_unauthorized");
    first.script(say("Too soon."));
    const again = await ask();
    expect(again.asked).toEqual([0, 1, 0]);
    expect(reasonOf(again.error)).toBe("model_unavailable");
    expect(String(again.error)).toContain("passed over before: first/a (model_quota), third/c (model_unauthorized)");
    const answered = await ask();
    expect(answered.text).toBe("hi");
    expect(standing(answered.events)).toMatchObject([
      { model: "second/b", skipped: [{ model: "first/a", reason: "model_quota" }] },
    ]);
  });

  test("a model without fallbacks is asked every time, with its retries", async () => {
    const { ask } = open({ retries: 1 });
    first.script(refuse(503, "overloaded"), refuse(503, "overloaded"), refuse(503, "overloaded"));
    expect((await ask({ fallbacks: [] })).asked).toEqual([2, 0, 0]);
    expect(await ask({ fallbacks: [] })).toMatchObject({ text: "hi", asked: [2, 0, 0] });
  });
});

describe("a conversation that exceeds the context of a model", () => {
  const full = refuse(400, "This model's maximum context length is 4096 tokens");
  const messages = [
    { role: "user", text: "one" },
    { role: "assistant", text: "two" },
    { role: "user", text: "hi" },
  ] as const;
  const sizes = (a: number, b: number, c: number) => ({
    messages,
    providers: {
      first: { ...providers.first, models: { a: { contextTokens: a } } },
      second: { ...providers.second, models: { b: { contextTokens: b } } },
      third: { ...providers.third, models: { c: { contextTokens: c } } },
    },
  });

  test("goes complete to the next model with more context, and the next turn tries the first one again", async () => {
    const { ask } = open();
    first.script(full);
    const { asked, events } = await ask(sizes(4_096, 4_096, 200_000));
    expect(asked).toEqual([1, 0, 1]);
    expect(third.requests[0]?.body.messages).toHaveLength(4);
    expect(standing(events)).toMatchObject([
      { model: "third/c", skipped: [{ model: "first/a", reason: "model_context_full" }] },
    ]);
    expect((await ask(sizes(4_096, 4_096, 200_000))).asked).toEqual([1, 0, 0]);
  });

  test("is shortened if no model has more context or that model does not answer", async () => {
    const { ask } = open();
    const withRoom = async (...tokens: readonly [number, number, number]) => {
      const turn = sizes(...tokens);
      return { ...turn, room: await openRooms().of(turn.providers, "first/a", "second/b", "third/c") };
    };
    first.script(full);
    expect((await ask(await withRoom(4_096, 4_096, 4_096))).asked).toEqual([2, 0, 0]);
    first.script(full);
    third.script(refuse(503, "overloaded"));
    const { text, asked } = await ask(await withRoom(4_096, 4_096, 200_000));
    expect({ text, asked }).toEqual({ text: "hi", asked: [2, 0, 1] });
  });
});

describe("a model without a required ability", () => {
  const look: EngineTool = {
    name: "look",
    description: "Looks.",
    parameters: { type: "object" },
    run: async () => "seen",
  };

  test("is skipped if the turn needs that ability, unless no other model remains", async () => {
    const { ask } = open();
    const without = { ...providers, first: { ...providers.first, models: { a: { tools: false } } } };
    const passed = await ask({ providers: without, tools: [look] });
    expect(passed.asked).toEqual([0, 1, 0]);
    expect(standing(passed.events)).toMatchObject([
      { skipped: [{ model: "first/a", reason: "model_takes_no_tools" }] },
    ]);
    expect((await ask({ providers: without })).asked).toEqual([1, 0, 0]);
    expect((await ask({ providers: without, tools: [look], fallbacks: [] })).asked).toEqual([1, 0, 0]);
    expect(first.requests.at(-1)?.body.tools).toBeUndefined();
    second.script(refuse(503, "overloaded"));
    expect((await ask({ providers: without, tools: [look], fallbacks: ["second/b"] })).asked).toEqual([1, 1, 0]);
  });

  test("is skipped for an image, even as a fallback", async () => {
    const { ask } = open();
    const blind = { ...providers, second: { ...providers.second, models: { b: { images: false } } } };
    const media = [
      {
        kind: "image" as const,
        ref: "x",
        path: new URL("./engine.ts", import.meta.url).pathname,
        mimeType: "image/png",
      },
    ];
    first.script(quota);
    expect((await ask({ providers: blind, messages: [{ role: "user", text: "look", media }] })).asked).toEqual([
      1, 0, 1,
    ]);
    expect((await ask({ providers: blind })).asked).toEqual([0, 1, 0]);
  });
});

test("a budget refusal asks no other model and pauses none", async () => {
  const contestants = ["first/a", "second/b"].map((name) => ({
    name,
    facts: {},
    target: () => findTarget(name, providers),
  }));
  const cooldowns = createCooldowns({ now: () => 0 });
  const asked: number[] = [];
  const step = new Step({
    contestants,
    call: { prompt: [] },
    cooldowns,
    log: { warn() {}, error() {} },
    async ask(index) {
      asked.push(index);
      throw new EngineError("budget_exceeded");
    },
  });
  await expect(step.run()).rejects.toMatchObject({ reason: "budget_exceeded" });
  expect(asked).toEqual([0]);
  expect(skippedModels({ ...chain, providers }, cooldowns)).toEqual([]);
});

test("skipped models can be predicted without a turn", async () => {
  const { ask, engine, sleep } = open();
  first.script(quota);
  await ask();
  const by = { model: "first/a", fallbacks: ["second/b", "nowhere/c"], providers };
  expect(await engine.skipped?.(by)).toMatchObject([
    { model: "first/a", reason: "model_quota", until: 10 * minute },
    { model: "nowhere/c", reason: "model_unknown" },
  ]);
  sleep(10 * minute);
  expect(await engine.skipped?.(by)).toMatchObject([{ model: "nowhere/c" }]);
});
