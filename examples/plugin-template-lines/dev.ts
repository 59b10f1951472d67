/**
 * `npm run dev`: write to your channel in this terminal. The platform is that of the tests; without a model the
 * echo engine answers.
 */
import { mkdirSync, rmSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { createGateway } from "service-gateway";
import { options } from "./test/fixtures.ts";
import { openPlatform } from "./test/platform.ts";

const folder = import.meta.dirname;
const state = join(folder, ".dev");
const configFile = join(state, "config.json");
const platform = await openPlatform((text) => console.log(`bot: ${text}`));
const config = {
  gateway: { port: 0 },
  state: { dir: "state" },
  log: { level: "warn" },
  plugins: { load: [folder], entries: { echo: { options: { delayMs: 0 } } } },
  channels: { "acme-chat": { ...options, ...platform.options, dmPolicy: "open", allowFrom: ["*"] } },
};
// The platform starts empty each time, so the gateway must not know its earlier events.
rmSync(state, { recursive: true, force: true });
mkdirSync(state);
writeFileSync(configFile, JSON.stringify(config, null, 2));

const start = () => createGateway({ configFile, print: "human", fresh: true });
let gateway = start();

/** An editor saves a file in several steps: only the last one restarts. */
let saved: NodeJS.Timeout | undefined;
const watcher = watch(join(folder, "src"), { recursive: true }, () => {
  clearTimeout(saved);
  saved = setTimeout(() => {
    gateway = gateway.then((running) => running.close()).then(start);
    gateway.then(() => console.log("Restarted with the saved files."), console.error);
  }, 100);
});

await gateway;
console.log("Write a line. Saved files in src apply at once; Ctrl+C ends it.");
let written = 0;
for await (const line of createInterface({ input: process.stdin })) {
  await platform.write(line);
  written += 1;
}
await repliesSent(written);
watcher.close();
await (await gateway).close();
await platform.close();

/**
 * Piped input ends before its replies are there: resolves when so many messages have ended, or after a minute.
 */
async function repliesSent(messages: number): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(50)) {
    const { settled, outboxWaiting } = (await (await gateway).describe()).stats;
    const ended = Object.values(settled).reduce((all, count) => all + count, 0);
    if (ended >= messages && outboxWaiting === 0) return;
  }
}
