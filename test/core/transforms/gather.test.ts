import { afterAll, expect, test } from "vitest";
import { createGatherer } from "../../../core/transforms/gather.ts";
import type { Seat } from "../../../core/transforms/seat.ts";
import { openWorkshop } from "./workshop.ts";

const shop = openWorkshop(
  {
    "some.mjs":
      "export default ({ payload }) => { if (payload.does === 'hang') for (;;); if (payload.does === 'exit') process.exit(1); return { message: payload.does }; };",
  },
  { timeoutSeconds: 0.7 },
);
afterAll(() => shop.close());

test.each(["hang", "exit"])("of calls that come together, one that does %s is the only one that fails", async (does) => {
  await shop.run("some.mjs", { does: "warm" });
  // Many more than travel together, and the culprit in the midst of them.
  const calls = Array.from({ length: 60 }, (_, index) => (index === 20 ? does : `call ${index}`));
  const results = await Promise.allSettled(calls.map((what) => shop.run("some.mjs", { does: what })));
  const told = results.map((result) => (result.status === "fulfilled" ? (result.value as { message: string }).message : "failed"));
  expect(told).toEqual(calls.map((what) => (what === does ? "failed" : what)));
});

test("a module's queue has an end", async () => {
  const results = await Promise.allSettled(Array.from({ length: 1_000 }, () => shop.run("some.mjs", { does: "much" })));
  const refused = results.filter((result) => result.status === "rejected");
  expect(refused.length).toBeGreaterThan(300);
  expect(refused.map(({ reason }) => (reason as Error).message)).toContain("600 calls of this transform wait already");
  expect(await shop.run("some.mjs", { does: "after" })).toEqual({ message: "after" });
});

test("a call that gets no process in time is given up, and the next one is served", async () => {
  const free = Promise.withResolvers<void>();
  const seat = { callAll: (calls: readonly object[]) => calls.map(() => Promise.resolve({ message: "ran" })) } as unknown as Seat;
  const gatherer = createGatherer({
    use: async (_module, work) => {
      await free.promise;
      await work(seat);
    },
    mostProcesses: 1,
    timeoutMs: () => 1_000,
    waitMs: 50,
    again: () => false,
  });
  await expect(gatherer.run("some.mjs", { context: {} })).rejects.toThrow("It waited 0.05 s for a free process");
  const late = gatherer.run("some.mjs", { context: {} });
  free.resolve();
  expect(await late).toEqual({ message: "ran" });
});
