/** Strangers cost nothing that lasts. A million of them: `node bench/strangers.ts`. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, expect, test } from "vitest";
import { flood } from "../support/flood.ts";
import { createWire, renderRequest } from "../support/wire.ts";
import { anotherClient, bearer, closeHookGateways, jsonType, startHookGateway } from "./hook-room.ts";

afterAll(closeHookGateways);

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes that are in use when everything that can go has gone. */
async function usedBytes(): Promise<number> {
  for (let round = 0; round < 2; round += 1) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test("fifty thousand different tokens, paths, queries and addresses leave memory usage within a tenth", {
  timeout: 120_000,
}, async () => {
  const room = await startHookGateway({});
  // Fills what has a fixed size: that is no growth.
  await flood({ port: room.port, first: 0, count: 15_000 });
  const before = await usedBytes();
  const statuses = await flood({ port: room.port, first: 1_000_000, count: 50_000 });
  const after = await usedBytes();
  expect(Object.keys(statuses).sort()).toEqual(["401", "404"]);
  expect(Object.values(statuses).reduce((sum, count) => sum + count)).toBe(50_000);
  expect(after).toBeLessThan(before * 1.1);
  expect((await room.post("wake", { text: "x", mode: "next-heartbeat" }, [anotherClient()])).status).toBe(200);
});

test("runs in new sessions and deliveries with unique keys leave nothing in memory", {
  timeout: 120_000,
}, async () => {
  const room = await startHookGateway({
    hooks: { allowRequestSessionKey: true, allowedSessionKeyPrefixes: ["hook:"] },
    config: { agents: { defaults: { heartbeat: { every: "0" }, maxConcurrent: 16 } } },
    answer: () => "NO_REPLY",
  });
  const run = async (first: number, count: number) => {
    const share = async (begin: number) => {
      const wire = createWire(room.port);
      let last = "";
      for (let index = begin; index < first + count; index += 8) {
        const body = JSON.stringify({
          message: "x",
          sessionKey: `hook:${index}`,
          name: `n${index}`,
          deliver: false,
          wakeMode: "next-heartbeat",
        });
        const request = {
          target: "/hooks/agent",
          headers: [bearer, jsonType, ["idempotency-key", `k${index}`]] as const,
          body,
        };
        last = String((await wire.exchange(renderRequest(request))).json?.eventId);
      }
      wire.close();
      await room.host.settled(last);
    };
    await Promise.all(Array.from({ length: 8 }, (_, place) => share(first + place)));
    (room.turns as unknown[]).length = 0;
  };
  await run(0, 400);
  const before = await usedBytes();
  await run(10_000, 1_200);
  expect(await usedBytes()).toBeLessThan(before * 1.1);
});
