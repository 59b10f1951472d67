/** Processes of this machine. Only Linux lists them in files; on other systems none is found. */
import { readdirSync, readFileSync } from "node:fs";

export interface Process {
  readonly pid: number;
  /** In ticks since the machine has started: with the number, it identifies a process. */
  readonly startedAt: string;
}

export function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

interface Facts extends Process {
  /** A letter: `Z` and `X` have ended. */
  readonly state: string;
  readonly parent: number;
  readonly session: number;
}

/** Fields of `/proc/PID/stat`; the name, the second of them, may contain anything. */
function factsOf(pid: number): Facts | undefined {
  const text = readText(`/proc/${pid}/stat`);
  if (text === "") return undefined;
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return {
    pid,
    state: fields[0] ?? "",
    parent: Number(fields[1]),
    session: Number(fields[3]),
    startedAt: fields[19] ?? "",
  };
}

/** Empty where there is no such process. */
export const startOf = (pid: number): string => factsOf(pid)?.startedAt ?? "";

/** The process with all that it has started and that still has a parent in it or belongs to its session. */
export function familyOf(pid: number): readonly Process[] {
  const all = pids().flatMap((one) => factsOf(one) ?? []);
  const found = new Set([pid]);
  for (let before = 0; before !== found.size; ) {
    before = found.size;
    for (const one of all) if (found.has(one.parent) || one.session === pid) found.add(one.pid);
  }
  return all.filter((one) => found.has(one.pid));
}

function pids(): readonly number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** Whether the process still runs. */
export function isRunning({ pid, startedAt }: Process): boolean {
  const facts = factsOf(pid);
  return facts !== undefined && facts.startedAt === startedAt && facts.state !== "Z" && facts.state !== "X";
}

/** Kills those that are still the same. */
export function endAll(processes: readonly Process[]): void {
  for (const one of processes) {
    if (!isRunning(one)) continue;
    try {
      process.kill(one.pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}
