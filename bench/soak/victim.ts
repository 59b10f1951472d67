/** The gateway processes of the soak: one runs, the next stands by, and all but the last are killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEnd } from "../before-end.ts";

export interface Victim {
  /** Resolves when it listens; rejects if it ends before that. */
  readonly ready: Promise<void>;
  /** Resolves when it has ended, with its exit code or signal. */
  readonly gone: Promise<number | string>;
  /** The last of what it printed on its standard error. */
  complaint(): string;
  /** Sends SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>;
  /** Sends SIGSTOP, and SIGCONT after a while. */
  pause(forMs: number): Promise<void>;
  /** Sends SIGTERM; resolves with the exit code, or with the signal that was needed to end it. */
  stop(withinMs: number): Promise<number | string>;
}

export interface Victims {
  /** Starts the standby process, and a new one to stand by, if there is an outfit for one. */
  start(): Promise<Victim>;
  /** Ends every process that is still running. */
  close(): void;
}

interface Standby {
  readonly child: ChildProcess;
  readonly lines: (until: string) => Promise<void>;
  readonly ended: Promise<number | string>;
  readonly complaint: () => string;
}

/** The configuration and environment of a process. */
export interface Outfit {
  readonly configFile: string;
  /** The directory of another version of the program. */
  readonly program?: string;
  /** A module that is loaded before the gateway. */
  readonly preload?: string;
  /** The file of a plugin, beside those of the configuration. */
  readonly plugin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const thisProgram = fileURLToPath(new URL("../..", import.meta.url));

function spawnStandby({ configFile, preload, plugin, env, program = thisProgram }: Outfit): Standby {
  const script = join(program, "bench/gateway-process.ts");
  const args = [
    ...(preload === undefined ? [] : ["--import", preload]),
    script,
    configFile,
    "--standby",
    ...(plugin === undefined ? [] : ["--plugin", plugin]),
  ];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...env } });
  let printed = "";
  let complaint = "";
  const waiting = new Map<string, () => void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    // The end is enough: what is waited for has just been printed.
    printed = (printed + text).slice(-4_000);
    for (const [line, resolve] of waiting) if (printed.includes(line) && waiting.delete(line)) resolve();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(-4_000);
  });
  // A killed process does not read what was written to it.
  child.stdin.on("error", () => {});
  const ended = new Promise<number | string>((resolve) =>
    child.once("exit", (code, signal) => resolve(code ?? signal ?? "unknown")),
  );
  return {
    child,
    ended,
    complaint: () => complaint,
    lines(until) {
      return new Promise((resolve) => {
        if (printed.includes(until)) resolve();
        else waiting.set(until, resolve);
      });
    },
  };
}

/** `outfit` is called for each process; without an outfit, there is no further process. */
export function createVictims({ outfit }: { readonly outfit: () => Outfit | undefined }): Victims {
  const alive = new Set<ChildProcess>();
  const prepare = () => {
    const worn = outfit();
    if (worn === undefined) return;
    const standby = spawnStandby(worn);
    alive.add(standby.child);
    void standby.ended.then(() => alive.delete(standby.child));
    return standby;
  };
  let next = prepare();
  const killAll = () => {
    for (const child of alive) child.kill("SIGKILL");
  };
  const ended = beforeEnd(killAll);

  return {
    async start() {
      if (next === undefined) throw new Error("there is no outfit for another process");
      const { child, lines, ended, complaint } = next;
      const early = ended.then((how) => {
        throw new Error(`the gateway ended by itself (${how}): ${complaint()}`);
      });
      early.catch(() => {});
      await Promise.race([lines("standby\n"), early]);
      next = prepare();
      child.stdin?.write("go\n");
      const ready = Promise.race([lines("ready "), early]);
      ready.catch(() => {});
      return {
        ready,
        gone: ended,
        complaint,
        async kill() {
          child.kill("SIGKILL");
          const how = await ended;
          if (how !== "SIGKILL") throw new Error(`the gateway ended by itself (${how}): ${complaint()}`);
        },
        async pause(forMs) {
          child.kill("SIGSTOP");
          await new Promise((resolve) => setTimeout(resolve, forMs));
          child.kill("SIGCONT");
        },
        async stop(withinMs) {
          const late = setTimeout(() => child.kill("SIGKILL"), withinMs);
          child.kill("SIGTERM");
          return ended.finally(() => clearTimeout(late));
        },
      };
    },
    close() {
      killAll();
      ended();
    },
  };
}
