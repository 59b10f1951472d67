/**
 * An answer that breaks off is void: the same model is asked again, then the next one, and nobody gets two beginnings.
 */
import { EngineError, type EngineProvider, type EngineTool } from "service-gateway/sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type Answer,
  callTools,
  cut,
  cutTools,
  endEarly,
  errorInStream,
  garble,
  refuse,
  say,
  stall,
} from "../../openai-server/answers.ts";
import { createOpenAiServer, type OpenAiServer } from "../../openai-server/index.ts";
import { collect, openEngine, turnOf } from "./engine.ts";

let first: OpenAiServer;
let second: OpenAiServer;
let providers: Record<"local" | "spare", EngineProvider>;
const never = new AbortController().signal;

beforeEach(async () => {
  [first, second] = await Promise.all([createOpenAiServer(), createOpenAiServer()]);
  providers = {
    local: { api: "openai-compatible", baseUrl: first.url },
    spare: { api: "openai-compatible", baseUrl: second.url },
  };
});

afterEach(async () => {
  await Promise.all([first.close(), second.close()]);
});

const beginning = `one two ${"three ".repeat(60)}`;
const chain = { model: "local/small", fallbacks: ["spare/big"] };
const asked = () => [first.requests.length, second.requests.length];
const restartsOf = (events: readonly { readonly type: string; readonly reason?: string }[]) =>
  events.flatMap((event) => (event.type === "restart" ? [event.reason] : []));

const breaks: readonly [string, (text: string) => Answer, string][] = [
  ["a connection that is cut", cut, "model_cut_off"],
  ["an end without a reason", endEarly, "model_cut_off"],
  ["garbage", garble, "model_garbled"],
  ["an error object", (text) => errorInStream("overloaded", { text }), "model_unavailable"],
];

describe.each(breaks)("%s in the middle of an answer", (_, answer, reason) => {
  test("is retried, and the text of the second request is the answer", async () => {
    first.script(answer(beginning), say("It is 42."));
    const { text, events, error } = await collect(
      openEngine().engine.run(turnOf("hi", { providers, ...chain }), never),
    );
    expect({ text, error, asked: asked() }).toEqual({ text: "It is 42.", error: undefined, asked: [2, 0] });
    expect(restartsOf(events)).toEqual([reason]);
    expect(events.at(-1)).toEqual({ type: "done" });
  });

  test("repeated several times leads to the next model, which the events name with the reason", async () => {
    first.script(...Array.from({ length: 3 }, () => answer(beginning)));
    second.script(say("Here."));
    const { text, events } = await collect(openEngine().engine.run(turnOf("hi", { providers, ...chain }), never));
    expect({ text, asked: asked() }).toEqual({ text: "Here.", asked: [3, 1] });
    expect(events.filter(({ type }) => type === "model").at(-1)).toMatchObject({
      model: "spare/big",
      skipped: [{ model: "local/small", reason, until: expect.any(Number) }],
    });
  });

  test("fails with its own code if no other model remains", async () => {
    first.script(...Array.from({ length: 3 }, () => answer(beginning)));
    const { error } = await collect(openEngine().engine.run(turnOf("hi", { providers }), never));
    expect(error).toBeInstanceOf(EngineError);
    expect((error as EngineError).reason).toBe(reason);
    expect(asked()).toEqual([3, 0]);
  });
});

test("a beginning that was never shown requires no restart", async () => {
  first.script(cut("one two"), say("It is 42."));
  const { text, events } = await collect(openEngine().engine.run(turnOf("hi", { providers }), never));
  expect(text).toBe("It is 42.");
  expect(restartsOf(events)).toEqual([]);
});

test("a stalled model is not waited for again if another one remains", async () => {
  first.script(stall(beginning));
  second.script(say("Here."));
  const { text } = await collect(openEngine({ chunkMs: 60 }).engine.run(turnOf("hi", { providers, ...chain }), never));
  expect({ text, asked: asked() }).toEqual({ text: "Here.", asked: [1, 1] });
});

describe("a restart with tools", () => {
  function counted(): { readonly tool: EngineTool; readonly runs: unknown[] } {
    const runs: unknown[] = [];
    const tool: EngineTool = {
      name: "note",
      description: "Writes a note.",
      parameters: { type: "object", properties: { text: { type: "string" } } },
      run: async (args) => {
        runs.push(args);
        return { ok: true, number: runs.length };
      },
    };
    return { tool, runs };
  }

  test("runs a call once, passes its result to the next model, and keeps the text before it", async () => {
    const { tool, runs } = counted();
    first.script(
      callTools([{ name: "note", args: { text: "milk" } }], { text: "I note it." }),
      ...Array(3).fill(cut(beginning)),
    );
    second.script(say("It is noted."));
    const { text, events } = await collect(
      openEngine().engine.run(turnOf("note milk", { providers, ...chain, tools: [tool] }), never),
    );
    expect({ text, runs }).toEqual({ text: "I note it.\n\nIt is noted.", runs: [{ text: "milk" }] });
    expect(second.requests[0]?.body.messages.slice(-2)).toMatchObject([
      { role: "assistant", content: "I note it." },
      { role: "tool", content: '{"ok":true,"number":1}' },
    ]);
    expect(restartsOf(events)).toEqual(["model_cut_off", "model_cut_off", "model_cut_off"]);
    expect(JSON.stringify(second.requests[0]?.body.messages)).not.toContain("three");
  });

  test.each<[string, Answer]>([
    ["is cut", cutTools("note", '{"text":"milk"}', { how: "destroy" })],
    ["ends without a reason", cutTools("note", '{"text":"milk"}', { how: "end" })],
  ])("runs no call from an answer that %s until an answer is complete", async (_, answer) => {
    const { tool, runs } = counted();
    first.script(answer, callTools([{ name: "note", args: { text: "bread" } }]), say("It is noted."));
    const { text } = await collect(openEngine().engine.run(turnOf("note milk", { providers, tools: [tool] }), never));
    expect({ text, runs }).toEqual({ text: "It is noted.", runs: [{ text: "bread" }] });
  });
});

test("a stop while the retry is pending ends the turn", async () => {
  first.script(cut(beginning));
  const stopper = new AbortController();
  const reason = new Error("stopped");
  const { error } = await (async () => {
    const running = collect(
      openEngine({ retryDelayMs: 15_000 }).engine.run(turnOf("hi", { providers, ...chain }), stopper.signal),
    );
    setTimeout(() => stopper.abort(reason), 500);
    return await running;
  })();
  expect(error).toBe(reason);
  expect(asked()).toEqual([1, 0]);
});

test("usage of interrupted calls is estimated for the budget, once per request", async () => {
  first.script(cut(beginning), say("It is 42."));
  const begun: string[] = [];
  const ended: unknown[] = [];
  const spending = {
    async begin({ model }: { readonly model: string }) {
      begun.push(model);
      return { id: String(begun.length) };
    },
    async end(id: string, used: unknown) {
      ended.push([id, used]);
    },
  };
  await collect(openEngine().engine.run(turnOf("hi", { providers, spending }), never));
  expect(begun).toEqual(["local/small", "local/small"]);
  expect(ended).toMatchObject([
    ["1", { estimated: true }],
    ["2", { inputTokens: 11, outputTokens: 7 }],
  ]);
});

test("a refusal of the retried answer ends the turn without a second beginning", async () => {
  first.script(cut(beginning), refuse(400, "no"));
  const { error } = await collect(openEngine().engine.run(turnOf("hi", { providers, ...chain }), never));
  expect((error as EngineError).reason).toBe("model_refused");
  expect(asked()).toEqual([2, 0]);
});

describe("a model that starts with reasoning and only a closing mark", () => {
  const thought = "The person seems annoyed, so I am kind. ".repeat(10);
  const answer = `${thought}\n</think>\n\nIt is 42.`;

  test("shows the reasoning until the mark the first time, and never again", async () => {
    // What comes at once is judged at once, and nothing of it needs to be taken back.
    first.script(say(answer, { delayMs: 5 }), say(answer));
    const { engine } = openEngine();
    const [one, two] = [
      await collect(engine.run(turnOf("hi", { providers }), never)),
      await collect(engine.run(turnOf("hi", { providers }), never)),
    ];
    for (const { text, reasoning } of [one, two])
      expect({ text, reasoning: reasoning.trim() }).toEqual({ text: "It is 42.", reasoning: thought.trim() });
    expect(restartsOf(one.events)).toEqual(["reasoning_in_text"]);
    expect(restartsOf(two.events)).toEqual([]);
  });

  test("is read normally when it later answers without reasoning", async () => {
    const plain = "An answer without thoughts. ".repeat(12).trim();
    first.script(say(answer), say(plain), say(plain));
    const { engine } = openEngine();
    await collect(engine.run(turnOf("hi", { providers }), never));
    for (let count = 0; count < 2; count += 1) {
      const { text, reasoning } = await collect(engine.run(turnOf("hi", { providers }), never));
      expect({ text, reasoning }).toEqual({ text: plain, reasoning: "" });
    }
  });

  test("does not repeat the reasoning in later requests of the turn", async () => {
    const look: EngineTool = {
      name: "look",
      description: "Looks.",
      parameters: { type: "object" },
      run: async () => "seen",
    };
    first.script(callTools([{ name: "look", args: {} }], { text: `${thought}\n</think>\n\nI look.` }), say("Seen."));
    const { text } = await collect(openEngine().engine.run(turnOf("look", { providers, tools: [look] }), never));
    expect(text).toBe("I look.\n\nSeen.");
    expect(first.requests[1]?.body.messages.find(({ role }) => role === "assistant")?.content).toBe("I look.");
  });

  test.each([
    ["stops", stall("A short beginning")],
    ["comes slowly", say("one two three ".repeat(12), { delayMs: 400 })],
  ])("shows a text that %s within 200 characters after two seconds", async (_, answer) => {
    first.script(answer);
    const stopper = new AbortController();
    const began = performance.now();
    for await (const event of openEngine().engine.run(turnOf("hi", { providers }), stopper.signal))
      if (event.type === "text") break;
    const ms = performance.now() - began;
    expect(ms).toBeGreaterThan(1_900);
    expect(ms).toBeLessThan(6_000);
  });
});
