/** Writes the output of transforms to the gateway's log, with the module's name and bounded in size. */
import type { PluginLog } from "../sdk/contract.ts";

export type Level = "debug" | "info" | "warn" | "error";

const windowMs = 10_000;
const linesInWindow = 100;
const maxLine = 4_096;

export interface Printer {
  print(module: string, level: Level, line: string): void;
}

interface Window {
  since: number;
  lines: number;
}

export function createPrinter({
  log,
  now,
}: {
  readonly log: Pick<PluginLog, Level>;
  readonly now: () => number;
}): Printer {
  const windows = new Map<string, Window>();

  return {
    print(module, level, line) {
      const known = windows.get(module);
      const window = known !== undefined && now() - known.since < windowMs ? known : { since: now(), lines: 0 };
      if (known !== undefined && known !== window && known.lines > linesInWindow) {
        log.warn({ transform: module, left: known.lines - linesInWindow }, "a transform printed more than is logged");
      }
      windows.set(module, window);
      window.lines += 1;
      if (window.lines <= linesInWindow) log[level]({ transform: module }, line.slice(0, maxLine));
    },
  };
}
