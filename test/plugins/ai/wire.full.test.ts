/**
 * What a model server may do to a request and to an answer, in each of the four protocols: the vendors' own and chat
 * completions.
 */
import { EngineError, type EngineProvider, type EngineTool } from "service-gateway/sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { anthropic } from "../../vendor-servers/anthropic.ts";
import { chatAt } from "../../vendor-servers/chat.ts";
import { google } from "../../vendor-servers/google.ts";
import { createVendorServer, say, type VendorAnswer, type VendorServer } from "../../vendor-servers/index.ts";
import { openai } from "../../vendor-servers/openai.ts";
import { collect, openEngine, turnOf } from "./engine.ts";

const never = new AbortController().signal;
const key = "sk-right-key-1234567890";

const chat = chatAt("http://127.0.0.1/v1", { needsKey: true });
const protocols = [
  { api: "anthropic", protocol: anthropic, model: "claude-sonnet-4-5", base: "/v1" },
  { api: "google", protocol: google, model: "gemini-3-pro-preview", base: "/v1beta" },
  { api: "openai", protocol: openai, model: "gpt-5", base: "/v1" },
  { api: "openai-compatible", protocol: chat, model: "some/model:8b", base: "/v1" },
] as const;

const lookUp = (ran: unknown[]): EngineTool => ({
  name: "look_up",
  description: "Looks something up.",
  parameters: { type: "object", properties: { what: { type: "string" } } },
  async run(args) {
    ran.push(args);
    return { ok: true };
  },
});

describe.each(protocols)("a server of $api", ({ api, protocol, model, base }) => {
  let server: VendorServer;
  let providers: { readonly vendor: EngineProvider };
  const named = `vendor/${model}`;

  beforeEach(async () => {
    server = await createVendorServer(protocol, { model, key });
    providers = { vendor: { api, baseUrl: `${server.url}${base}`, apiKey: key } };
  });
  afterEach(() => server.close());

  const ask = async (more: Parameters<typeof turnOf>[1] = {}) => {
    const opened = openEngine();
    const outcome = await collect(opened.engine.run(turnOf("hi", { providers, model: named, ...more }), never));
    return { ...outcome, ...opened };
  };
  const refuse = (status: number, message: string, headers = {}): VendorAnswer => ({
    ...{ kind: "refuse", status, headers },
    body: protocol.error(status, message),
  });

  // The code, the status, the words, how often it is asked, and what the operator is advised to do.
  test.each<[string, number, string, number, RegExp]>([
    ["model_unauthorized", 401, "the key is not valid", 1, /^Check models\.providers\.vendor\.apiKey\.$/],
    ["model_unauthorized", 403, "this key has no access", 1, /^Check models\.providers\.vendor\.apiKey\.$/],
    ["model_quota", 402, "the credit is used up", 1, /account/],
    ["model_unknown", 404, "no such model", 1, /name of the model, and models\.providers\.vendor\.baseUrl/],
    ["model_context_full", 400, "prompt is too long: 210000 tokens > 200000 maximum", 1, /\/compact/],
    ["model_context_full", 413, "the request is too large", 1, /\/compact/],
    ["model_refused", 422, "temperature: out of range", 1, /Check the model .* and models\.providers\.vendor/],
    ["model_busy", 429, "too many requests", 3, /later/],
    ["model_unavailable", 500, "internal error", 3, /log of that server/],
    ["model_unavailable", 503, "no capacity", 3, /log of that server/],
    ["model_busy", 529, "Overloaded", 3, /later/],
  ])("fails with %s after status %i, one sentence without the key", async (reason, status, message, asked, hint) => {
    server.script(...Array.from({ length: 5 }, () => refuse(status, `${message}\n(${key})`)));
    const { error, warnings, errors } = await ask();
    expect(error).toBeInstanceOf(EngineError);
    const failure = error as EngineError;
    expect(failure.reason).toBe(reason);
    expect(failure.message).toContain(message.slice(0, 12));
    expect(failure.message).not.toMatch(/\n|undefined|\[object|\{/);
    expect(failure.hint).toMatch(hint);
    expect(server.requests).toHaveLength(asked);
    expect(JSON.stringify([String(error), failure.hint, warnings, errors])).not.toContain(key);
  });

  const date = "Fri, 27 Nov 2026 12:00:00 GMT";
  test.each<[string, string, Record<string, string>, boolean]>([
    ["seconds", "slow down", { "retry-after": "0" }, true],
    ["milliseconds", "slow down", { "retry-after-ms": "10", "retry-after": "60" }, true],
    ["a date", "slow down", { "retry-after": date, date }, true],
    ["words", "Please try again in 10ms.", {}, true],
    ["many seconds", "slow down", { "retry-after": "60" }, false],
    ["a later date", "slow down", { "retry-after": "Fri, 27 Nov 2026 12:00:40 GMT", date }, false],
    ["minutes in words", "Please try again in 1m2.5s.", {}, false],
  ])("is asked again at once after a wait in %s, or not at all if it is long", async (_, words, headers, isShort) => {
    server.script(refuse(429, words, headers), say({ text: "Now." }));
    // Without the server's word, the engine would wait longer than this test.
    const { engine } = openEngine({ retryDelayMs: 19_000 });
    const { text, error } = await collect(engine.run(turnOf("hi", { providers, model: named }), never));
    expect({ text, reason: (error as EngineError | undefined)?.reason }).toEqual(
      isShort ? { text: "Now.", reason: undefined } : { text: "", reason: "model_busy" },
    );
  });

  const call = { name: "look_up", args: { what: "one" } };
  const cuts = [
    ["before its first word", { text: "Half of", leave: 99 }],
    ["in the middle of an event", { text: "Half of", leave: 1 }],
    ["behind a word", { text: "Half of" }],
    ["in the middle of the arguments of a call", { calls: [call], leave: 2 }],
    ["behind a call", { calls: [call] }],
  ] as const;
  describe.each(["destroy", "end"] as const)("whose answer is cut off (%s)", (how) => {
    test.each(cuts)("%s is asked again, and runs no tool", async (_, content) => {
      server.script({ kind: "cut", how, ...content }, say({ text: "All of it." }));
      const ran: unknown[] = [];
      const { text, error } = await ask({ tools: [lookUp(ran)] });
      expect({ text, error, ran }).toEqual({ text: "All of it.", error: undefined, ran: [] });
      expect(server.requests).toHaveLength(2);
    });
  });

  test("counts the tokens with those of its cache", async () => {
    server.script(say({ text: "Hello.", cache: { read: 100, written: 0 } }));
    const { events } = await ask();
    const counted = { inputTokens: 105, outputTokens: 7, cacheRead: 100 };
    expect(events.at(-2)).toEqual({ type: "usage", ...counted, model: named });
  });

  test("may call several tools at once, with whole numbers of any length", async () => {
    const calls = ['{"what":1}', '{"what":12345678901234567890}'].map((args) => ({ name: "look_up", args }));
    server.script(say({ calls }), say({ text: "Done." }));
    const texts: unknown[] = [];
    const tool: EngineTool = { ...lookUp([]), run: async (_args, _signal, text) => ({ ok: texts.push(text) > 0 }) };
    expect((await ask({ tools: [tool] })).text).toBe("Done.");
    // Google's protocol has no other numbers than doubles, so the digits are unknown, and the gateway refuses the call.
    expect(texts).toEqual(['{"what":1}', api === "google" ? undefined : '{"what":12345678901234567890}']);
    if (api !== "google") expect(server.requests[1]?.raw).toContain("12345678901234567890");
  });

  test("shows its thoughts apart, and reads them again with the result of a tool", async () => {
    server.script(say({ thought: "They want it.", calls: [call] }), say({ text: "Done." }));
    const { text, reasoning, error } = await ask({ thinking: "high", tools: [lookUp([])] });
    expect({ text, reasoning, error }).toEqual({ text: "Done.", reasoning: "They want it.", error: undefined });
    expect(server.requests[1]?.raw).toContain(api === "openai" ? "encrypted-thought" : "They want it.");
  });

  test("may call a tool without arguments", async () => {
    server.script(say({ calls: [{ name: "look_up", args: {} }] }), say({ text: "Done." }));
    const ran: unknown[] = [];
    const { text, error } = await ask({ tools: [lookUp(ran)] });
    expect({ text, error, ran }).toEqual({ text: "Done.", error: undefined, ran: [{}] });
  });

  test.skipIf(api === "google").each(["", '{"what": ', "one", "[1]"])(
    "may send arguments that are not an object, and reads why nothing was done: %j",
    async (args) => {
      server.script(say({ calls: [{ name: "look_up", args }, call] }), say({ text: "Done." }));
      const ran: unknown[] = [];
      const { text, error } = await ask({ tools: [lookUp(ran)] });
      expect({ text, error }).toEqual({ text: "Done.", error: undefined });
      expect(ran).toContainEqual({ what: "one" });
    },
  );

  test("in the middle of an answer may fail with a status of its own", async () => {
    const event = {
      anthropic: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
      google: { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } },
      openai: {
        ...{ type: "error", sequence_number: 9 },
        error: { type: "server_error", code: "server_error", message: "Oh.", param: null },
      },
      "openai-compatible": { error: { code: 429, message: "Rate limit exceeded" }, choices: [] },
    }[api];
    server.script({ kind: "fail", event, text: "I begin" }, say({ text: "Whole." }));
    const { text, warnings } = await ask();
    expect(text).toBe("Whole.");
    const reason = {
      ...{ anthropic: "model_busy", google: "model_unavailable", openai: "model_unavailable" },
      "openai-compatible": "model_busy",
    }[api];
    expect(warnings).toMatchObject([{ reason }]);
  });

  test("that redirects within its origin is followed, with the key and the body", async () => {
    const moved = { location: protocol.path(model).replace(base, `/.${base}`) };
    server.script({ ...refuse(307, "moved", moved) }, say({ text: "Found." }));
    expect((await ask()).text).toBe("Found.");
    expect(server.requests).toHaveLength(2);
  });

  test.each([301, 302, 303, 307, 308])("that redirects to another origin (%i) is not followed", async (status) => {
    const other = await createVendorServer(protocol, { model, key });
    try {
      server.script(refuse(status, "moved", { location: `${other.url}${protocol.path(model)}` }));
      const { error } = await ask();
      expect(other.requests).toEqual([]);
      const { reason, message, hint } = error as EngineError;
      expect(reason).toBe("model_provider_invalid");
      expect(`${message} ${hint}`).not.toContain(key);
      expect(message).toBe(`vendor at ${providers.vendor.baseUrl} redirects to ${other.url}, which was not asked`);
      expect(hint).toContain("set models.providers.vendor.baseUrl");
    } finally {
      await other.close();
    }
  });
});
