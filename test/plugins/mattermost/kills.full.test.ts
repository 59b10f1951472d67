/** The real program is killed in mid-send, fifty times: nothing is lost, and nothing is there twice. */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { kill, restart, startGatewayProcess, stop } from "../../e2e/room.ts";
import { root } from "../../house/sources.ts";
import { startMattermost } from "../../support/mattermost/server.ts";

const kills = 50;

test(`${kills} kills in mid-send: each message is answered once`, async () => {
  const server = await startMattermost();
  onTestFinished(() => server.close());
  const { ada, bot, chat } = server;
  const config = {
    plugins: { load: [join(root, "plugins", "mattermost")], entries: { echo: { options: { delayMs: 0 } } } },
    agents: { defaults: { engine: "echo" } },
    channels: { mattermost: { url: server.url, token: bot.token, dmPolicy: "open", allowFrom: ["*"] } },
  };
  let gateway = await startGatewayProcess(config);
  const answers = () => server.posts(chat, bot).map(({ message }) => message);
  const sends = () => server.calls.filter(({ method, path }) => method === "POST" && path === "posts").length;
  const expected: string[] = [];
  for (let round = 1; round <= kills; round += 1) {
    const text = `message number ${round}`;
    expected.push(text);
    // The server has it and never says so; or it never gets it; or the kill comes at some moment.
    const kind = (["hang", "stall", undefined] as const)[round % 3];
    const stalled = Promise.withResolvers<void>();
    if (kind !== undefined) server.faults.add({ kind, call: /^POST posts$/, happened: stalled.resolve });
    const before = sends();
    server.say(ada, chat, text);
    if (kind === undefined) {
      await expect.poll(sends, { interval: 1, timeout: 30_000 }).toBeGreaterThan(before - 1);
      await delay(round * 2);
    } else await stalled.promise;
    await kill(gateway);
    gateway = await restart(gateway);
    await expect.poll(() => answers().filter((answer) => answer.includes(text)).length, { timeout: 60_000 }).toBe(1);
  }
  await delay(1_000);
  expect(answers().map((answer) => expected.find((text) => answer.endsWith(text)))).toEqual(expected);
  await stop(gateway);
}, 900_000);
