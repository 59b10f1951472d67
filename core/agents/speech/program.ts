/**
 * Runs a program that transcribes or speaks: without a shell, with files as its only input, and bounded in time, output
 * and memory. What it starts ends with it.
 */
import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { basename } from "node:path";
import { EngineError } from "../../contract/index.ts";
import { asBytes, onEvent, onMessage } from "../../listeners/index.ts";

/** What a program inherits. Everything else, such as the keys of model servers, is the gateway's own. */
const inherited = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "TMPDIR", "USER"] as const;

const mostOutput = 1_048_576;
/** Of what it writes to its standard error, the end is shown. */
const mostShown = 300;
const defaultMemoryMb = 4_096;
/** How often its memory is looked at. */
const memoryCheckMs = 500;
const pageBytes = 4_096;

export interface ProgramRun {
  /** The program and its arguments; `{name}` is replaced by `files.name`. */
  readonly command: readonly string[];
  /** Absolute paths, so that none can be read as an option. */
  readonly files: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly memoryMb?: number | undefined;
  readonly signal: AbortSignal;
}

function filledIn(argument: string, files: ProgramRun["files"]): string {
  return Object.entries(files).reduce((text, [name, path]) => text.replaceAll(`{${name}}`, path), argument);
}

const failed = (detail: string, hint: string): EngineError => new EngineError("speech_failed", { detail, hint });

/** Resident memory of the processes of a group, in bytes; 0 where the system does not list them in files. */
async function memoryOf(group: number): Promise<number> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const all = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
      // The name of the program, in brackets, may contain anything.
      const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
      return Number(fields[2]) === group ? Number(fields[21]) * pageBytes : 0;
    }),
  );
  return all.reduce((sum, bytes) => sum + bytes, 0);
}

/** Resolves with what the program prints. Rejects with `speech_failed`, or with the reason of the signal. */
export async function runProgram({ command, files, timeoutMs, memoryMb, signal }: ProgramRun): Promise<string> {
  signal.throwIfAborted();
  const [program = "", ...args] = command.map((argument) => filledIn(argument, files));
  const name = basename(program);
  const own = inherited.flatMap((key) => (process.env[key] === undefined ? [] : [[key, process.env[key]]]));
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = spawn(program, args, {
    env: Object.fromEntries(own),
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own: what the program starts ends with it.
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  const end = (error: unknown) => {
    reject(error);
    endGroup(child.pid);
  };
  const printed: Buffer[] = [];
  let size = 0;
  let complaint = "";
  onMessage(child.stdout, "data", {
    source: name,
    check: asBytes,
    handle(piece) {
      size += piece.length;
      if (size > mostOutput) end(failed(`${name} printed more than 1 MB`, "Check its arguments."));
      else printed.push(piece);
    },
  });
  onMessage(child.stderr, "data", {
    source: name,
    check: asBytes,
    handle(piece) {
      complaint = (complaint + piece.toString("utf8")).slice(-4 * mostShown);
    },
  });
  onEvent<readonly [NodeJS.ErrnoException]>(child, "error", {
    source: name,
    handle: (error) => end(startFault(program, error)),
  });
  onEvent<readonly [number | null, NodeJS.Signals | null]>(child, "close", {
    source: name,
    handle(code, by) {
      if (code === 0) return resolve(Buffer.concat(printed).toString("utf8"));
      const message = complaint.replace(/\s+/g, " ").trim().slice(-mostShown);
      const how = code === null ? `ended by ${by}` : `ended with code ${code}`;
      reject(failed(`${name} ${how}${message === "" ? "" : `: ${message}`}`, "Run it by hand with a sound file."));
    },
  });
  const late = setTimeout(
    () => end(failed(`${name} did not end within ${timeoutMs / 1_000} s`, "Raise timeoutSeconds beside its command.")),
    timeoutMs,
  );
  const limit = (memoryMb ?? defaultMemoryMb) * 1_048_576;
  const watch = setInterval(async () => {
    if (child.pid !== undefined && (await memoryOf(child.pid)) > limit)
      end(failed(`${name} used more than ${limit / 1_048_576} MiB of memory`, "Raise memoryMb beside its command."));
  }, memoryCheckMs);
  const stop = () => end(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    clearInterval(watch);
    signal.removeEventListener("abort", stop);
    // What it has left running.
    endGroup(child.pid);
  }
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // All have ended.
  }
}

function startFault(program: string, { code = "", message }: NodeJS.ErrnoException): EngineError {
  const why = code === "ENOENT" ? "there is no such program" : code === "EACCES" ? "it may not be run" : message;
  return failed(
    `${basename(program)} did not start: ${why}`,
    `Install it, or write its whole path; the PATH of the gateway is ${process.env.PATH ?? "empty"}.`,
  );
}
