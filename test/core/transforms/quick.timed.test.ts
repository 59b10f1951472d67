import { expect, onTestFinished, test } from "vitest";
import { openWorkshop } from "./workshop.ts";

const rounds = 20;

test("a call with 2 KB takes at most half a millisecond", async () => {
  const quick = openWorkshop({ "a.mjs": "export default ({ payload }) => ({ message: payload.text.slice(0, 10) });" });
  onTestFinished(() => quick.close());
  const payload = { text: "x".repeat(2_000) };
  for (let call = 0; call < 200; call++) await quick.run("a.mjs", payload);
  let median = Number.POSITIVE_INFINITY;
  // What else the machine does may spoil a round; what a call costs it costs in each of them.
  for (let round = 0; round < rounds && median >= 0.5; round += 1) {
    const times: number[] = [];
    for (let call = 0; call < 200; call++) {
      const started = performance.now();
      await quick.run("a.mjs", payload);
      times.push(performance.now() - started);
    }
    median = Math.min(median, times.sort((a, b) => a - b)[100] ?? median);
  }
  expect(median).toBeLessThan(0.5);
});
