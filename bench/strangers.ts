/**
 * What strangers can do to a gateway, at full length: `node bench/strangers.ts [--count 1000000] [--slow 500]`.
 *
 * First it sends many requests, each with a different token, path, query and client address, and compares the memory
 * before and after. Then it opens sockets that send a byte a second until the real deadline of 30 s cuts them off,
 * while good requests are timed. Exits with 1 if the memory does not return to within a tenth, if a slow socket is not
 * cut off, or if good requests had to wait.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { flood } from "../test/support/flood.ts";
import { createWire, renderRequest } from "../test/support/wire.ts";
import { beforeEnd } from "./before-end.ts";
import { hookToken, inWorkshop } from "./cases/processes.ts";

const { values } = parseArgs({
  options: { count: { type: "string", default: "1000000" }, slow: { type: "string", default: "500" } },
});
const count = Number(values.count);
const slowSockets = Number(values.slow);
const good = renderRequest({
  target: "/hooks/wake",
  headers: [["authorization", `Bearer ${hookToken}`]],
  body: '{"text":"good","mode":"next-heartbeat"}',
});

async function timesOfGood(port: number, ms: number): Promise<readonly number[]> {
  const wire = createWire(port);
  const times: number[] = [];
  for (const end = performance.now() + ms; performance.now() < end; ) {
    const begun = performance.now();
    const { status } = await wire.exchange(good);
    if (status !== 200) throw new Error(`a good request was answered ${status}`);
    times.push(performance.now() - begun);
    await sleep(10);
  }
  wire.close();
  return times.sort((a, b) => a - b);
}

const share = (sorted: readonly number[], part: number) => sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN;
const line = (times: readonly number[]) =>
  `p50 ${share(times, 0.5).toFixed(2)} ms, p99 ${share(times, 0.99).toFixed(2)} ms`;

/** After how many milliseconds the socket was closed, and how its response begins. */
function slowly(port: number): Promise<{ readonly ms: number; readonly answer: string }> {
  return new Promise((resolve) => {
    const begun = performance.now();
    let answer = "";
    const socket: Socket = connect(port, "127.0.0.1", () => {
      socket.write(
        `POST /hooks/wake HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${hookToken}\r\nContent-Length: 1000\r\n\r\n`,
      );
    });
    const timer = setInterval(() => socket.writable && socket.write(" "), 1_000);
    socket.setEncoding("latin1").on("data", (text: string) => {
      answer += text;
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      clearInterval(timer);
      resolve({ ms: performance.now() - begun, answer: answer.slice(0, 12) });
    });
  });
}

await inWorkshop(async (workshop) => {
  const config = workshop.config("strangers", {
    gateway: { port: 0, trustedProxies: ["127.0.0.1"] },
    hooks: { enabled: true, token: hookToken },
  });
  const child = spawn(process.execPath, [fileURLToPath(new URL("weighed-gateway.ts", import.meta.url)), config], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = beforeEnd(() => child.kill("SIGKILL"));
  try {
    const lines = createInterface({ input: child.stdout });
    const [ready] = (await once(lines, "line")) as [string];
    const port = Number(new URL(ready.replace("ready ", "")).port);
    const weigh = async () => {
      child.stdin.write("\n");
      return JSON.parse(((await once(lines, "line")) as [string])[0]) as {
        readonly used: number;
        readonly resident: number;
      };
    };
    // Fills structures of a fixed size first, because that is not growth.
    await flood({ port, first: 0, count: 25_000 });
    const before = await weigh();
    const begun = performance.now();
    const statuses = await flood({ port, first: 1_000_000, count });
    const seconds = (performance.now() - begun) / 1_000;
    const after = await weigh();
    const mb = (bytes: number) => (bytes / 1e6).toFixed(1);
    const grown = after.used / before.used - 1;
    console.log(`${count} strangers in ${seconds.toFixed(0)} s: ${JSON.stringify(statuses)}`);
    console.log(
      `in use ${mb(before.used)} MB before, ${mb(after.used)} MB after (${(grown * 100).toFixed(1)} %); ` +
        `resident ${mb(before.resident)} and ${mb(after.resident)} MB`,
    );
    if (grown > 0.1 || after.resident > before.resident * 1.1) process.exitCode = 1;

    const alone = await timesOfGood(port, 3_000);
    const slow = Promise.all(Array.from({ length: slowSockets }, () => slowly(port)));
    const beside = await timesOfGood(port, 25_000);
    const ends = await slow;
    const uncut = ends.filter(({ answer, ms }) => answer !== "HTTP/1.1 408" || ms > 35_000);
    console.log(`good requests alone: ${line(alone)}; beside ${slowSockets} slow sockets: ${line(beside)}`);
    console.log(
      `slow sockets cut after ${(Math.min(...ends.map(({ ms }) => ms)) / 1_000).toFixed(1)} to ` +
        `${(Math.max(...ends.map(({ ms }) => ms)) / 1_000).toFixed(1)} s; not cut in time: ${uncut.length}`,
    );
    if (uncut.length > 0 || share(beside, 0.99) > Math.max(50, share(alone, 0.99) * 3)) process.exitCode = 1;
  } finally {
    child.kill("SIGKILL");
    ended();
  }
});
