/**
 * Model servers that send without end, to a gateway in a process of its own: its memory stays, and it answers others meanwhile. With
 * MODEL_FLOOD_MB=1024 in the environment each of them sends a gigabyte.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { hookToken, postHook, startGatewayProcess } from "./room.ts";

const megabytes = Number(process.env.MODEL_FLOOD_MB ?? "60");
const mostGrowthMb = 50;
const mostHealthMs = 100;

const kinds = [
  "well",
  "error",
  "error-lines",
  "line",
  "no-stream",
  "blank",
  "comments",
  "arguments",
  "small-arguments",
  "text",
  "small-text",
  "reasoning",
  "images",
  "closings",
];

async function startServer(): Promise<{ readonly url: string; sent(kind: string): Promise<number> }> {
  const program = join(import.meta.dirname, "..", "openai-server", "flood.ts");
  const child: ChildProcess = spawn(process.execPath, [program], {
    env: { ...process.env, FLOOD_MB: String(megabytes) },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  async function found(pattern: RegExp): Promise<string> {
    await expect.poll(() => out, { timeout: 120_000, interval: 20 }).toMatch(pattern);
    return pattern.exec(out)?.[1] ?? "";
  }
  const port = await found(/port (\d+)/);
  return { url: `http://127.0.0.1:${port}/v1`, sent: async (kind) => Number(await found(new RegExp(`sent ${kind} (\\d+)`))) };
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
}

const model = (name: string) => `flood/${name}`;

test.skipIf(process.platform !== "linux")(
  "each kind of body, endless, costs at most 50 MB and holds nobody up",
  { timeout: 600_000 },
  async () => {
    const server = await startServer();
    const gateway = await startGatewayProcess(
      {
        agents: { defaults: { model: model("well"), models: ["well", ...kinds].map(model), heartbeat: { every: "0" } } },
        models: { providers: { flood: { api: "openai-compatible", baseUrl: server.url } } },
        plugins: { entries: { ai: { options: { retries: 0, chunkMs: 3_000, firstChunkMs: 3_000 } } } },
        hooks: { enabled: true, token: hookToken, allowRequestSessionKey: true },
        log: { level: "error" },
      },
      { alone: true },
    );
    const pid = gateway.child.pid ?? 0;
    const ask = (name: string) =>
      postHook(gateway.url, "agent", { message: "Hello", model: model(name), deliver: false, name, sessionKey: `hook:${name}` });
    for (let count = 0; count < 5; count += 1) expect((await ask("well")).status).toBe(202);
    await delay(1_500);
    const rows: string[] = [];
    let usual = 0;
    for (const kind of kinds) {
      const before = residentMb(pid);
      let peak = before;
      const times: number[] = [];
      let isOver = false;
      const watching = (async () => {
        while (!isOver) {
          const began = performance.now();
          await fetch(`${gateway.url}/healthz`).then((response) => response.text());
          times.push(performance.now() - began);
          peak = Math.max(peak, residentMb(pid));
          await delay(5);
        }
      })();
      expect((await ask(kind)).status, kind).toBe(202);
      const taken = await server.sent(kind);
      await delay(500);
      isOver = true;
      await watching;
      times.sort((one, other) => one - other);
      const p99 = times[Math.floor(times.length * 0.99)] ?? 0;
      const worst = times.at(-1) ?? 0;
      rows.push(
        `${kind}: took ${taken} MB, ${before.toFixed(0)} -> ${peak.toFixed(0)} MB, p99 ${p99.toFixed(0)} ms, worst ${worst.toFixed(0)} ms`,
      );
      expect.soft(peak - before, `${kind}: memory`).toBeLessThan(mostGrowthMb);
      // Beside other work of the machine, an answer takes as long as it does without a flood.
      if (kind === "well") usual = p99;
      expect.soft(p99, `${kind}: /healthz`).toBeLessThan(Math.max(mostHealthMs, 5 * usual));
    }
    if (process.env.MODEL_FLOOD_MB !== undefined) console.log(rows.join("\n"));
  },
);
