/** What modules that misbehave cost the others, and what a rest costs the first call after it. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { openWorkshop, type Workshop } from "./workshop.ts";

const files = {
  "good.mjs": "export default ({ payload }) => ({ message: String(payload.n) });",
  "mixed.mjs": "export default ({ payload }) => { if (payload.loop) for (;;); return { message: 'fine' }; };",
  "waits.mjs":
    "export default async () => { await new Promise((resolve) => setTimeout(resolve, 500)); return { " +
    "message: 'waited' }; };",
};

function open(options: Parameters<typeof openWorkshop>[1] = {}): Workshop {
  // The limits that a configuration has without any.
  const shop = openWorkshop(files, { cpuMs: 1_000, timeoutSeconds: 5, ...options });
  onTestFinished(() => shop.close());
  return shop;
}

async function timeOf(call: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await call();
  return performance.now() - begun;
}

const quantile = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? 0;

/** A thread that only answers: what it takes is what the machine takes. */
function openEcho(): () => Promise<unknown> {
  const code =
    "const { parentPort } = require('node:worker_threads'); parentPort.on('message', (n) => " +
    "parentPort.postMessage(n));";
  const worker = new Worker(code, { eval: true });
  onTestFinished(async () => void (await worker.terminate()));
  return async () => {
    const answer = once(worker, "message");
    worker.postMessage(0);
    await answer;
  };
}

test("four endless loops delay other modules' calls by at most 100 ms at p99, calls of the same by 3 s", async () => {
  const shop = open();
  await shop.run("good.mjs", { n: 0 });
  const echo = openEcho();
  await echo();
  const machine: number[] = [];
  const others: number[] = [];
  const same: number[] = [];
  // The first loops make the module known as slow. The second ones, which are long, find it limited by that as well.
  for (const cpuMs of [500, 1_000]) {
    shop.settings = { ...shop.settings, cpuMs };
    const loops = Promise.allSettled(Array.from({ length: 4 }, () => shop.run("mixed.mjs", { loop: true })));
    let looping = true;
    void loops.then(() => {
      looping = false;
    });
    const beside = [0, 1].map(() => timeOf(() => shop.run("mixed.mjs", {})));
    for (let n = 0; n < 150 || looping; n += 1) {
      machine.push(await timeOf(echo));
      others.push(await timeOf(() => shop.run("good.mjs", { n })));
      await sleep(5);
    }
    same.push(...(await Promise.all(beside)));
    for (const { status } of await loops) expect(status).toBe("rejected");
  }
  expect(others.length).toBeGreaterThanOrEqual(300);
  // A thread that waits for a processor does so in both.
  const busy = quantile(machine, 0.99);
  expect(quantile(others, 0.99)).toBeLessThanOrEqual(Math.max(100, 4 * busy));
  expect(Math.max(...same)).toBeLessThanOrEqual(Math.max(3_000, 100 * busy));
}, 60_000);

test("eight simultaneous waits of 500 ms end after 600 ms", async () => {
  const shop = open();
  await shop.run("waits.mjs");
  const one = await timeOf(() => shop.run("waits.mjs"));
  const took = await timeOf(() => Promise.all(Array.from({ length: 8 }, () => shop.run("waits.mjs"))));
  expect(took - one).toBeLessThanOrEqual(Math.max(100, (one - 500) * 8));
});

test("the first call after a pause takes at most 40 ms longer, although all threads but one have ended", async () => {
  const shop = open({ idleMs: 50, cpuMs: 200 });
  await Promise.allSettled([
    ...Array.from({ length: 4 }, () => shop.run("mixed.mjs", { loop: true })),
    shop.run("good.mjs", { n: 0 }),
  ]);
  const busy = await timeOf(() => shop.run("good.mjs", { n: 1 }));
  const rested: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    await sleep(200);
    rested.push(await timeOf(() => shop.run("good.mjs", { n: round })));
  }
  // What else the machine does may spoil a call or two; what a rest costs it costs in each.
  expect(quantile(rested, 0.5) - busy).toBeLessThanOrEqual(40);
});
