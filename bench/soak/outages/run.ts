/** The table of outages: each fault for each length, each against its own gateway, all at the same time. */
import { join } from "node:path";
import { inWorkshop } from "../../cases/processes.ts";
import { type Outage, type OutageResult, runOutage } from "./outage.ts";
import { faults } from "./relay.ts";

const lengths = [1, 3, 30, 300];
const answers = 30;
/** An unanswered call is given up after this time. When the platform recovers, the next probe may be a minute away. */
const channel = { timeoutSeconds: 10, polling: { timeoutSeconds: 10, stallSeconds: 30 } };
const withinMs = 120_000;

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

function line({
  fault,
  seconds: length,
  lost,
  twice,
  repeated,
  recoveredMs,
  otherAccountMs,
  violations,
}: OutageResult): string {
  const verdict = violations.length === 0 ? "ok  " : "FAIL";
  const what = `${fault.padEnd(20)} ${String(length).padStart(3)} s`;
  return (
    `${verdict} ${what}  ${lost} lost, ${repeated} repeated, ${twice} there twice, all there ` +
    `${seconds(recoveredMs)} after its end, another account answered in ${seconds(otherAccountMs)}`
  );
}

/** Resolves with the number of violated rules. */
export async function runOutages(): Promise<number> {
  const cases = lengths.flatMap((length) => faults.map((fault): Outage => ({ fault, seconds: length })));
  console.log(`soak: ${cases.length} outages of up to ${Math.max(...lengths)} s, ${answers} answers under way in each`);
  const broken = await inWorkshop(async ({ directory }) => {
    const run = async (outage: Outage, index: number) => {
      const result = await runOutage({
        ...outage,
        directory: join(directory, String(index)),
        answers,
        channel,
        withinMs,
      });
      console.log(line(result));
      for (const violation of result.violations.slice(0, 5)) console.log(`     ${violation}`);
      return result.violations.length;
    };
    const counts = await Promise.all(cases.map(run));
    return counts.reduce((all, some) => all + some, 0);
  });
  console.log(broken === 0 ? "1 passed, 0 failed" : `0 passed, 1 failed: ${broken} violations`);
  return broken;
}
