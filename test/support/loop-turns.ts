/**
 * Measures the turns of the event loop of the process that imports it with `--import`: how much processor time its main
 * thread spends between two chances to do something else. Other programs of the machine do not count. On SIGUSR2 it
 * writes what it has measured since the last time to the file in `LOOP_TURNS`.
 */
import { renameSync, writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

export interface LoopTurns {
  /** Milliseconds of the longest turn. */
  readonly longest: number;
  /** All of them, in milliseconds. */
  readonly total: number;
}

const file = process.env.LOOP_TURNS;

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

if (isMainThread && file !== undefined) {
  let before = cpuMs();
  let [longest, total] = [0, 0];
  setInterval(() => {
    const now = cpuMs();
    longest = Math.max(longest, now - before);
    total += now - before;
    before = now;
  }, 1).unref();
  process.on("SIGUSR2", () => {
    const turns: LoopTurns = { longest, total };
    [longest, total] = [0, 0];
    // Renamed, so that nobody reads half of it.
    writeFileSync(`${file}.new`, JSON.stringify(turns));
    renameSync(`${file}.new`, file);
  });
}
