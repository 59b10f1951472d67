/** The platform breaks while answers are under way, over real HTTP: each arrives, and is repeated only where its fate is unknown. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { inWorkshop } from "../../bench/cases/processes.ts";
import { runOutage } from "../../bench/soak/outages/outage.ts";
import { faults } from "../../bench/soak/outages/relay.ts";

/** A call is given up after six seconds of silence, which is longer than a busy machine takes for thirty answers; the rest is as shipped. */
const channel = { timeoutSeconds: 6, polling: { timeoutSeconds: 2, stallSeconds: 6 } };
const outages = [1, 3].flatMap((seconds) => faults.map((fault) => ({ fault, seconds })));

test(
  "an outage of 1 or 3 s, of whatever kind, loses no answer, repeats none that was refused, and keeps the order of each chat",
  {
    timeout: 90_000,
  },
  () =>
    inWorkshop(async ({ directory }) => {
      const run = (outage: (typeof outages)[number], index: number) =>
        runOutage({ ...outage, directory: join(directory, String(index)), answers: 30, channel, withinMs: 60_000 });
      const results = await Promise.all(outages.map(run));
      for (const result of results) expect(result).toMatchObject({ lost: 0, violations: [] });
      const repeated = results.map((result) => `${result.fault}: ${result.repeated > 0}`);
      expect(new Set(repeated)).toEqual(new Set(faults.map((fault) => `${fault}: ${!fault.startsWith("50")}`)));
    }),
);
