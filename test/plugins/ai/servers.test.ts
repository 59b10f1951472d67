/** What single servers of chat completions do with requests, an example for each rule. */
import type { EngineError, EngineProvider, EngineTool } from "service-gateway/sdk";
import { aroundEach, describe, test } from "vitest";
import { expect, inOwnTest, onTestFinished } from "../../support/own-test.ts";
import { chatAt } from "../../vendor-servers/chat.ts";
import { createVendorServer, say, type VendorAnswer } from "../../vendor-servers/index.ts";
import { collect, openEngine, turnOf } from "./engine.ts";

aroundEach(inOwnTest);

const key = "right-key-1234567890";
const address = "http://127.0.0.1/v1";

async function open(kind: Partial<Parameters<typeof chatAt>[1]> = {}) {
  const server = await createVendorServer(chatAt(address, { needsKey: false, ...kind }), { model: "any", key });
  onTestFinished(() => server.close());
  return { server, provider: { api: "openai-compatible", baseUrl: `${server.url}/v1` } satisfies EngineProvider };
}

async function ask(lab: EngineProvider, more: Parameters<typeof turnOf>[1] = {}, options = {}) {
  const { engine } = openEngine(options);
  const turn = turnOf("hi", { providers: { lab }, model: "lab/any", ...more });
  const { text, error } = await collect(engine.run(turn, new AbortController().signal));
  return { text, error: error as EngineError | undefined };
}

const refuse = (status: number, headers: object = {}, body: object = {}): VendorAnswer => ({
  ...{ kind: "refuse", status, headers, body },
});

const call = { name: "look_up", args: { what: "key" } };

const lookUp = (ran: unknown[] = []): EngineTool => ({
  name: "look_up",
  description: "Looks something up.",
  parameters: { type: "object", properties: { what: { type: "string" } } },
  run: async (args) => ({ ok: ran.push(args) > 0 }),
});

describe("a redirect", () => {
  test.concurrent("within the origin is followed, with the body", async () => {
    const { server, provider } = await open();
    server.script(refuse(307, { location: "/v1/./chat/completions" }), say({ text: "Found." }));
    expect((await ask(provider)).text).toBe("Found.");
    expect(server.requests[1]?.body).toEqual(server.requests[0]?.body);
  });

  test.concurrent("to another origin gets neither the key nor the words", async () => {
    const { server, provider } = await open();
    const other = await open();
    server.script(refuse(308, { location: `${other.server.url}/v1/chat/completions` }));
    const { error } = await ask({ ...provider, headers: { "x-api-key": key } });
    expect(other.server.requests).toEqual([]);
    expect(error).toMatchObject({
      reason: "model_provider_invalid",
      message: `lab at ${server.url}/v1 redirects to ${other.server.url}, which was not asked`,
      hint: "If you trust that server with the key, set models.providers.lab.baseUrl to its address.",
    });
  });

  test.concurrent("in a circle is a refusal", async () => {
    const { server, provider } = await open();
    server.script(...Array(9).fill(refuse(307, { location: "/v1/chat/completions" })));
    expect((await ask(provider)).error).toMatchObject({ reason: "model_refused" });
    expect(server.requests).toHaveLength(4);
  });
});

test.concurrent("a key of the environment that is refused is reported by the name of its variable", async () => {
  const { server, provider } = await open();
  server.script(refuse(401));
  const { error } = await ask({ ...provider, apiKey: key, keyVariable: "LAB_API_KEY" });
  expect(error?.hint).toBe("Check LAB_API_KEY in the environment of the gateway, and restart it after a change.");
  const odd = await ask({ ...provider, apiKey: "one\ntwo", keyVariable: "LAB_API_KEY" });
  expect(odd.error?.message).toBe("LAB_API_KEY cannot be sent in a header");
});

test.concurrent("a server that repeats what is secret in its address, or a header, is not quoted with it", async () => {
  const words = "me:hunter22 bWU6aHVudGVyMjI= top-secret Basic-word of-the-header gsk_1234567 AIzaSy123456";
  const headers = { "x-extra": "of-the-header" };
  const server = await createVendorServer(
    {
      ...chatAt(address, { needsKey: false }),
      path: () => "/v1/chat/completions?code=top-secret",
      keyHeader: () => ["x-extra", headers["x-extra"]],
    },
    { model: "any", key },
  );
  onTestFinished(() => server.close());
  server.script(refuse(400, {}, { error: { message: words } }));
  const baseUrl = `${server.url.replace("//", "//me:hunter22@")}/v1?code=top-secret`;
  const { error } = await ask({ api: "openai-compatible", headers, baseUrl });
  expect(error?.message).toContain("refused the request (400): me:*** *** *** Basic-word *** *** ***");
});

test.concurrent.each([
  ["Fri, 27 Nov 2026 12:00:00 GMT", "Now."],
  ["Fri, 27 Nov 2026 12:00:40 GMT", ""],
])("a server that is busy until a date is asked again then, unless that is long: %s", async (date, text) => {
  const { server, provider } = await open();
  const headers = { date: "Fri, 27 Nov 2026 12:00:00 GMT", "retry-after": date };
  server.script(refuse(429, headers, { error: { message: "slow down" } }), say({ text: "Now." }));
  expect((await ask(provider, {}, { retryDelayMs: 19_000 })).text).toBe(text);
});

test.concurrent("an error within an answer counts as one of its status", async () => {
  const { server, provider } = await open();
  const event = { error: { code: 402, message: "Insufficient credits" }, choices: [] };
  server.script({ kind: "fail", event, text: "I begin" });
  expect((await ask(provider)).error).toMatchObject({ reason: "model_quota" });
  expect(server.requests).toHaveLength(1);
});

describe("the thoughts of a model that calls a tool", () => {
  const thinking = say({ thought: "They want the key.", calls: [call] });
  const silent = say({ calls: [call] });

  test.concurrent.each([
    ["are sent back to a server that needs them", { thoughts: "needed" }, thinking, "They want the key.", 2],
    ["are replaced where there was none", { thoughts: "needed" }, silent, " ", 3],
    ["are left out for a server that refuses them", { thoughts: "refused" }, thinking, undefined, 3],
  ] as const)("%s", async (_, kind, first, sent, asked) => {
    const { server, provider } = await open(kind);
    server.script(first, say({ text: "Done." }));
    const { text, error } = await ask(provider, { thinking: "high", tools: [lookUp()] });
    expect({ text, error }).toEqual({ text: "Done.", error: undefined });
    const bodies = server.requests.map(({ body }) => body);
    expect(bodies.at(-1).messages[2].reasoning_content).toBe(sent);
    // Thinking itself was not refused.
    expect(bodies.map(({ reasoning_effort: effort }) => effort)).toEqual(Array(asked).fill("high"));
  });
});

test.concurrent("a model that takes over in the middle of a turn gets ids of calls that it accepts", async () => {
  const first = await open();
  const second = await open({ shortIds: true });
  first.server.script(say({ calls: [call, call] }), refuse(402));
  second.server.script(say({ text: "Done." }));
  const ran: unknown[] = [];
  const { text, error } = await ask(first.provider, {
    providers: { lab: first.provider, other: second.provider },
    fallbacks: ["other/any"],
    tools: [lookUp(ran)],
  });
  expect({ text, error, ran }).toEqual({ text: "Done.", error: undefined, ran: [call.args, call.args] });
  expect(second.server.requests).toHaveLength(2);
});
