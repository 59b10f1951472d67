import { expect, test } from "vitest";
import { createTerminal } from "../../../core/cli/output/terminal.ts";
import { progressLines } from "../../../core/cli/state/progress.ts";

interface Shown {
  readonly clock: { now: number };
  readonly lines: () => readonly string[];
  readonly report: ReturnType<typeof progressLines>;
}

function shown(isVisible: boolean): Shown {
  const clock = { now: 1_000_000 };
  let text = "";
  const write = (written: string) => {
    text += written;
    return true;
  };
  const stream = { write } as unknown as typeof process.stdout;
  const terminal = createTerminal({ stdout: stream, stderr: stream as unknown as typeof process.stderr });
  const report = progressLines({ terminal, now: () => clock.now }, isVisible);
  return { clock, lines: () => text.split("\n").filter((line) => line !== ""), report };
}

/** A hundred batches of a tenth of a second each, in two phases. */
function copyFor({ clock, report }: Shown): void {
  for (const phase of ["copy", "compare"] as const) {
    for (let batch = 1; batch <= 100; batch += 1) {
      clock.now += 100;
      report({ phase, kind: "event", rows: batch * 500, total: 50_000 });
    }
  }
}

test("on a terminal, the rows so far, the rate of the phase and the time left are updated every second", () => {
  const at = shown(true);
  copyFor(at);
  const [first, second] = at.lines();
  expect(first).toBe("copying event: 5000 of 50000 rows, 5000 rows/s, 9.0 s left");
  expect(second).toBe("copying event: 10000 of 50000 rows, 5000 rows/s, 8.0 s left");
  expect(at.lines().at(-1)).toMatch(/^comparing event: \d+ of 50000 rows, 5000 rows\/s, \d/);
  expect(at.lines().length).toBeLessThan(20);
});

test("a copy that takes an hour prints a line per tenth of the work, not per second", () => {
  const at = shown(true);
  for (let second = 1; second <= 3_600; second += 1) {
    at.clock.now += 1_000;
    at.report({ phase: "copy", kind: "event", rows: second, total: 3_600 });
  }
  expect(at.lines().length).toBeGreaterThan(20);
  expect(at.lines().length).toBeLessThan(100);
});

test("nothing is printed without a terminal", () => {
  const at = shown(false);
  copyFor(at);
  expect(at.lines()).toEqual([]);
});
