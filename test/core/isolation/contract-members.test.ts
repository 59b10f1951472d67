/** What a plugin registers works from a worker as it does inline; what cannot cross is named. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLoopback, startGateway, temporaryDirectory } from "../../support/gateway.ts";

function pluginFile(directory: string, id: string, body: string): void {
  mkdirSync(join(directory, id));
  writeFileSync(
    join(directory, id, "index.ts"),
    `import { definePlugin, defineEngine, EngineError, Type } from "service-gateway/sdk";
     import { defineChannel } from "service-gateway/sdk/channel";
     ${body}`,
  );
}

async function startWith(plugins: Readonly<Record<string, string>>, config: object = {}) {
  const directory = temporaryDirectory();
  for (const [id, body] of Object.entries(plugins)) pluginFile(directory, id, body);
  const loopback = createLoopback();
  const ids = Object.keys(plugins);
  const started = await startGateway({
    directory,
    config: {
      channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } },
      plugins: { load: ids.map((id) => `./${id}`), entries: Object.fromEntries(ids.map((id) => [id, { isolation: "worker" }])) },
      ...config,
    },
    plugins: [loopback.plugin],
  });
  onTestFinished(() => started.gateway.close());
  // One that fails before its id is known is reported by its name in the configuration.
  const reasonOf = async (id: string) => (await started.gateway.describe()).plugins.find((plugin) => plugin.id.endsWith(id))?.reason;
  return { ...started, loopback, reasonOf };
}

test("commands, taps, the store, routes, checks and reports", async () => {
  const { gateway, loopback, settled } = await startWith({
    all: `
      let ended = 0;
      export default definePlugin({ id: "all", version: "1.0.0", host: "^0.1.0", setup(host) {
        host.command({ name: "count", summary: "Counts.", role: "anyone",
          run: async ({ args }) => "counted " + await host.store.update("n", (n) => Number(n ?? 0) + Number(args)) });
        host.tap("formatting", (reply) => ({ ...reply, text: reply.text + "!" }));
        host.tap("settled", () => { ended += 1; });
        host.route({ method: "POST", path: "/bytes", access: "public", rawBody: true,
          handler: ({ body }) => ({ type: "text/plain", body: Buffer.from(body).reverse() }) });
        host.route({ method: "GET", path: "/stream", access: "public", handler: () => ({ events: (async function* () { yield 1; })() }) });
        host.check({ name: "fine", explain: async () => ({ verdict: "ok", reason: "all is well" }) });
        host.status(() => [{ source: "all", account: "ended", state: "ok", reason: String(ended), fix: "" }]);
      } });`,
  });
  await settled(await loopback.say("/count 2"));
  await settled(await loopback.say("/count 3"));
  expect(loopback.sent.map(({ text }) => text)).toEqual(["counted 2!", "counted 5!"]);
  const post = await fetch(`${gateway.url}/bytes`, {
    method: "POST",
    body: "abc",
    headers: { "content-type": "application/octet-stream" },
  });
  expect([post.status, await post.text()]).toEqual([200, "cba"]);
  expect((await fetch(`${gateway.url}/stream`)).status).toBe(500);
  await expect.poll(async () => (await gateway.describe()).watched.all?.[0]?.reason).toBe("2");
});

test("an engine streams its turn, and one whose thread ends apologizes with the reason in the trace", async () => {
  const { loopback, settled } = await startWith({
    words: `
      export default defineEngine({ id: "words", version: "1.0.0", host: "^0.1.0",
        async *run(turn) {
          if (turn.inbound.text === "exit") process.exit(5);
          if (turn.inbound.text === "fail") throw new EngineError("model_busy", { detail: "too many words" });
          for (const word of turn.inbound.text.split(" ")) yield { type: "text", delta: word + "." };
          yield { type: "done" };
        } });`,
  });
  await settled(await loopback.say("one two"));
  expect(loopback.sent.map(({ text }) => text)).toEqual(["one.two."]);
  expect(await settled(await loopback.say("fail"))).toMatchObject({ outcome: "failed", reason: "model_busy" });
  const report = await settled(await loopback.say("exit"));
  expect(report).toMatchObject({ outcome: "failed", reason: "worker_ended" });
  expect(JSON.stringify(report.decisions)).toContain("exit code 5");
  await settled(await loopback.say("three"));
  expect(loopback.sent.at(-1)?.text).toBe("three.");
});

const channel = (more: string) =>
  `export default defineChannel({ id: "odd", version: "1.0.0", host: "^0.1.0", options: Type.Object({}), capabilities: { maxChars: 9 },
     open: () => { throw new Error("not opened"); }, ${more} });`;

test.each([
  ["a function of its identity", channel("identity: { fold: (id) => id }"), "identity.fold of the channel odd is a function"],
  ["its check of options", channel("check: () => []"), "check of the channel odd is a function"],
  [
    "a preset's settings",
    `export default definePlugin({ id: "odd", version: "1.0.0", host: "^0.1.0", presets: [{ id: "odd", path: "odd", mappings: [{}] }],
       setup: (host) => void host.preset("odd").settings() });`,
    "host.preset reads settings and secrets at once",
  ],
  [
    "a tap of turn",
    `export default definePlugin({ id: "odd", version: "1.0.0", host: "^0.1.0", setup: (host) => host.tap("turn", () => null) });`,
    "a tap of the station turn returns a stream",
  ],
])("%s cannot cross: the plugin is left out, with the reason", async (_, body, reason) => {
  const { reasonOf } = await startWith({ odd: body });
  expect(await reasonOf("odd")).toContain(`The plugin odd cannot run in a worker: ${reason}`);
});

test("a plugin that exits while it loads is left out, with the reason", async () => {
  const { reasonOf } = await startWith({ odd: "process.exit(6);" });
  expect(await reasonOf("odd")).toMatch(/exit code 6/);
});
