/**
 * A pile-up of wakes: accepts many over HTTP while no heartbeat runs, then one that requests a turn at once. Prints how
 * long the acceptances took, how many rows and bytes remain, and what the model received. Run: `node
 * --conditions=service-gateway-source bench/pile-up.ts [--wakes 300000] [--connections 64]`.
 */
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createGateway } from "../core/gateway/gateway.ts";
import { openSqliteStore } from "../core/state/sqlite/index.ts";
import { createEngine } from "../test/support/gateway.ts";
import { countOf, readCommandLine } from "./command-line.ts";

const help = `Accepts wakes while no heartbeat runs, then one that asks for a turn.
Prints rows, bytes and what the model was sent.

Usage: node --conditions=service-gateway-source bench/pile-up.ts [options]

  --wakes N        so many wakes (300000)
  --connections N  so many at once (64)`;

const { values } = readCommandLine(
  { options: { wakes: { type: "string", default: "300000" }, connections: { type: "string", default: "64" } } },
  help,
);
const wakes = countOf("--wakes", values.wakes);
const connections = countOf("--connections", values.connections);
const token = "pile-up-token-0123456789";

/** What the model received. */
const prompts: string[] = [];
const engine = createEngine((turn) => {
  prompts.push(turn.messages.at(-1)?.text ?? "");
  return "Noted.";
});
const directory = mkdtempSync(join(tmpdir(), "pile-up-"));
const configFile = join(directory, "config.jsonc");
writeFileSync(
  configFile,
  JSON.stringify({
    gateway: { port: 0 },
    state: { dir: "state" },
    agents: { defaults: { engine: "scripted", heartbeat: { every: "0" } } },
    hooks: { enabled: true, token },
  }),
);
const gateway = await createGateway({ configFile, environment: {}, bundled: false, plugins: [engine] });
const agent = new Agent({ keepAlive: true, maxSockets: connections });
const url = `${gateway.url}/hooks/wake`;
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

function wake(text: string, mode: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent, headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", reject);
    sent.end(JSON.stringify({ text, mode }));
  });
}

let next = 0;
let refused = 0;
async function send(): Promise<void> {
  while (next < wakes) {
    next += 1;
    if ((await wake(`Sensor ${next} reports that its door was opened and closed again.`, "next-heartbeat")) !== 200)
      refused += 1;
  }
}

const store = await openSqliteStore({ directory: gateway.stateDirectory, now: Date.now });
const sizeOf = (name: string) => statSync(join(gateway.stateDirectory, name), { throwIfNoEntry: false })?.size ?? 0;
try {
  const began = performance.now();
  await Promise.all(Array.from({ length: connections }, send));
  const seconds = (performance.now() - began) / 1_000;
  const { waiting, settled } = await store.stats();
  console.log(`${wakes} wakes in ${seconds.toFixed(1)} s (${Math.round(wakes / seconds)}/s), ${refused} refused`);
  console.log(
    `${waiting} wait, ${settled.silent} left out; state.db ${sizeOf("state.db")} bytes, -wal ` +
      `${sizeOf("state.db-wal")} bytes`,
  );
  const asked = performance.now();
  await wake("The last one.", "now");
  while (prompts.length === 0) await delay(20);
  const answeredAfter = Math.round(performance.now() - asked);
  await delay(2_000);
  const [prompt = ""] = prompts;
  console.log(`${prompts.length} model calls, the first after ${answeredAfter} ms, ${prompt.length} characters`);
  console.log(
    `the model reads: ${/\d+ earlier events were left out\./.exec(prompt)?.[0] ?? "nothing of what was left out"}`,
  );
  const before = performance.now();
  await store.prune({
    now: Date.now(),
    keepEventsMs: 7 * 24 * 3_600_000,
    keepEvents: 100_000,
    keepSentMs: 30 * 24 * 3_600_000,
  });
  const after = await store.stats();
  console.log(
    `after a prune of ${Math.round(performance.now() - before)} ms: ${after.waiting} wait; state.db ` +
      `${sizeOf("state.db")} bytes`,
  );
} finally {
  agent.destroy();
  await store.close();
  await gateway.close();
  rmSync(directory, { recursive: true, force: true });
}
