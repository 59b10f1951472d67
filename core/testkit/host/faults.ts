/** Detects faults outside the path of an event: unhandled rejections, and errors in the gateway's log. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { reasonOf } from "../../contract/index.ts";
import { onEvent } from "../../listeners/index.ts";

/** The level of `error` in log lines; `fatal` is higher. */
const errorLevel = 50;

/** Whether none of the patterns of a test allows the fault. */
export const isUnexpected = (fault: string, allowed: readonly RegExp[]) =>
  allowed.every((pattern) => fault.search(pattern) < 0);

export interface FaultWatch {
  /** Stops watching. Returns each unhandled rejection, with the calls that led to it. */
  stop(): readonly string[];
}

const mostCalls = 8;

/** The calls in a stack, without those inside Node. */
function callsOf(reason: unknown): string {
  const stack = reason instanceof Error ? (reason.stack ?? "") : "";
  const calls = stack.split("\n").filter((line) => /^ +at /.test(line) && !line.includes("node:"));
  return calls
    .slice(0, mostCalls)
    .map((line) => `\n${line}`)
    .join("");
}

export function watchRejections(): FaultWatch {
  const found: string[] = [];
  const handle = (reason: unknown) => void found.push(`unhandled rejection: ${reasonOf(reason)}${callsOf(reason)}`);
  const unwatch = onEvent<readonly [unknown]>(process, "unhandledRejection", { source: "this process", handle });
  return {
    stop() {
      unwatch();
      return found;
    },
  };
}

interface LogLine {
  readonly level?: number;
  readonly msg?: string;
  readonly error?: unknown;
  readonly plugin?: string;
  /** Of the configuration: where the error is. */
  readonly path?: string;
}

function parseLine(line: string): LogLine {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return {};
  }
}

function describeLine({ msg = "", error, plugin, path }: LogLine): string {
  const reason = typeof error === "object" && error !== null && "message" in error ? error.message : error;
  const from = (plugin === undefined ? "" : ` (plugin ${plugin})`) + (path === undefined ? "" : ` at ${path}`);
  return `error in the log${from}: ${msg}${reason === undefined ? "" : `: ${String(reason)}`}`;
}

/** The error lines in the log of a closed gateway. */
export function loggedErrors(stateDirectory: string): readonly string[] {
  const file = join(stateDirectory, "logs", "gateway.log");
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .map(parseLine)
    .filter(({ level = 0 }) => level >= errorLevel)
    .map(describeLine);
}
