/** The engine in the vendors' own protocols, against servers that are as strict as the vendors. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EngineError, type EngineProvider, type EngineTool, type Inbound } from "service-gateway/sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { voiceNote } from "../../support/voice-notes.ts";
import { anthropic } from "../../vendor-servers/anthropic.ts";
import { google } from "../../vendor-servers/google.ts";
import { createVendorServer, say, type VendorAnswer, type VendorServer } from "../../vendor-servers/index.ts";
import { openai } from "../../vendor-servers/openai.ts";
import { collect, openEngine, openRooms, turnOf } from "./engine.ts";

const never = new AbortController().signal;
const key = "sk-right-key-1234567890";
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg",
  "base64",
);

const vendors = [
  { api: "anthropic", protocol: anthropic, model: "claude-sonnet-4-5", base: "/v1" },
  { api: "google", protocol: google, model: "gemini-3-pro-preview", base: "/v1beta" },
  { api: "openai", protocol: openai, model: "gpt-5", base: "/v1" },
] as const;

/** With an argument that may be left out, which a strict protocol would demand. */
const lookUp = (ran: unknown[]): EngineTool => ({
  name: "look_up",
  description: "Looks something up.",
  parameters: {
    type: "object",
    properties: { what: { type: "string" }, where: { type: "string" } },
    required: ["what"],
  },
  async run(args) {
    ran.push(args);
    return { ok: true, found: "a key" };
  },
});

describe.each(vendors)("$api in its own protocol", ({ api, protocol, model, base }) => {
  let server: VendorServer;
  let providers: { readonly vendor: EngineProvider };
  let directory: string;
  const named = `vendor/${model}`;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "native-"));
    server = await createVendorServer(protocol, { model, key });
    providers = { vendor: { api, baseUrl: `${server.url}${base}`, apiKey: key } };
  });

  afterEach(async () => {
    await server.close();
    await rm(directory, { recursive: true });
  });

  const ask = (more: Parameters<typeof turnOf>[1] = {}) => {
    const opened = openEngine();
    return collect(opened.engine.run(turnOf("hi", { providers, model: named, ...more }), never)).then((outcome) => ({
      ...outcome,
      ...opened,
    }));
  };
  const refuse = (status: number, message: string, headers = {}): VendorAnswer => ({
    kind: "refuse",
    status,
    headers,
    body: protocol.error(status, message),
  });

  test("answers, and counts the tokens with those of its cache", async () => {
    server.script(say({ text: "Hello there.", cache: { read: 100, written: 20 } }));
    const { text, events, error } = await ask();
    expect({ text, error }).toEqual({ text: "Hello there.", error: undefined });
    const written = api === "anthropic" ? { cacheWrite: 20 } : {};
    const inputTokens = api === "anthropic" ? 125 : 105;
    const usage = { type: "usage", inputTokens, outputTokens: 7, cacheRead: 100, ...written, model: named };
    expect(events.at(-2)).toEqual(usage);
    expect(server.requests).toHaveLength(1);
  });

  test("reads as much of a result of 2 MB as its context has room for", async () => {
    const call = { name: "dump", args: {} };
    server.script(say({ calls: [call] }), say({ calls: [call] }), say({ text: "Seen." }));
    const dump: EngineTool = {
      name: "dump",
      description: "Returns everything.",
      parameters: { type: "object" },
      run: async () => `BEGIN ${"the quick brown fox ".repeat(100_000)} END`,
    };
    const rooms = openRooms();
    const known = { vendor: { ...providers.vendor, models: { [model]: { contextTokens: 16_000 } } } };
    const room = await rooms.of(known, named);
    const { text, error } = await ask({ providers: known, room, tools: [dump] });
    expect({ text, error }).toEqual({ text: "Seen.", error: undefined });
    const [, second, third] = server.requests.map(({ raw }) => raw);
    // Four characters are at least a token.
    for (const raw of [second, third]) expect(raw?.length).toBeLessThan(16_000 * 5);
    expect(second).toMatch(/BEGIN the quick[\s\S]*characters are left out here[\s\S]* END/);
    expect(third?.match(/characters are left out here/g)).toHaveLength(2);
  });

  test("is not asked with a message that alone is too long, and the error has both numbers", async () => {
    const known = { vendor: { ...providers.vendor, models: { [model]: { contextTokens: 16_000 } } } };
    const room = await openRooms().of(known, named);
    const inbound = { authority: "channel", text: "the quick brown fox ".repeat(10_000) } as Inbound;
    const messages = [{ role: "user" as const, text: inbound.text }];
    const { error } = await ask({ providers: known, room, inbound, messages });
    const { message = 0, room: most = 0 } =
      (error as { readonly numbers?: Readonly<Record<string, number>> }).numbers ?? {};
    expect(error).toMatchObject({ reason: "message_too_long" });
    expect([message > 40_000, most > 10_000 && most < 16_000]).toEqual([true, true]);
    expect(server.requests).toEqual([]);
  });

  test("is asked to think, shows the thought apart, and reads it again with the result of a tool", async () => {
    const call = { name: "look_up", args: { what: "the key" } };
    server.script(say({ thought: "They want the key.", calls: [call] }), say({ text: "I found a key." }));
    const ran: unknown[] = [];
    const { text, reasoning, error } = await ask({ thinking: "high", tools: [lookUp(ran)] });
    expect({ text, reasoning, error }).toEqual({
      text: "I found a key.",
      reasoning: "They want the key.",
      error: undefined,
    });
    expect(ran).toEqual([{ what: "the key" }]);
    const asked = server.requests.map(({ body }) => body);
    expect(asked).toHaveLength(2);
    const thinking = {
      anthropic: asked[0].thinking?.budget_tokens > 1_000,
      google: asked[0].generationConfig?.thinkingConfig?.thinkingLevel === "high",
      openai: asked[0].reasoning?.effort === "high",
    }[api];
    expect(thinking).toBe(true);
    const again = JSON.stringify(asked[1]);
    expect(again).toContain("a key");
    // What the vendor needs to know its thought by.
    const kept = { anthropic: "signature-of-the-thought", google: "c2lnbmF0dXJl", openai: "encrypted-thought" }[api];
    expect(again).toContain(kept);
  });

  test("calls several tools at once, and gets the result of each", async () => {
    const calls = [
      { name: "look_up", args: { what: "one" } },
      { name: "look_up", args: { what: "two", where: "there" } },
    ];
    server.script(say({ text: "I look.", calls }), say({ text: "Done." }));
    const ran: unknown[] = [];
    const { text, error } = await ask({ tools: [lookUp(ran)] });
    expect({ text, error }).toEqual({ text: "I look.\n\nDone.", error: undefined });
    expect(ran).toEqual([{ what: "one" }, { what: "two", where: "there" }]);
  });

  test("keeps the digits of a number, or does not claim to know them", async () => {
    const written = '{"what":12345678901234567890}';
    server.script(say({ calls: [{ name: "look_up", args: written }] }), say({ text: "Done." }));
    const texts: unknown[] = [];
    const tool: EngineTool = { ...lookUp([]), run: async (_args, _signal, text) => ({ ok: texts.push(text) > 0 }) };
    expect((await ask({ tools: [tool] })).text).toBe("Done.");
    expect(texts).toEqual([api === "google" ? undefined : written]);
    if (api !== "google") expect(JSON.stringify(server.requests[1]?.raw)).toContain("12345678901234567890");
  });

  test("is sent pictures and PDFs, and reads in words that it was sent a sound that it does not take", async () => {
    const pdf = Buffer.from("%PDF-1.7\nabc");
    const wav = Buffer.from("RIFF\0\0\0\0WAVEfmt ");
    const files = [
      ["a.png", "image", "image/png", png],
      ["b.pdf", "document", "application/pdf", pdf],
      ["c.wav", "audio", "audio/wav", wav],
    ] as const;
    const media = await Promise.all(
      files.map(async ([fileName, kind, mimeType, bytes]) => {
        const path = join(directory, fileName);
        await writeFile(path, bytes);
        return { kind, ref: "", path, mimeType, fileName };
      }),
    );
    const { error } = await ask({ messages: [{ role: "user", text: "What is it?", media }] });
    expect(error).toBeUndefined();
    const sent = JSON.stringify(server.requests[0]?.body);
    const found = [png, pdf, wav].map((bytes) => sent.includes(bytes.toString("base64")));
    expect(found).toEqual([true, true, api === "google"]);
    expect(sent.includes("[a file of the type audio/wav that you cannot see]")).toBe(api !== "google");
  });

  test.skipIf(api !== "google")("is sent voice messages as they are, if it listens", async () => {
    const path = join(directory, "voice.ogg");
    const note = voiceNote("stop");
    await writeFile(path, note);
    const media = [{ kind: "voice" as const, ref: "", path, mimeType: "audio/ogg" }];
    const { error } = await ask({
      messages: [{ role: "user", text: "spoken words", media }],
      providers: {
        vendor: { api, baseUrl: `${server.url}${base}`, apiKey: key, models: { [model]: { audio: true } } },
      },
    });
    expect(error).toBeUndefined();
    const sent = JSON.stringify(server.requests[0]?.body);
    expect(sent).toContain(`{"mimeType":"audio/ogg","data":"${note.toString("base64")}"}`);
  });

  test.each([
    ["model_unauthorized", 401, "the key is not valid", {}],
    ["model_quota", 402, "the credit is used up", {}],
    ["model_unknown", 404, "no such model", {}],
    ["model_context_full", 400, "prompt is too long: 210000 tokens > 200000 maximum", {}],
    ["model_busy", 429, "too many requests", { "retry-after": "60" }],
    ["model_unavailable", 500, "internal error", { "retry-after": "60" }],
    ["model_busy", 529, "Overloaded", { "retry-after": "60" }],
  ])("fails with %s after status %i, and never names the key", async (reason, status, message, headers) => {
    server.script(...Array.from({ length: 5 }, () => refuse(status, `${message} (${key})`, headers)));
    const { error, warnings, errors } = await ask();
    expect(error).toBeInstanceOf(EngineError);
    expect((error as EngineError).reason).toBe(reason);
    expect((error as EngineError).message).toContain(message.slice(0, 12));
    // An overload that lasts longer than a person waits is not asked again.
    if (status >= 429) expect(server.requests).toHaveLength(1);
    expect(JSON.stringify([String(error), (error as EngineError).hint, warnings, errors])).not.toContain(key);
  });

  test("is asked again after a short wait that it names", async () => {
    server.script(refuse(429, "slow down", { "retry-after": "0" }), say({ text: "Now." }));
    expect((await ask()).text).toBe("Now.");
    expect(server.requests).toHaveLength(2);
  });

  test("is asked without the tool whose schema it refuses", async () => {
    const message = {
      anthropic: "tools.0.custom.input_schema: JSON schema is invalid",
      google: "GenerateContentRequest.tools[0].function_declarations[0].parameters.properties: should be non-empty",
      openai: "Invalid schema for function 'look_up': schema must be a JSON Schema",
    }[api];
    server.script(refuse(400, message), say({ text: "Without it." }));
    const { text, events } = await ask({ tools: [lookUp([]), { ...lookUp([]), name: "other" }] });
    expect(text).toBe("Without it.");
    expect(events.find(({ type }) => type === "tool-refused")).toMatchObject({ name: "look_up" });
    expect(JSON.stringify(server.requests[1]?.body)).not.toContain("look_up");
  });

  test.each(["destroy", "end"] as const)("is asked again where its answer is cut: %s", async (how) => {
    server.script({ kind: "cut", how, text: "Half of" }, say({ text: "All of it." }));
    const { text, error, warnings } = await ask();
    expect({ text, error }).toEqual({ text: "All of it.", error: undefined });
    expect(warnings).toMatchObject([{ reason: "model_cut_off" }]);
  });

  test("runs no tool whose call was cut", async () => {
    const cut: VendorAnswer = { kind: "cut", how: "end", calls: [{ name: "look_up", args: { what: "one" } }] };
    server.script(cut, say({ text: "Nothing." }));
    const ran: unknown[] = [];
    expect((await ask({ tools: [lookUp(ran)] })).text).toBe("Nothing.");
    expect(ran).toEqual([]);
  });

  test("is asked again after an error within its answer", async () => {
    const event = {
      anthropic: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
      google: { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } },
      openai: {
        type: "error",
        sequence_number: 9,
        error: { type: "server_error", code: "server_error", message: "Oh.", param: null },
      },
    }[api];
    server.script({ kind: "fail", event, text: "I begin" }, say({ text: "Whole." }));
    const { text, warnings } = await ask();
    expect(text).toBe("Whole.");
    const reason = { anthropic: "model_busy", google: "model_unavailable", openai: "model_unavailable" }[api];
    expect(warnings).toMatchObject([{ reason }]);
  });

  test("needs no key at another address, and sends none", async () => {
    const { baseUrl } = providers.vendor;
    providers = { vendor: { api, baseUrl } };
    const { error } = await ask();
    expect((error as EngineError).reason).toBe("model_unauthorized");
    const [asked] = server.requests;
    expect([asked?.headers["x-api-key"], asked?.headers["x-goog-api-key"], asked?.headers.authorization]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("the marks for Anthropic's cache", () => {
  const model = "claude-sonnet-4-5";
  let server: VendorServer;
  let vendor: EngineProvider;

  beforeEach(async () => {
    server = await createVendorServer(anthropic, { model, key });
    vendor = { api: "anthropic", baseUrl: `${server.url}/v1`, apiKey: key };
  });
  afterEach(() => server.close());

  const ask = (more: Partial<EngineProvider> = {}) => {
    const providers = { vendor: { ...vendor, ...more } };
    const tools = [{ ...lookUp([]), name: "first" }, lookUp([])];
    return collect(openEngine().engine.run(turnOf("hi", { providers, model: `vendor/${model}`, tools }), never));
  };
  const mark = { type: "ephemeral" };

  test("are at the instructions, the last tool and the last message", async () => {
    await ask();
    const { system, tools, messages } = server.requests[0]?.body ?? {};
    expect(system).toEqual([{ type: "text", text: "Be short.", cache_control: mark }]);
    expect(tools.map((tool: { cache_control?: object }) => tool.cache_control)).toEqual([undefined, mark]);
    expect(messages).toEqual([{ role: "user", content: [{ type: "text", text: "hi", cache_control: mark }] }]);
  });

  test("are left out where the model has cacheMarks: false", async () => {
    await ask({ models: { [model]: { cacheMarks: false } } });
    expect(JSON.stringify(server.requests[0]?.body)).not.toContain("cache_control");
  });
});

test("protocol: chat asks for chat completions, although the package is installed", async () => {
  const server = await createVendorServer(
    {
      ...anthropic,
      path: () => "/v1/chat/completions",
      keyHeader: (of) => ["authorization", `Bearer ${of}`],
      refusal: () => undefined,
    },
    { model: "claude", key },
  );
  const providers = {
    vendor: { api: "anthropic", protocol: "chat", baseUrl: `${server.url}/v1`, apiKey: key },
  } as const;
  server.script({ kind: "refuse", status: 400, body: anthropic.error(400, "enough") });
  await collect(openEngine().engine.run(turnOf("hi", { providers, model: "vendor/claude" }), never));
  expect(server.requests.map(({ path }) => path)).toEqual(["/v1/chat/completions"]);
  await server.close();
});

test("a picture that Gemini generates is a file of the answer", async () => {
  const model = "gemini-3-pro-image-preview";
  const server = await createVendorServer(google, { model, key });
  const providers = { vendor: { api: "google", baseUrl: `${server.url}/v1beta`, apiKey: key } } as const;
  server.script(say({ text: "Here.", picture: png.toString("base64") }));
  const { events } = await collect(
    openEngine().engine.run(turnOf("hi", { providers, model: `vendor/${model}` }), never),
  );
  const media = { data: png.toString("base64"), mimeType: "image/png" };
  expect(events).toContainEqual({ type: "media", media });
  await server.close();
});
