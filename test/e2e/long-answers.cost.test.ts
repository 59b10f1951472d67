/**
 * Long answers made to cost, streamed in small pieces and at once: no turn of the event loop works for longer than 100
 * ms, so other requests are answered meanwhile. Model server and platform are in the same thread, so the true cost is
 * below what is measured.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createGateway } from "../../core/index.ts";
import { say, sayAtOnce, write } from "../openai-server/answers.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { slowness } from "../support/cost.ts";
import { temporaryDirectory } from "../support/directory.ts";
import { answers, openChannel, openPlatform, people } from "./room.ts";

async function start() {
  const [platform, server] = await Promise.all([openPlatform(), createOpenAiServer()]);
  const directory = temporaryDirectory();
  const configFile = join(directory, "config.jsonc");
  const config = {
    gateway: { port: 0 },
    state: { dir: "state" },
    agents: { defaults: { model: "local/a" } },
    models: { providers: { local: { api: "openai-compatible", baseUrl: server.url } } },
    channels: { botchat: { ...openChannel(platform), limits: { perBotPerSecond: 0, perChatPerSecond: 0 } } },
  };
  writeFileSync(configFile, JSON.stringify(config));
  const gateway = await createGateway({ configFile, home: directory, environment: {} });
  onTestFinished(async () => {
    await gateway.close();
    await server.close();
  });
  return { platform, server };
}

/** The most processor time that a turn of the event loop takes until `done` resolves, in milliseconds. */
async function worstTurn(done: Promise<unknown>): Promise<number> {
  let worst = 0;
  let isDone = false;
  void done.finally(() => (isDone = true));
  let before = process.threadCpuUsage();
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    const { user, system } = process.threadCpuUsage(before);
    worst = Math.max(worst, (user + system) / 1_000);
    before = process.threadCpuUsage();
  }
  await done;
  return worst;
}

const texts: readonly (readonly [string, string])[] = [
  ["60 kB of bold that never ends", "**a".repeat(20_000)],
  ["a table of 100,000 cells", `|a|b|\n|-|-|\n${"|c|d|\n".repeat(50_000)}`],
  ["50 kB of images that never end", "![".repeat(25_000)],
  ["60 kB of nested lists and quotes", "> - > - a\n".repeat(6_000)],
  ["100 kB of links", "[a link](https://example.com/a) and ".repeat(2_800)],
  ["900 kB of plain text", "Words without a mark, and more of them. ".repeat(22_500)],
];

test.each(
  texts.flatMap(([name, text]) => [
    [`${name}, streamed in small pieces`, write(text, { charsPerSecond: text.length / 3 })] as const,
    [`${name}, in one piece`, sayAtOnce(text)] as const,
  ]),
)("%s", { timeout: 120_000 }, async (name, answer) => {
  const { platform, server } = await start();
  const [ada = 0] = people(platform);
  const shows = (end: string) =>
    expect.poll(() => answers(platform, ada).at(-1)?.endsWith(end), { timeout: 100_000, interval: 100 }).toBe(true);
  server.script(say(`Warm **a** [b](c) |d|. ${"*e* ".repeat(300)}Warm`), answer, say("The end"));
  platform.act.say(ada, ada, "warm");
  await shows("Warm");
  platform.act.say(ada, ada, "long");
  platform.act.say(ada, ada, "end");
  const worst = await worstTurn(shows("The end"));
  if (process.env.SHOW !== undefined) console.log(`${name}: ${worst.toFixed(0)} ms`);
  expect(worst).toBeLessThan(100 * (await slowness()));
});
