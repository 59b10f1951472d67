/** `service dev FOLDER`: a plugin that is being written is replaced in the running gateway when its files are saved. */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aroundEach, test } from "vitest";
import { start, temporaryHome } from "../core/cli/command.ts";
import { startGateway } from "../core/cli/gateway-runner.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import { answered, configure, openChannel, openPlatform, people, stop } from "./room.ts";

aroundEach(inOwnTest);

/** An engine that says which version of it answers, and waits until a text after `wait` was written beside it. */
const plugin = (words: string, change: (source: string) => string = (source) => source): string =>
  change(`import { words } from "./words.ts";
import { defineEngine, definePlugin } from "service-gateway/sdk";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const version: string = ${JSON.stringify(words)};

export default definePlugin({
  id: "parrot",
  version: "1.0.0",
  host: "^0.2.0",
  setup(host) {
    let closed = false;
    host.onClose(() => {
      closed = true;
      host.log.info({ version }, "an instance closed");
    });
    host.engine({
      id: "parrot",
      async *run(turn) {
        const text = (turn.messages.at(-1)?.text ?? "").replace(/^\\[.*?\\] /, "");
        const [, file] = /wait (\\S+)/.exec(text) ?? [];
        while (file !== undefined && !existsSync(file)) await sleep(10);
        yield { type: "text", delta: \`\${version} \${words} heard \${text}\${closed ? " after its close" : ""}\` };
        yield { type: "done" };
      },
    });
    host.tap("gating", async ({ text }) => {
      const [, file] = /hold (\\S+)/.exec(text) ?? [];
      if (file !== undefined) host.log.info({ version }, "a message is held");
      while (file !== undefined && !existsSync(file)) await sleep(10);
    });
    host.command({ name: "which", summary: "Says which version runs.", role: "allowed", run: async () => \`command \${version}\` });
    host.tap("formatting", (reply) => ({ ...reply, text: \`\${reply.text} [\${version}]\` }));
  },
});
`);

/** As an editor saves: another file takes the place. */
function save(file: string, text: string): void {
  writeFileSync(`${file}.tmp`, text);
  renameSync(`${file}.tmp`, file);
}

/** Writes the first version of the plugin into a folder of its own. */
function writeParrot(home: string): { readonly folder: string; readonly index: string } {
  const folder = join(home, "parrot");
  mkdirSync(folder);
  const index = join(folder, "index.ts");
  save(join(folder, "words.ts"), `export const words: string = "has";\n`);
  save(index, plugin("first"));
  return { folder, index };
}

/** `dev` with the first version, on a platform where two people write. */
async function openParrot(more: object = {}) {
  const platform = await openPlatform();
  const [ada = 0, bela = 0] = people(platform);
  const home = temporaryHome();
  const parrot = writeParrot(home);
  const file = configure(home, {
    agents: { defaults: { engine: "parrot" } },
    // A turn of one person does not wait for that of another.
    session: { dmScope: "per-peer" },
    channels: { botchat: openChannel(platform) },
    ...more,
  });
  const dev = startGateway(["dev", parrot.folder, "--config", file], { home });
  await dev.until(/take effect when they are saved/);
  return { ...parrot, platform, ada, bela, home, dev };
}

/** Saves another version during a turn, which ends on the first one, as the next message meets the second. */
async function swapInATurn({
  platform,
  ada,
  bela,
  home,
  index,
  dev,
}: Awaited<ReturnType<typeof openParrot>>): Promise<void> {
  const gate = join(home, "gate");
  platform.act.say(ada, ada, `wait ${gate}`);
  await expect.poll(() => platform.calls.list({ method: "sendChatAction" }).length).toBeGreaterThan(1);
  save(index, plugin("second"));
  const swapped = await dev.until(/parrot was replaced \d+ ms after the save/);
  console.log(/parrot was replaced.*/.exec(swapped)?.[0]);
  platform.act.say(bela, bela, "two");
  await answered(platform, bela, "second has heard two [second]");
  save(gate, "");
  await answered(platform, ada, `first has heard wait ${gate} [first]`);
  await dev.until(/an instance closed/);
}

test.concurrent("a save replaces the plugin, a broken one keeps the last good version; running work ends on the old", {
  timeout: 120_000,
}, async () => {
  const parrot = await openParrot();
  const { platform, ada, bela, folder, index, dev } = parrot;
  const greetings = () => platform.calls.list({ method: "getMe" }).length;
  platform.act.say(ada, ada, "one");
  await answered(platform, ada, "first has heard one [first]");
  await dev.until(/answered after .*botchat update \w+: ingress .* > turn done.* > formatting .* > delivery /);

  // A turn that runs ends where it began, also at the later stations.
  await swapInATurn(parrot);

  // Syntax, declaration, setup, an import: one sentence with file and line each.
  save(
    index,
    plugin("third", (source) => source.replace(`version: "1.0.0",`, `version: "1.0.0"`)),
  );
  await dev.until(/index\.ts:11: The plugin \S+ cannot be loaded: .* The last good version keeps running\./);
  save(
    index,
    plugin("third", (source) => source.replace(`version: "1.0.0"`, `version: "one"`)),
  );
  await dev.until(
    /index\.ts:10: The declaration of the plugin parrot is invalid: its version must be .* The last good version keeps running\./,
  );
  save(
    index,
    plugin("third", (source) => source.replace("setup(host) {", `setup(host) {\n    throw new Error("no idea");`)),
  );
  await dev.until(/index\.ts:13: The plugin parrot failed in setup: no idea\. The last good version keeps running\./);
  save(
    index,
    plugin("third", (source) => source.replace("./words.ts", "./verbs.ts")),
  );
  await dev.until(
    /index\.ts:1: The plugin \S+ cannot be loaded: Cannot find module '\.\/verbs\.ts'.* The last good version keeps running\./,
  );
  platform.act.say(bela, bela, "three");
  await answered(platform, bela, "second has heard three [second]");

  // A route that was not there at the start, with the access and the errors of the others.
  const url = /ready at (http:\S+?)\.?\s/.exec(await dev.until(/ready at http:\S+/))?.[1] ?? "";
  const ask = (path: string, options: RequestInit = {}) => fetch(new URL(`/plugins/parrot/${path}`, url), options);
  expect((await ask("words")).status).toBe(404);
  save(
    index,
    plugin("second", (source) =>
      source.replace(
        "host.engine({",
        `host.route({ method: "POST", path: "words", access: "public", rawBody: true, handler: ({ body }) => ({ body: \`said \${body}\` }) });
    host.route({ method: "GET", path: "secret/:name", access: "gateway", handler: () => ({ body: "none" }) });
    host.engine({`,
      ),
    ),
  );
  await dev.until(/(?:parrot was replaced[\s\S]*){2}/);
  expect(await (await ask("words", { method: "POST", body: "a word" })).text()).toBe("said a word");
  const wrong = await ask("words");
  expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
  expect((await ask("secret/of-the-parrot")).status).toBe(401);
  expect((await ask("wards", { method: "POST", body: "" })).status).toBe(404);

  // Mended; then a file that it imports.
  save(index, plugin("fourth"));
  await dev.until(/(?:parrot was replaced[\s\S]*){3}/);
  // The routes went with their version.
  expect((await ask("words", { method: "POST", body: "a word" })).status).toBe(404);
  save(join(folder, "words.ts"), `export const words: string = "surely";\n`);
  await dev.until(/(?:parrot was replaced[\s\S]*){4}/);
  platform.act.say(bela, bela, "four");
  await answered(platform, bela, "fourth surely heard four [fourth]");
  expect(greetings(), "the account of the channel was never opened again").toBe(1);

  // A version that writes into its folder does not replace itself for ever.
  const writes = `let closed = false;\n    appendFileSync(new URL("runs.txt", import.meta.url), "run\\n");`;
  save(
    index,
    plugin("fifth", (source) =>
      source.replace("let closed = false;", writes).replace("{ existsSync }", "{ appendFileSync, existsSync }"),
    ),
  );
  await dev.until(
    /runs\.txt changes whenever the plugin is replaced, so its changes do not replace the plugin any more\./,
  );
  await stop(dev);
});

test.concurrent("a message held before its turn ends with the engine and command of the version that received it", {
  timeout: 120_000,
}, async () => {
  const { platform, ada, bela, home, index, dev } = await openParrot();
  const gate = join(home, "gate");
  platform.act.say(ada, ada, `hold ${gate}`);
  platform.act.say(bela, bela, `/which hold ${gate}`);
  await dev.until(/(?:a message is held[\s\S]*){2}/);
  save(index, plugin("second"));
  await dev.until(/parrot was replaced/);
  save(gate, "");
  await answered(platform, ada, `first has heard hold ${gate} [first]`);
  await answered(platform, bela, "command first [first]");
  platform.act.say(bela, bela, "/which");
  await answered(platform, bela, "command second [second]");
  await stop(dev);
});

test.concurrent("a plugin in a worker is replaced in a new worker, and a version that ends its thread is rejected", {
  timeout: 120_000,
}, async () => {
  const parrot = await openParrot({
    plugins: { entries: { echo: { options: { delayMs: 0 } }, parrot: { isolation: "worker" } } },
  });
  const { platform, bela, folder, index, dev } = parrot;
  await swapInATurn(parrot);
  save(
    index,
    plugin("third", (source) => source.replace("setup(host) {", "setup(host) {\n    process.exit(3);")),
  );
  await dev.until(/parrot.*exit code 3.*The last good version keeps running\./);
  platform.act.say(bela, bela, "three");
  await answered(platform, bela, "second has heard three [second]");
  save(join(folder, "words.ts"), `export const words: string = "surely";\n`);
  save(index, plugin("fourth"));
  await dev.until(/(?:parrot was replaced[\s\S]*){2}/);
  platform.act.say(bela, bela, "four");
  await answered(platform, bela, "fourth surely heard four [fourth]");
  await stop(dev);
});

test.concurrent("a channel without an account reports where to add one", async () => {
  const home = temporaryHome();
  const folder = join(home, "harbour");
  mkdirSync(folder);
  save(
    join(folder, "index.ts"),
    `import { defineChannel } from "service-gateway/sdk/channel";
import { Type } from "service-gateway/sdk";

export default defineChannel({
  id: "harbour",
  version: "1.0.0",
  host: "^0.2.0",
  options: Type.Object({}),
  capabilities: { maxChars: 400 },
  open: () => ({ start: async () => {}, parse: () => undefined, render: () => [], send: async () => ({ messageId: "1" }), close: async () => {} }),
});
`,
  );
  const dev = startGateway(["dev", folder, "--port", "0", "--page-port", "0"], { home });
  await dev.until(
    /The channel harbour has no account yet\. Add "channels": \{ "harbour": \{ \.\.\. \} \} with its options to \S+config\.jsonc\./,
  );
  dev.child.kill("SIGTERM");
  await dev.finished;
});

test.concurrent("a gateway also starts under node --watch", async () => {
  const home = temporaryHome();
  const { folder } = writeParrot(home);
  const dev = start(["dev", folder, "--config", configure(home, {})], { home, nodeArgs: ["--watch"] });
  // Node's own process ends the gateway that it watches, if it is asked to.
  onTestFinished(async () => {
    dev.child.kill("SIGTERM");
    await dev.finished;
  });
  await dev.until(/ready at http/);
  await dev.until(/take effect when they are saved/);
});
