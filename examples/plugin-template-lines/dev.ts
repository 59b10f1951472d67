/** `npm run dev`: write to your channel in this terminal. The platform is that of the tests; without a model the echo engine answers. */
import { mkdirSync, rmSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
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
watch(join(folder, "src"), { recursive: true }, () => {
  clearTimeout(saved);
  saved = setTimeout(() => {
    gateway = gateway.then((running) => running.close()).then(start);
    gateway.then(() => console.log("Restarted with the saved files."), console.error);
  }, 100);
}).unref();

await gateway;
console.log("Write a line. Saved files in src apply at once; Ctrl+C ends it.");
for await (const line of createInterface({ input: process.stdin })) await platform.write(line);
await (await gateway).close();
await platform.close();
