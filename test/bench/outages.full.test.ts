/**
 * The platform breaks while answers are under way, over real HTTP: each arrives, and is repeated only where its fate is
 * unknown.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { inWorkshop } from "../../bench/cases/processes.ts";
import { runOutage } from "../../bench/soak/outages/outage.ts";
import { faults } from "../../bench/soak/outages/relay.ts";

/** Only what is silent waits for this: a call, and a poll, are given up after six seconds. The rest is as shipped. */
const silent = { timeoutSeconds: 6, polling: { timeoutSeconds: 2, stallSeconds: 6 } };
const outages = [
  ...faults.map((fault) => ({ fault, seconds: 3 })),
  { fault: "closed", seconds: 1 },
  { fault: "silence", seconds: 1 },
] as const;

test(
  "an outage of 1 or 3 s loses no reply, repeats no refused reply, and keeps the order of each chat",
  // Again where the machine had so much other work that a platform that answers took six seconds.
  { timeout: 90_000, retry: 2 },
  () =>
    inWorkshop(async ({ directory }) => {
      const run = (outage: (typeof outages)[number], index: number) =>
        runOutage({
          ...outage,
          directory: join(directory, String(index)),
          answers: 30,
          channel: outage.fault === "silence" ? silent : {},
          withinMs: 60_000,
        });
      const results = await Promise.all(outages.map(run));
      const broken = results.map(({ fault, seconds, lost, violations }) => ({ fault, seconds, lost, violations }));
      expect(broken.filter(({ lost, violations }) => lost > 0 || violations.length > 0)).toEqual([]);
      const repeated = results.map((result) => `${result.fault}: ${result.repeated > 0}`);
      expect(new Set(repeated)).toEqual(new Set(faults.map((fault) => `${fault}: ${!fault.startsWith("50")}`)));
    }),
);
