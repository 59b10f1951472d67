import { setTimeout as delay } from "node:timers/promises";
import { EngineError, type EngineProvider, type EngineTool, type Thinking } from "service-gateway/sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  callTools,
  errorInStream,
  garble,
  hang,
  page,
  refuse,
  say,
  stall,
  whole,
} from "../../openai-server/answers.ts";
import { createOpenAiServer, type OpenAiServer } from "../../openai-server/index.ts";
import { collect, openEngine, turnOf } from "./engine.ts";

let server: OpenAiServer;
let other: OpenAiServer;
let local: EngineProvider;
let providers: { local: EngineProvider; spare: EngineProvider; gone?: EngineProvider };
const never = new AbortController().signal;

beforeEach(async () => {
  [server, other] = await Promise.all([createOpenAiServer(), createOpenAiServer()]);
  local = { api: "openai-compatible", baseUrl: server.url };
  providers = { local, spare: { api: "openai-compatible", baseUrl: other.url } };
});

afterEach(async () => {
  await Promise.all([server.close(), other.close()]);
});

/** An address where nothing listens. */
async function closedUrl(): Promise<string> {
  const gone = await createOpenAiServer();
  await gone.close();
  return gone.url;
}

function expectFailure(error: unknown, reason: string): EngineError {
  expect(error).toBeInstanceOf(EngineError);
  expect((error as EngineError).reason).toBe(reason);
  return error as EngineError;
}

describe("an answer", () => {
  test("arrives as text events as the server sends them, with usage, and ends with done", async () => {
    // The beginning of a text comes in one piece: until it is long enough, it may be reasoning.
    const beginning = "x".repeat(200);
    server.script(say(`${beginning} Hello there, friend.`, { delayMs: 20 }));
    const { events, text } = await collect(openEngine().engine.run(turnOf("hi", { providers }), never));
    expect(text).toBe(`${beginning} Hello there, friend.`);
    expect(events.filter((event) => event.type === "text")).toHaveLength(4);
    expect(events.at(-2)).toEqual({ type: "usage", inputTokens: 11, outputTokens: 7, model: "local/small" });
    expect(events.at(-1)).toEqual({ type: "done" });
  });

  test("is requested with the instructions, the transcript and the model's own name, and no empty key", async () => {
    const messages = [
      { role: "system", text: "the door opened" },
      { role: "user", text: "one" },
      { role: "user", text: "two" },
      { role: "assistant", text: "" },
      { role: "assistant", text: "three" },
      { role: "user", text: "four" },
    ] as const;
    await collect(openEngine().engine.run(turnOf("", { providers, model: "local/org/small:7b", messages }), never));
    const [asked] = server.requests;
    expect(asked?.body.model).toBe("org/small:7b");
    expect(asked?.headers.authorization).toBeUndefined();
    expect(asked?.body.tools).toBeUndefined();
    expect(asked?.body.messages).toEqual([
      { role: "system", content: "Be short." },
      { role: "user", content: "[system note] the door opened\n\none\n\ntwo" },
      { role: "assistant", content: "three" },
      { role: "user", content: "four" },
    ]);
  });

  test("is requested with the key and the headers of the provider", async () => {
    server.requireKey("sk-right-key-1234");
    providers.local = { ...local, apiKey: "sk-right-key-1234", headers: { "x-team": "blue" } };
    const { text } = await collect(openEngine().engine.run(turnOf("hi", { providers }), never));
    expect(text).toBe("hi");
    expect(server.requests[0]?.headers["x-team"]).toBe("blue");
  });

  test("is requested correctly at an address with credentials and a query", async () => {
    providers.local = { ...local, baseUrl: `${server.url.replace("http://", "http://me:p%40ss@")}/?version=2` };
    const { text } = await collect(openEngine().engine.run(turnOf("hi", { providers }), never));
    expect(text).toBe("hi");
    expect(server.requests[0]?.path).toBe("/v1/chat/completions?version=2");
    expect(server.requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from("me:p@ss").toString("base64")}`);
  });

  test("keeps reasoning separate, even if the model writes it between tags in its text", async () => {
    server.script(say("Four.", { reasoning: "two and two" }), say("<think>two and\ntwo</think>Four."));
    const { engine } = openEngine();
    for (const expected of ["two and two", "two and\ntwo"]) {
      const { text, reasoning } = await collect(engine.run(turnOf("2+2?", { providers }), never));
      expect({ text: text.trim(), reasoning }).toEqual({ text: "Four.", reasoning: expected });
    }
  });

  test.each([
    [
      "tags within an answer stay in it",
      "Use `<think>` before, and `</think>` behind.",
      "",
      "Use `<think>` before, and `</think>` behind.",
    ],
    [
      "and so they do behind the reasoning",
      "\n<think>They ask for\nthe tag</think>\n\nIt is <think> .",
      "They ask for\nthe tag",
      "It is <think> .",
    ],
    ["two pieces of reasoning", "<think>one</think> <think>two</think> Three.", "onetwo", "Three."],
    ["less than a tag", "<thin", "", "<thin"],
    ["a tag that is not one", "<thinker> is no tag", "", "<thinker> is no tag"],
  ])("handles reasoning between tags: %s", async (_, written, thought, said) => {
    server.script(say(written));
    const { text, reasoning, error } = await collect(openEngine().engine.run(turnOf("hi", { providers }), never));
    expect({ text, reasoning, error }).toEqual({ text: said, reasoning: thought, error: undefined });
  });

  test("that reaches the output token limit is complete for the turn, and the log reports the truncation", async () => {
    server.script(say("And then the", { finishReason: "length" }));
    const { engine, warnings } = openEngine();
    const { text, error } = await collect(engine.run(turnOf("hi", { providers }), never));
    expect({ text, error, warnings }).toEqual({
      text: "And then the",
      error: undefined,
      warnings: [{ model: "local/small" }],
    });
  });

  const efforts: readonly [Thinking, EngineProvider["api"], object][] = [
    ["off", "openai-compatible", {}],
    ["minimal", "openai-compatible", { reasoning_effort: "minimal" }],
    ["medium", "openai", { reasoning_effort: "medium" }],
    ["max", "google", { reasoning_effort: "high" }],
    ["low", "anthropic", { thinking: { type: "enabled", budget_tokens: 4_096 }, max_tokens: 12_288 }],
  ];
  test.each(efforts)(
    "with thinking %s is requested from an %s provider in its own format of chat completions",
    async (thinking, api, expected) => {
      providers.local = { ...local, api, protocol: "chat" };
      await collect(openEngine().engine.run(turnOf("hi", { providers, thinking }), never));
      const fields = Object.entries(server.requests[0]?.body ?? {}).filter(([name]) =>
        /thinking|reasoning|max_tokens/.test(name),
      );
      expect(Object.fromEntries(fields)).toEqual(expected);
    },
  );
});

test("a model that rejects thinking is asked without it for the rest of the turn", async () => {
  const look: EngineTool = {
    name: "look",
    description: "Looks.",
    parameters: { type: "object" },
    run: async () => "seen",
  };
  const refused = refuse(400, '"small" does not support thinking');
  server.script(refused, callTools([{ name: "look", args: {} }]), say("Four."), refused, refused);
  const { engine, warnings } = openEngine();
  const asked = turnOf("2+2?", { providers, thinking: "high", tools: [look] });
  expect((await collect(engine.run(asked, never))).text).toBe("Four.");
  expect(server.requests.map(({ body }) => (body as { reasoning_effort?: string }).reasoning_effort)).toEqual([
    "high",
    undefined,
    undefined,
  ]);
  expect(warnings).toMatchObject([{ model: "small", detail: expect.stringContaining("does not support thinking") }]);
  // A model that refuses all the same ends the turn.
  expectFailure((await collect(engine.run(asked, never))).error, "model_refused");
  expect(server.requests).toHaveLength(5);
});

test("a server that requires cache marks gets them on the instructions and the last user message", async () => {
  providers.local = { ...local, models: { small: { cacheMarks: true } } };
  const look: EngineTool = {
    name: "look",
    description: "Looks.",
    parameters: { type: "object" },
    run: async () => "seen",
  };
  const messages = [
    { role: "user", text: "one" },
    { role: "assistant", text: "two" },
    { role: "user", text: "three" },
  ] as const;
  server.script(callTools([{ name: "look", args: {} }]), say("Seen."));
  await collect(openEngine().engine.run(turnOf("three", { providers, messages, tools: [look] }), never));
  const marked = (text: string) => [{ type: "text", text, cache_control: { type: "ephemeral" } }];
  for (const { body } of server.requests)
    expect(body.messages.slice(0, 4).map(({ content }) => content)).toEqual([
      marked("Be short."),
      "one",
      "two",
      marked("three"),
    ]);
  expect(server.requests).toHaveLength(2);
});

describe("tools", () => {
  const add: EngineTool = {
    name: "add",
    description: "Adds two numbers.",
    parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
    run: async (args) => {
      const { a, b } = args as { a: number; b: number };
      return { sum: a + b };
    },
  };
  const broken: EngineTool = { ...add, name: "broken", run: () => Promise.reject(new Error("out of order")) };

  test("are offered and called, and their results are returned to the model", async () => {
    server.script(callTools([{ name: "add", args: { a: 2, b: 3 } }], { text: "Let me see." }), say("It is 5."));
    const { events, text } = await collect(openEngine().engine.run(turnOf("2+3?", { providers, tools: [add] }), never));
    expect(server.requests[0]?.body.tools?.[0]?.function).toMatchObject({
      name: "add",
      description: "Adds two numbers.",
      parameters: add.parameters,
    });
    const result = server.requests[1]?.body.messages.at(-1);
    expect(result).toMatchObject({ role: "tool", tool_call_id: "call-0", content: '{"sum":5}' });
    expect(events.filter((event) => event.type === "tool")).toEqual([
      { type: "tool", name: "add", state: "started" },
      { type: "tool", name: "add", state: "finished" },
    ]);
    expect(text).toBe("Let me see.\n\nIt is 5.");
    expect(events.filter((event) => event.type === "usage")).toHaveLength(2);
  });

  test("that fail return the reason to the model, and the turn continues", async () => {
    server.script(callTools([{ name: "broken", args: {} }]), say("It does not work."));
    const { events, text } = await collect(
      openEngine().engine.run(turnOf("go", { providers, tools: [broken] }), never),
    );
    expect(text).toBe("It does not work.");
    expect(events).toContainEqual({ type: "tool", name: "broken", state: "failed", detail: "out of order" });
    expect(server.requests[1]?.body.messages.at(-1)?.content).toContain("out of order");
  });

  test("that do not exist or get junk arguments end neither the turn nor the process", async () => {
    server.script(
      callTools([{ name: "no_such", args: {} }]),
      callTools([{ name: "add", args: '{"a": 1, ' }]),
      say("Never mind."),
    );
    const { text, error } = await collect(openEngine().engine.run(turnOf("go", { providers, tools: [add] }), never));
    expect(error).toBeUndefined();
    expect(text).toBe("Never mind.");
  });

  test("are called in at most `maxSteps` rounds", async () => {
    server.script(...Array.from({ length: 9 }, () => callTools([{ name: "add", args: { a: 1, b: 1 } }])));
    const { error } = await collect(
      openEngine({ maxSteps: 3 }).engine.run(turnOf("go", { providers, tools: [add] }), never),
    );
    expect(expectFailure(error, "model_tool_loop").message).toContain("3 rounds");
    expect(server.requests).toHaveLength(3);
  });

  test("are run for the calls in the response, regardless of the finish reason that the server names", async () => {
    server.script(say("No tool needed.", { finishReason: "tool_calls" }));
    const { engine } = openEngine({ maxSteps: 1 });
    const said = await collect(engine.run(turnOf("hi", { providers, tools: [add] }), never));
    expect({ text: said.text, error: said.error }).toEqual({ text: "No tool needed.", error: undefined });
    server.script(callTools([{ name: "add", args: { a: 1, b: 2 } }], { text: "I add them.", finishReason: "stop" }));
    const called = await collect(engine.run(turnOf("1+2?", { providers, tools: [add] }), never));
    expectFailure(called.error, "model_tool_loop");
  });

  test("run once: a failed later step is retried on its own, also by the next model", async () => {
    let runs = 0;
    const counted: EngineTool = {
      ...add,
      run: async (args, signal) => {
        runs += 1;
        return add.run(args, signal);
      },
    };
    server.script(
      callTools([{ name: "add", args: { a: 2, b: 3 } }]),
      ...Array.from({ length: 3 }, () => refuse(503, "overloaded")),
    );
    other.script(say("It is 5."));
    const turn = turnOf("2+3?", { providers, tools: [counted], fallbacks: ["spare/big"] });
    const { text, events } = await collect(openEngine().engine.run(turn, never));
    expect({ text, runs }).toEqual({ text: "It is 5.", runs: 1 });
    expect(other.requests[0]?.body.messages.at(-1)).toMatchObject({ role: "tool", content: '{"sum":5}' });
    expect(events.filter((event) => event.type === "usage").map((event) => event.model)).toEqual([
      "local/small",
      "spare/big",
    ]);
  });
});

describe("an abort", () => {
  const cases: readonly [string, () => ReturnType<typeof say>][] = [
    ["before the first word", hang],
    ["in mid-stream", () => say("word ".repeat(1_000), { delayMs: 5 })],
  ];
  // Tried again: the machine may do something else in such a moment.
  test.each(cases)(
    "%s ends the stream within 200 ms with its reason and closes the connection",
    { retry: 5 },
    async (_, answer) => {
      server.script(answer());
      const stopper = new AbortController();
      const reason = new Error("stopped");
      const ends = collect(openEngine().engine.run(turnOf("hi", { providers }), stopper.signal));
      while (server.requests.length === 0) await delay(5);
      await delay(30);
      const began = performance.now();
      stopper.abort(reason);
      const { error, events } = await ends;
      expect(performance.now() - began).toBeLessThan(200);
      expect(error).toBe(reason);
      expect(events.at(-1)?.type).not.toBe("done");
      await server.requests[0]?.gone;
    },
  );

  test("reaches a running tool", async () => {
    let told = false;
    const slow: EngineTool = {
      name: "slow",
      description: "Waits.",
      parameters: { type: "object", properties: {} },
      run: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            told = true;
            reject(signal.reason);
          });
        }),
    };
    server.script(callTools([{ name: "slow", args: {} }]));
    const stopper = new AbortController();
    const stream = openEngine().engine.run(turnOf("go", { providers, tools: [slow] }), stopper.signal);
    setTimeout(() => stopper.abort(new Error("stopped")), 300);
    const { error } = await collect(stream);
    expect(told).toBe(true);
    expect(error).toMatchObject({ message: "stopped" });
  });

  test("by a reader who leaves halfway also closes the connection", async () => {
    server.script(say("word ".repeat(1_000), { delayMs: 5 }));
    for await (const event of openEngine().engine.run(turnOf("hi", { providers }), never))
      if (event.type === "text") break;
    await server.requests[0]?.gone;
  });
});

describe("a failure has a clear sentence, a code and a hint", () => {
  test.each<[string, Partial<EngineProvider>, RegExp]>([
    ["a user in the address", {}, /^Check the user and the password in models\.providers\.local\.baseUrl/],
    [
      "a user in the address and a key",
      { apiKey: "sk-1234" },
      /^Remove the user from .*baseUrl: it is sent in place of apiKey/,
    ],
  ])("%s that is rejected: the hint names what was sent", async (_, more, hint) => {
    server.requireKey("sk-1234");
    providers.local = { ...local, baseUrl: server.url.replace("http://", "http://me:hunter22@"), ...more };
    const { error } = await collect(openEngine().engine.run(turnOf("hi", { providers }), never));
    expect(expectFailure(error, "model_unauthorized").hint).toMatch(hint);
  });

  test("without a connection: names the address without its user, password and query", async () => {
    const url = (await closedUrl()).replace("http://", "http://me:hunter22@");
    providers.local = { ...local, baseUrl: `${url}?key=topsecret`, apiKey: "sk-top-secret" };
    const { error } = await collect(openEngine({ retries: 0 }).engine.run(turnOf("hi", { providers }), never));
    const failure = expectFailure(error, "model_unreachable");
    expect(failure.message).toMatch(/^local at http:\/\/127\.0\.0\.1:\d+\/v1 cannot be reached: /);
    expect(`${failure.message} ${failure.hint}`).not.toMatch(/hunter22|topsecret|top-secret/);
    expect(failure.hint).toContain("models.providers.local.baseUrl");
  });

  test("for a wrong key: repeats no part of it, even if the server does", async () => {
    server.requireKey("sk-right-key-1234");
    providers.local = { ...local, apiKey: "sk-wrong-key-9876" };
    const { error } = await collect(openEngine().engine.run(turnOf("hi", { providers }), never));
    const failure = expectFailure(error, "model_unauthorized");
    expect(failure.message).not.toContain("9876");
    expect(failure.message).toContain("Incorrect API key provided: ***");
    expect(failure.hint).toContain("models.providers.local.apiKey");
    expect(server.requests).toHaveLength(1);
  });

  test.each<[string, Partial<EngineProvider>, string]>([
    ["a key of two lines", { apiKey: "first-secret\nsecond-secret" }, "apiKey"],
    ["a key with what an editor made of three dots", { apiKey: "sk-…secret" }, "apiKey"],
    ["a header of two lines", { headers: { "x-key": "first-secret\nsecond-secret" } }, "headers.x-key"],
  ])("%s is named without repeating any part of it", async (_, more, key) => {
    providers.local = { ...local, ...more };
    const { error } = await collect(openEngine().engine.run(turnOf("hi", { providers }), never));
    const failure = expectFailure(error, "model_provider_invalid");
    expect(failure.message).toBe(`models.providers.local.${key} cannot be sent in a header`);
    expect(JSON.stringify([failure.message, failure.hint])).not.toContain("secret");
  });

  const statuses: readonly [string, ReturnType<typeof say>, string, number][] = [
    [
      "an unknown model",
      refuse(404, "The model `small` does not exist", { code: "model_not_found" }),
      "model_unknown",
      1,
    ],
    ["a quota that is used up", refuse(429, "You exceeded your current quota"), "model_quota", 1],
    [
      "too long a conversation",
      refuse(400, "This model's maximum context length is 4096 tokens"),
      "model_context_full",
      1,
    ],
    ["a request that is refused", refuse(400, "Unsupported parameter"), "model_refused", 1],
    [
      "Google's answer to a wrong key",
      refuse(400, "API key not valid. Please pass a valid API key."),
      "model_unauthorized",
      1,
    ],
    [
      "Anthropic's answer without credit",
      refuse(400, "Your credit balance is too low to access the API."),
      "model_quota",
      1,
    ],
    ["garbage in the stream", garble(), "model_garbled", 3],
    ["a page instead of a stream", page(), "model_cut_off", 3],
    ["an error in the stream", errorInStream("the GPU is on fire"), "model_unavailable", 3],
    ["a busy server, after its retries", refuse(429, "slow down"), "model_busy", 3],
    ["a broken server, after its retries", refuse(500, "oops"), "model_unavailable", 3],
  ];
  test.each(statuses)("%s", async (_, answer, reason, asked) => {
    server.script(answer, answer, answer);
    const { error, events } = await collect(openEngine().engine.run(turnOf("hi", { providers }), never));
    const failure = expectFailure(error, reason);
    expect(failure.message).not.toMatch(/\n|undefined|\[object/);
    expect(failure.hint).not.toBe("");
    expect(events).toEqual([]);
    expect(server.requests).toHaveLength(asked);
  });

  test.each<[string, object]>([
    ["a text", { error: "the GPU is on fire" }],
    ["an object of its own", { object: "error", message: "the GPU is on fire" }],
  ])("for an error in the stream that is %s, with its reason", async (_, error) => {
    server.script(
      errorInStream("", { error }),
      say("Put out."),
      ...Array(3).fill(errorInStream("", { text: "one", error })),
    );
    const { engine } = openEngine();
    expect((await collect(engine.run(turnOf("hi", { providers }), never))).text).toBe("Put out.");
    const failed = await collect(engine.run(turnOf("hi", { providers }), never));
    expect(expectFailure(failed.error, "model_failed").message).toContain("the GPU is on fire");
  });

  test.each(["error", "network_error", "insufficient_system_resource"])(
    "for an answer that the server ends with the reason %s, and the next attempt is shown whole",
    async (finishReason) => {
      const broken = say("Half of", { finishReason });
      server.script(broken, say("All of it."), ...Array(3).fill(broken));
      const { engine } = openEngine();
      expect((await collect(engine.run(turnOf("hi", { providers }), never))).text).toBe("All of it.");
      const failed = await collect(engine.run(turnOf("hi", { providers }), never));
      expect(expectFailure(failed.error, "model_cut_off").message).toContain(`ended its reply early (${finishReason})`);
    },
  );

  test("for an error with status 200 instead of a stream, with its reason, and the next model is asked", async () => {
    const unknownPath = whole({
      error: "Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway",
    });
    server.script(unknownPath, unknownPath);
    const { engine } = openEngine({ retries: 0 });
    const failure = expectFailure(
      (await collect(engine.run(turnOf("hi", { providers }), never))).error,
      "model_failed",
    );
    expect(failure.message).toContain("failed: Unexpected endpoint or method. (POST /chat/completions)");
    expect(failure.hint).toContain("models.providers.local.baseUrl, which usually ends in /v1");
    other.script(say("Here."));
    expect((await collect(engine.run(turnOf("hi", { providers, fallbacks: ["spare/big"] }), never))).text).toBe(
      "Here.",
    );
  });

  test("for a reply with status 200 that is not a stream", async () => {
    server.script(
      whole({ object: "chat.completion", choices: [{ index: 0, message: { role: "assistant", content: "Hello." } }] }),
    );
    const { error } = await collect(openEngine({ retries: 0 }).engine.run(turnOf("hi", { providers }), never));
    expect(expectFailure(error, "model_garbled").message).toContain("sent a JSON object instead of a stream");
  });

  test.each<[string, unknown]>([
    [
      "in a list, as Google does",
      [{ error: { code: 400, message: "The GPU is on fire", status: "INVALID_ARGUMENT" } }],
    ],
    ["as a detail", { detail: [{ loc: ["body", "model"], msg: "The GPU is on fire", type: "value_error" }] }],
    ["as a text", { detail: "The GPU is on fire" }],
    ["beside a flag", { error: true, message: "The GPU is on fire" }],
    ["as one of several", { success: false, errors: [{ code: 7, message: "The GPU is on fire" }] }],
    ["in its message", { object: "error", message: { detail: "The GPU is on fire" } }],
  ])("with the reason that the server gives %s", async (_, body) => {
    server.script(refuse(400, "", { body }));
    const { error } = await collect(openEngine().engine.run(turnOf("hi", { providers }), never));
    expect(expectFailure(error, "model_refused").message).toMatch(/\(400\): The GPU is on fire$/);
  });

  test("for silence before the first word", async () => {
    server.script(hang());
    const { error } = await collect(openEngine({ firstChunkMs: 60 }).engine.run(turnOf("hi", { providers }), never));
    expect(expectFailure(error, "model_stalled").message).toContain("0.06 s");
    await server.requests[0]?.gone;
  });

  test("for silence halfway, after one repeated request", async () => {
    server.script(stall("one two"), stall("one two"));
    const { error } = await collect(openEngine({ chunkMs: 60 }).engine.run(turnOf("hi", { providers }), never));
    expectFailure(error, "model_stalled");
    expect(server.requests).toHaveLength(2);
    await server.requests[1]?.gone;
  });

  const unusable: readonly [string, Record<string, EngineProvider>, string, string][] = [
    ["a provider that is not configured", {}, "local/small", "model_unknown"],
    ["the name of a property of every object", {}, "constructor/small", "model_unknown"],
    [
      "a model without provider",
      { local: { api: "openai-compatible", baseUrl: "http://127.0.0.1:9/v1" } },
      "small",
      "model_unknown",
    ],
    [
      "a local provider without an address",
      { local: { api: "openai-compatible" } },
      "local/small",
      "model_provider_invalid",
    ],
    [
      "an invalid address",
      { local: { api: "openai-compatible", baseUrl: "not a url" } },
      "local/small",
      "model_provider_invalid",
    ],
  ];
  test.each(unusable)("%s", async (_, configured, model, reason) => {
    const { error } = await collect(openEngine().engine.run(turnOf("hi", { providers: configured, model }), never));
    expectFailure(error, reason);
  });
});

describe("fallbacks", () => {
  test("are asked in order when a model is unreachable, and each step is logged", async () => {
    providers.gone = { api: "openai-compatible", baseUrl: await closedUrl() };
    server.script(refuse(503, "overloaded"), refuse(503, "overloaded"), refuse(503, "overloaded"));
    other.script(say("Here."));
    const { engine, warnings } = openEngine();
    const { text, events } = await collect(
      engine.run(turnOf("hi", { providers, model: "gone/x", fallbacks: ["local/small", "spare/big"] }), never),
    );
    expect(text).toBe("Here.");
    expect(events.find((event) => event.type === "usage")).toMatchObject({ model: "spare/big" });
    expect(warnings.map(({ model, next, reason }) => [model, next, reason])).toEqual([
      ["gone/x", "local/small", "model_unreachable"],
      ["local/small", "spare/big", "model_unavailable"],
    ]);
  });

  test("are asked if the first word does not arrive in time", async () => {
    server.script(hang());
    other.script(say("Here."));
    const { text } = await collect(
      openEngine({ firstChunkMs: 1_000 }).engine.run(turnOf("hi", { providers, fallbacks: ["spare/big"] }), never),
    );
    expect(text).toBe("Here.");
  });

  const ofOneModel: readonly [string, ReturnType<typeof say>][] = [
    ["a key that is refused", refuse(401, "no")],
    ["a quota that is used up", refuse(429, "You exceeded your current quota")],
    ["an account without credit", refuse(402, "Insufficient balance")],
    ["a model that its provider has withdrawn", refuse(404, "The model `small` does not exist")],
    ["too long a conversation", refuse(400, "This model's maximum context length is 4096 tokens")],
  ];
  test.each(ofOneModel)("are asked after %s", async (_, answer) => {
    server.script(answer);
    other.script(say("Here."));
    const { text } = await collect(
      openEngine().engine.run(turnOf("hi", { providers, fallbacks: ["spare/big"] }), never),
    );
    expect(text).toBe("Here.");
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ["a provider that is not configured", "nowhere/small", {}],
    ["a key that cannot be sent", "local/small", { apiKey: "two\nlines" }],
  ])("are asked after %s, and the log says why", async (_, model, more) => {
    providers.local = { ...local, ...more };
    other.script(say("Here."));
    const { engine, errors } = openEngine();
    const { text } = await collect(engine.run(turnOf("hi", { providers, model, fallbacks: ["spare/big"] }), never));
    expect(text).toBe("Here.");
    expect(errors).toMatchObject([
      { model, next: "spare/big", detail: expect.stringContaining(model.split("/", 1)[0] ?? "") },
    ]);
  });

  test("are not asked after a rejected request, and cannot help if every name is wrong", async () => {
    server.script(refuse(400, "Unsupported parameter"));
    const { engine } = openEngine();
    const refused = await collect(engine.run(turnOf("hi", { providers, fallbacks: ["spare/big"] }), never));
    expectFailure(refused.error, "model_refused");
    const { error } = await collect(
      engine.run(turnOf("hi", { providers, model: "nowhere/a", fallbacks: ["nowhere/b"] }), never),
    );
    expect(expectFailure(error, "model_unknown").message).toContain("nowhere/a");
    expect(other.requests).toHaveLength(0);
  });
});

describe("an empty answer", () => {
  test("is requested once more, even after reasoning, and both calls are counted", async () => {
    server.script(say("", { reasoning: "hm" }), say("Here."));
    const { text, events } = await collect(openEngine().engine.run(turnOf("hi", { providers }), never));
    expect(text).toBe("Here.");
    expect(server.requests).toHaveLength(2);
    expect(events.filter(({ type }) => type === "usage")).toEqual([
      { type: "usage", inputTokens: 22, outputTokens: 14, model: "local/small" },
    ]);
  });

  test.each([
    ["length", "limit of output tokens"],
    ["content_filter", "content filter"],
  ])("that ends for the reason %s reports it", async (finishReason, cause) => {
    server.script(say("", { reasoning: "hm", finishReason }), say("", { finishReason }));
    const { error } = await collect(openEngine().engine.run(turnOf("hi", { providers }), never));
    expect(expectFailure(error, "model_empty").message).toContain(cause);
  });

  test("is a failure the second time", async () => {
    server.script(say(""), say(" \n"), say("Too late."));
    const { error } = await collect(openEngine().engine.run(turnOf("hi", { providers }), never));
    expectFailure(error, "model_empty");
    expect(server.requests).toHaveLength(2);
  });

  test("after a tool call repeats only that step and does not rerun the tool", async () => {
    let runs = 0;
    const count: EngineTool = {
      name: "count",
      description: "Counts.",
      parameters: { type: "object" },
      run: async () => {
        runs += 1;
        return { runs };
      },
    };
    server.script(callTools([{ name: "count", args: {} }]), say(""), say("One."));
    const { text } = await collect(openEngine().engine.run(turnOf("hi", { providers, tools: [count] }), never));
    expect({ text, runs }).toEqual({ text: "One.", runs: 1 });
  });
});

describe("a busy server", () => {
  test("is asked again after the time that it requests", async () => {
    server.script(refuse(429, "slow down", { headers: { "retry-after-ms": "120" } }), say("Now."));
    const began = performance.now();
    const { text } = await collect(openEngine().engine.run(turnOf("hi", { providers }), never));
    expect(text).toBe("Now.");
    expect(performance.now() - began).toBeGreaterThanOrEqual(115);
  });

  test.each(["120ms", "120 milliseconds"])(
    "is asked again after the time in its message, where a link to a billing page does not mean a quota: %s",
    async (wait) => {
      const limit =
        `Rate limit reached on tokens per min. Please try again in ${wait}. Add a payment ` +
        "method at https://llm.example/account/billing.";
      server.script(refuse(429, limit), say("Now."));
      const began = performance.now();
      const { text } = await collect(openEngine().engine.run(turnOf("hi", { providers }), never));
      expect(text).toBe("Now.");
      expect(performance.now() - began).toBeGreaterThanOrEqual(115);
    },
  );

  test("that requests too long a wait is skipped for the next model at once", async () => {
    server.script(refuse(429, "slow down", { headers: { "retry-after": "3600" } }));
    other.script(say("Here."));
    const { text } = await collect(
      openEngine().engine.run(turnOf("hi", { providers, fallbacks: ["spare/big"] }), never),
    );
    expect(text).toBe("Here.");
    expect(server.requests).toHaveLength(1);
  });
});
