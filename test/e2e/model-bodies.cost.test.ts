/**
 * Model servers that send without end, to a gateway in a process of its own: its memory stays, and it answers others
 * meanwhile. With MODEL_FLOOD_MB=1024 in the environment each of them sends a gigabyte, and what was measured is
 * printed.
 *
 * What else the machine does changes neither limit. V8 ends a process that keeps more than its heap may have; without
 * that limit, the size of a process says how seldom garbage is collected. A request waits for the turn of the event
 * loop that is under way, and that is measured in processor time.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { ownFlags, temporaryHome } from "../core/cli/command.ts";
import { slowness } from "../support/cost.ts";
import type { LoopTurns } from "../support/loop-turns.ts";
import { hookToken, postHook, startGatewayProcess } from "./room.ts";

const megabytes = Number(process.env.MODEL_FLOOD_MB ?? "60");
const mostGrowthMb = 50;
/** A gateway that has answered a few messages keeps 46 MB in it. */
const heapMb = 46 + mostGrowthMb;
const mostTurnMs = 100;

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
  return {
    url: `http://127.0.0.1:${port}/v1`,
    sent: async (kind) => Number(await found(new RegExp(`sent ${kind} (\\d+)`))),
  };
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
}

const model = (name: string) => `flood/${name}`;

async function startMeasured(baseUrl: string) {
  const home = temporaryHome();
  const file = join(home, "turns.json");
  const gateway = await startGatewayProcess(
    {
      agents: { defaults: { model: model("well"), models: ["well", ...kinds].map(model), heartbeat: { every: "0" } } },
      models: { providers: { flood: { api: "openai-compatible", baseUrl } } },
      plugins: { entries: { ai: { options: { retries: 0, chunkMs: 30_000, firstChunkMs: 30_000 } } } },
      hooks: { enabled: true, token: hookToken, allowRequestSessionKey: true },
      log: { level: "error" },
    },
    {
      home,
      nodeArgs: [
        ...ownFlags,
        `--max-old-space-size=${heapMb}`,
        "--import",
        join(import.meta.dirname, "..", "support", "loop-turns.ts"),
      ],
      env: { LOOP_TURNS: file },
    },
  );
  return {
    gateway,
    /** Since the last call. */
    async turns(): Promise<LoopTurns> {
      rmSync(file, { force: true });
      gateway.child.kill("SIGUSR2");
      await expect.poll(() => existsSync(file)).toBe(true);
      return JSON.parse(readFileSync(file, "utf8")) as LoopTurns;
    },
  };
}

test.skipIf(process.platform !== "linux")(
  "an endless body of each type costs at most 50 MB and delays no other request",
  { timeout: 600_000 },
  async () => {
    const server = await startServer();
    const { gateway, turns } = await startMeasured(server.url);
    const pid = gateway.child.pid ?? 0;
    const ask = (name: string) =>
      postHook(gateway.url, "agent", {
        message: "Hello",
        model: model(name),
        deliver: false,
        name,
        sessionKey: `hook:${name}`,
      });
    for (let count = 0; count < 5; count += 1) expect((await ask("well")).status).toBe(202);
    await delay(1_500);
    for (const kind of kinds) {
      await turns();
      const before = residentMb(pid);
      let peak = before;
      let isOver = false;
      const statuses = new Set<number>();
      const watching = (async () => {
        while (!isOver) {
          statuses.add((await fetch(`${gateway.url}/healthz`)).status);
          peak = Math.max(peak, residentMb(pid));
          await delay(5);
        }
      })();
      expect((await ask(kind)).status, kind).toBe(202);
      const taken = await server.sent(kind);
      await delay(500);
      isOver = true;
      await watching;
      const { longest, total } = await turns();
      const row =
        `${kind}: took ${taken} MB, ${before.toFixed(0)} -> ${peak.toFixed(0)} MB, longest turn ` +
        `${longest.toFixed(0)} of ${total.toFixed(0)} ms`;
      if (process.env.MODEL_FLOOD_MB !== undefined) console.log(row);
      expect.soft(peak - before, `memory: ${row}`).toBeLessThan(mostGrowthMb);
      expect.soft(longest, `turns: ${row}`).toBeLessThan(mostTurnMs * (await slowness()));
      expect.soft([...statuses], kind).toEqual([200]);
    }
    // V8 would have ended it.
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  },
);
