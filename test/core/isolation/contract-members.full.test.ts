/** What a plugin registers works from a worker as it does inline; what cannot cross is named. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createTestHost, type TestHost, type TestHostOptions } from "../../../core/testkit/index.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { freePort } from "../../support/ports.ts";

const sdk = `
  import { definePlugin, defineEngine, EngineError, Type } from "service-gateway/sdk";
  import { defineChannel } from "service-gateway/sdk/channel";
`;

/**
 * What does without the SDK is JavaScript that Node loads as it is: for anything else, its thread loads what transpiles
 * it.
 */
function pluginFile(directory: string, id: string, body: string): void {
  const usesSdk = /\bdefine[A-Z]/.test(body);
  mkdirSync(join(directory, id));
  writeFileSync(join(directory, id, usesSdk ? "index.ts" : "index.mjs"), usesSdk ? sdk + body : body);
}

async function startWith(
  plugins: Readonly<Record<string, string>>,
  { config = {}, allowErrors = [], ...options }: Pick<TestHostOptions, "answer" | "config" | "allowErrors"> = {},
): Promise<TestHost> {
  const directory = temporaryDirectory();
  for (const [id, body] of Object.entries(plugins)) pluginFile(directory, id, body);
  const ids = Object.keys(plugins);
  const host = await createTestHost({
    directory,
    config: {
      plugins: {
        load: ids.map((id) => `./${id}`),
        entries: Object.fromEntries(ids.map((id) => [id, { isolation: "worker" }])),
      },
      ...config,
    },
    allowErrors,
    ...options,
  });
  onTestFinished(() => host.close());
  return host;
}

const texts = (host: TestHost) => host.outbox().map(({ text }) => text);

test("commands, taps, the store, routes, checks and reports work in a worker", async () => {
  const host = await startWith(
    {
      all: `
      import { createRequire } from "node:module";
      let ended = 0;
      export default definePlugin({ id: "all", version: "1.0.0", host: "^0.2.0", setup(host) {
        host.command({ name: "count", summary: "Counts.", role: "anyone",
          run: async ({ args }) => "counted " + await host.store.update("n", (n) => Number(n ?? 0) + Number(args)) });
        host.command({ name: "duty", summary: "Takes a duty.", role: "anyone", run: async () => "taken: " + await host.takeDuty("count") });
        host.command({ name: "zone", summary: "Names the zone.", role: "anyone", run: async () => [await host.timezone(), await host.sharesStore()].join(", ") });
        host.command({ name: "libraries", summary: "Names what only a server needs.", role: "anyone",
          run: async () => "loaded: " + Object.keys(createRequire(import.meta.url).cache).filter((file) => /[/](?:fastify|pino)[/]/.test(file)).length });
        host.tap("formatting", (reply) => ({ ...reply, text: reply.text + "!" }));
        host.tap("settled", () => { ended += 1; });
        host.route({ method: "POST", path: "/bytes", access: "public", rawBody: true,
          handler: ({ body }) => ({ type: "text/plain", body: Buffer.from(body).reverse() }) });
        host.route({ method: "GET", path: "/stream", access: "public", handler: () => ({ events: (async function* () { yield 1; })() }) });
        host.check({ name: "fine", explain: async () => ({ verdict: "ok", reason: "all is well" }) });
        host.status(() => [{ source: "all", account: "ended", state: "ok", reason: String(ended), fix: "" }]);
      } });`,
    },
    { allowErrors: [/GET \/stream/] },
  );
  await host.configure({ agents: { defaults: { timezone: "Asia/Tokyo" } } });
  await host.say("/count 2");
  await host.say("/count 3");
  await host.say("/duty");
  await host.say("/zone");
  // Each thread has its own modules, and would read those of the gateway's server for nothing.
  await host.say("/libraries");
  expect(texts(host)).toEqual(["counted 2!", "counted 5!", "taken: true!", "Asia/Tokyo, false!", "loaded: 0!"]);
  const post = await fetch(`${host.url}/bytes`, {
    method: "POST",
    body: "abc",
    headers: { "content-type": "application/octet-stream" },
  });
  expect([post.status, await post.text()]).toEqual([200, "cba"]);
  expect((await fetch(`${host.url}/stream`)).status).toBe(500);
  await expect
    .poll(async () => await (await host.fetch("/gateway/describe")).json())
    .toMatchObject({ gateway: { watched: { all: [{ reason: "5" }] } } });
});

test("an engine streams its turn, and if its thread ends it apologizes, with the reason in the trace", async () => {
  const host = await startWith(
    {
      words: `
      export default defineEngine({ id: "words", version: "1.0.0", host: "^0.2.0",
        needsModel: true,
        skipped: ({ model, fallbacks }) => [{ model, reason: "model_quota", detail: "too many words before " + fallbacks }],
        async *run(turn) {
          if (turn.inbound.text === "exit") process.exit(5);
          if (turn.inbound.text === "fail") throw new EngineError("model_busy", { detail: "too many words" });
          for (const word of turn.inbound.text.split(" ")) yield { type: "text", delta: word + "." };
          yield { type: "done" };
        } });`,
    },
    {
      config: { agents: { defaults: { engine: "words", model: { primary: "all/words", fallbacks: ["few/words"] } } } },
      allowErrors: [/the worker of the plugin has ended/],
    },
  );
  await host.say("one two");
  expect(texts(host)).toEqual(["one.two."]);
  await host.say("/status");
  expect(texts(host).at(-1)).toContain("Model: `few/words`, in place of `all/words`");
  expect(await host.say("fail")).toMatchObject({ outcome: "failed", reason: "model_busy" });
  const report = await host.say("exit");
  expect(report).toMatchObject({ outcome: "failed", reason: "worker_ended" });
  expect(JSON.stringify(report.decisions)).toContain("exit code 5");
  await host.say("three");
  expect(texts(host).at(-1)).toBe("three.");
});

test("an engine requests the budget before each call, and its calls are in the ledger", async () => {
  const host = await startWith(
    {
      payer: `
      export default defineEngine({ id: "payer", version: "1.0.0", host: "^0.2.0",
        async *run(turn) {
          const { id } = await turn.spending.begin({ model: "acme/large", inputTokens: 10, outputTokens: 5 });
          await turn.spending.end(id, { inputTokens: 12, outputTokens: 4, cacheRead: 3 });
          yield { type: "usage", inputTokens: 12, outputTokens: 4, model: "acme/large" };
          yield { type: "text", delta: "paid" };
          yield { type: "done" };
        } });`,
    },
    { config: { agents: { defaults: { engine: "payer", budget: { perDayTokens: 35, warnAt: 1 } } } } },
  );
  for (const text of ["one", "two"]) await host.say(text);
  expect(texts(host)).toEqual(["paid", "paid"]);
  expect(await host.say("three")).toMatchObject({ outcome: "refused", reason: "budget_exceeded" });
  await host.say("/usage");
  expect(texts(host).at(-1)).toBe("**Budget**\n- this agent, today: 32 of 35 tokens (91 %)");
});

test("device tokens, callers of a channel's own listener, and an engine's tools work in a worker", async () => {
  const doorPort = await freePort();
  const host = await startWith(
    {
      door: `
        import { createServer } from "node:http";
        const door = defineChannel({ id: "door", version: "1.0.0", host: "^0.2.0",
          options: Type.Object({ port: Type.Integer() }), capabilities: { maxChars: 9 },
          open(account) {
            const server = createServer((request, response) => {
              const verdict = account.judgeCaller(request, () => request.headers["x-secret"] === "right");
              response.writeHead(verdict.ok ? 200 : verdict.status).end();
            });
            return {
              start: () => new Promise((resolve) => server.listen(account.options.port, "127.0.0.1", resolve)),
              parse: () => null, render: () => [], send: async () => ({ messageId: "1" }),
              close: async () => void server.close(),
            };
          } });
        export default definePlugin({ ...door, setup(host) {
          host.channel(door.channel);
          host.devices(async (token) => token === (await host.store.get("token")));
          host.onReady(() => host.store.set("token", "of-a-device"));
          host.route({ method: "GET", path: "/inside", access: "device", handler: () => ({ status: 204 }) });
        } });`,
      tooled: `
        export default defineEngine({ id: "tooled", version: "1.0.0", host: "^0.2.0",
          async *run(turn, signal) {
            const tool = turn.tools.find(({ name }) => name === "send");
            yield { type: "text", delta: JSON.stringify(await tool.run(JSON.parse(turn.inbound.text), signal)) };
            yield { type: "done" };
          } });`,
    },
    { config: { channels: { door: { port: doorPort } }, agents: { defaults: { engine: "tooled" } } } },
  );
  const asDevice = async (token: string) =>
    (await fetch(`${host.url}/inside`, { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await asDevice("of-a-device")).toBe(204);
  expect(await asDevice("of-nobody")).toBe(401);
  const call = async (secret: string) =>
    (
      await fetch(`http://127.0.0.1:${doorPort}/`, {
        headers: { "x-secret": secret },
        signal: AbortSignal.timeout(5_000),
      })
    ).status;
  await expect.poll(() => call("right").catch(() => 0)).toBe(200);
  const wrong = [];
  for (let count = 0; count < 21; count += 1) wrong.push(await call("wrong"));
  expect([wrong[0], wrong.at(-1)]).toEqual([401, 429]);
  await host.say(JSON.stringify({ message: "by a tool" }));
  await expect.poll(() => texts(host)).toContain("by a tool");
  expect(texts(host).join("\n")).toContain('"ok":true');
});

test("a channel's functions never run on the main thread and give the same results as inline", async () => {
  const host = await startWith(
    {
      names: `
        import { isMainThread } from "node:worker_threads";
        import { writeFileSync } from "node:fs";
        import { join } from "node:path";
        const run = (name, value) => {
          if (isMainThread) writeFileSync(join(import.meta.dirname, "on-main"), name);
          if (value instanceof Error) throw value;
          return value;
        };
        run("the module");
        export default defineChannel({ id: "names", version: "1.0.0", host: "^0.2.0",
          options: Type.Object({ nick: Type.String() }),
          capabilities: ({ nick }) => run("capabilities", nick === "dumb" ? new Error("no words") : { maxChars: 9, typing: nick === "E" }),
          identity: { fold: (id) => run("fold", id === "Odd" ? new Error("no form") : id.toLowerCase()), weak: (id) => run("weak", id.startsWith("~")) },
          signsInAs: ({ nick }) => run("signsInAs", nick === "unknown" ? new Error("not known") : nick.toLowerCase()),
          check: ({ nick }, { before }) => run("check", nick === "broken" ? new Error("no idea")
            : before.length > 2 ? [{ option: "nick", message: "is one too many", hint: "Remove it." }] : []),
          open: (account) => run("open", {
            start: async () => account.status({ state: "connected" }),
            parse: () => run("parse", null), render: () => run("render", []), send: async () => ({ messageId: "1" }), close: async () => {},
          }) });`,
    },
    {
      config: {
        channels: {
          names: {
            allowFrom: ["Odd", "names:Ada"],
            accounts: {
              a: { nick: "A" },
              b: { nick: "a" },
              c: { nick: "broken" },
              d: { nick: "unknown" },
              e: { nick: "E" },
              f: { nick: "F" },
              g: { nick: "dumb" },
            },
          },
        },
      },
      allowErrors: [/channels\.names\.accounts/],
    },
  );
  const accounts = async () =>
    Object.fromEntries(
      (await host.accounts())
        .filter(({ channel: id }) => id === "names")
        .map(({ account, state, detail }) => [account, `${state} ${detail ?? ""}`.trim()]),
    );
  await expect.poll(async () => Object.values(await accounts()).filter((one) => one === "connected").length).toBe(3);
  expect(await accounts()).toEqual({
    a: "connected",
    b: expect.stringContaining("signs in as a, and so does channels.names.accounts.a"),
    c: expect.stringContaining("cannot be checked by its channel"),
    d: "connected",
    e: "connected",
    f: expect.stringContaining("is one too many"),
    g: expect.stringContaining("no words"),
  });
  expect(existsSync(join(host.directory, "names", "on-main"))).toBe(false);
});

const channel = (more: string) =>
  `const channel = { id: "odd", version: "1.0.0", host: "^0.2.0", options: { type: "object", properties: {} },
     open: () => { throw new Error("not opened"); }, ${more} };
   export default { id: "odd", version: "1.0.0", host: "^0.2.0", channel, setup: (host) => host.channel(channel) };`;

test.each([
  [
    "a function in its capabilities",
    channel("capabilities: { maxChars: 9, messageIds: { pattern: '.', description: 'any', more: () => 1 } }"),
    "capabilities.messageIds.more of the channel odd is a function",
  ],
  [
    "a tap of turn",
    `export default { id: "odd", version: "1.0.0", host: "^0.2.0", setup: (host) => host.tap("turn", () => null) };`,
    "a tap of the station turn returns a stream",
  ],
])("%s cannot be transferred to a worker: the plugin is left out with the reason", async (_, body, reason) => {
  await expect(startWith({ odd: body })).rejects.toThrow(`The plugin odd cannot run in a worker: ${reason}`);
});

test("an invalid preset leaves its plugin out with the reason", async () => {
  const preset = `{ id: "odd", path: "odd", mappings: [{ agentId: "main" }] }`;
  const body = `export default { id: "odd", version: "1.0.0", host: "^0.2.0", presets: [${preset}], setup() {} };`;
  await expect(startWith({ odd: body })).rejects.toThrow(
    "the preset odd, mappings[0].agentId: only a user can set that",
  );
});

test("a plugin that exits while loading is left out with the reason", async () => {
  await expect(startWith({ odd: "process.exit(6);" })).rejects.toThrow(/exit code 6/);
});

test("tools and tool sources with their offers work in a worker", async () => {
  const host = await createTestHostWithTools();
  const ask = async (text: string) => {
    await host.say(text, { from: "owner" });
    return texts(host).at(-1);
  };
  expect(await ask('roll {"count":2}')).toBe('{"rolled":2,"agent":"main"}');
  expect(await ask('roll {"count":"two"}')).toMatch(/arguments\.count is .*invalid_arguments/);
  // What a source returns is in the words of others.
  const lamp = JSON.parse((await ask("lamp {}")) ?? "") as { readonly text: string; readonly media: unknown };
  expect(lamp.text).toMatch(
    /<<<external-content (\w+)>>>\nSource: result of the tool lamp\n---\nThe lamp is on\.\n<<<end-external-content \1>>>/,
  );
  expect(lamp.media).toEqual([{ mimeType: "image/png", data: "AAAA" }]);
  expect(JSON.parse((await ask("broken {}")) ?? "")).toEqual({
    ok: false,
    error: expect.stringContaining("---\nthe fuse is blown\n<<<end-external-content"),
    code: "tool_failed",
  });
});

function createTestHostWithTools(): Promise<TestHost> {
  return startWith(
    {
      lab: `
      export default definePlugin({ id: "lab", version: "1.0.0", host: "^0.2.0", setup(host) {
        host.tool({ name: "roll", description: "Rolls dice.", parameters: Type.Object({ count: Type.Integer() }),
          run: ({ args, turn }) => ({ rolled: args.count, agent: turn.agentId }) });
        host.toolSource({ id: "house", offer: async () => ({ tools: [
          { name: "lamp", description: "Lights the lamp.", parameters: { type: "object" },
            run: () => ({ text: "The lamp is on.", media: [{ mimeType: "image/png", data: "AAAA" }] }) },
          { name: "broken", description: "Fails.", parameters: { type: "object" }, run() { throw new Error("the fuse is blown"); } },
        ] }) });
      } });`,
    },
    {
      answer: async ({ inbound, tools }, signal) => {
        const [name = "", args = "{}"] = inbound.text.split(/ (.*)/s);
        return JSON.stringify(await tools.find((tool) => tool.name === name)?.run(JSON.parse(args), signal));
      },
    },
  );
}

test("an account in a worker answers at its own address and at the shared one, and judges each caller", async () => {
  const host = await startWith(
    {
      plaza: `
        export default defineChannel({ id: "plaza", version: "1.0.0", host: "^0.2.0",
          options: Type.Object({ team: Type.String() }), credentials: ["team"], capabilities: { maxChars: 9 },
          route: { path: "events", accountOf: ({ body }, accounts) => accounts.find(({ options }) => options.team === body.toString())?.id },
          open(account) {
            const right = ({ headers, judge }) => judge(() => headers["x-secret"] === account.options.team);
            account.route({ path: "events", maxBytes: 10, handler: (request) => right(request)
              ?? { type: "image/png", body: Buffer.from([...request.body, account.id.length]) } });
            account.route({ path: "head", refuse: right, handler: () => ({ body: { ok: true } }) });
            return { start: async () => account.status({ state: "connected" }), parse: () => null, render: () => [],
              send: async () => ({ messageId: "1" }), close: async () => {} };
          } });`,
    },
    { config: { channels: { plaza: { accounts: { north: { team: "T1" }, s: { team: "T2" } } } } } },
  );
  const post = (path: string, body: string, secret = "") =>
    host.fetch(`/channels/plaza/${path}`, { method: "POST", body, headers: { "x-secret": secret } });
  await expect.poll(async () => (await post("north/head", "x", "T1")).status).toBe(200);
  expect((await post("north/head", "x")).status).toBe(401);
  const own = await post("north/events", "T1", "T1");
  expect([own.headers.get("content-type"), await own.text()]).toEqual(["image/png", "T1\u0005"]);
  expect(await (await post("events", "T2", "T2")).text()).toBe("T2\u0001");
  expect((await post("events", "T2", "T1")).status).toBe(401);
  expect((await post("events", "T3", "T3")).status).toBe(404);
  expect((await post("north/events", "x".repeat(11), "T1")).status).toBe(413);
});

test("a panel of a plugin in a worker shows its entries and does its acts", async () => {
  const host = await startWith({
    shelf: `
      export default { id: "shelf", version: "1.0.0", host: "^0.2.0", setup(host) {
        const taken = [];
        host.panel({ id: "books", title: "Books", empty: "No book.", mayWait: true,
          entries: async () => [{ id: "one", title: "One", state: { word: "here", tone: "good" }, waits: "It waits.",
            facts: { taken: String(taken.length) }, acts: ["take"] }],
          acts: { take: { label: "Take", role: "operate", run: async ({ id }) => ({ ok: true, text: "Took " + taken.push(id) }) } } });
      } };`,
  });
  const token = readFileSync(join(host.directory, "state", "gateway-token"), "utf8").trim();
  const call = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const given = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    return await (await fetch(`${host.url}/gateway/v1/${path}`, { headers, ...given })).json();
  };
  expect(await call("panels/shelf/books/take", { entry: "one" })).toEqual({ ok: true, text: "Took 1" });
  const { panels } = (await call("waiting")) as { panels: unknown };
  const acts = [{ name: "take", label: "Take", role: "operate" }];
  expect(panels).toMatchObject([{ plugin: "shelf", entries: [{ id: "one", facts: { taken: "1" }, acts }] }]);
});
