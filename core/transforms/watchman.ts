/**
 * Ends transform processes when the gateway is killed. One that waits notices by itself that its pipe is closed; one that
 * loops never looks. So a shell, which needs a megabyte, holds a pipe of its own: told whom to end, it waits for that to close.
 */
import { type ChildProcess, spawn } from "node:child_process";

/** Each line replaces the list; at the end of the input, whoever is left on it is ended. */
const script = 'list=; while read -r line; do list=$line; done; [ -z "$list" ] || kill -9 $list 2>/dev/null';

export interface Watchman {
  add(pid: number): void;
  remove(pid: number): void;
}

export function createWatchman(): Watchman {
  const pids = new Set<number>();
  let shell: ChildProcess | undefined;

  const start = (): ChildProcess => {
    const child = spawn("/bin/sh", ["-c", script], { env: { PATH: "/usr/bin:/bin" }, stdio: ["pipe", "ignore", "ignore"], detached: true });
    // Where there is no shell, a loop outlives a killed gateway; everything else works.
    child.on("error", () => {});
    child.on("exit", () => {
      shell = undefined;
    });
    child.stdin?.on("error", () => {});
    child.unref();
    return child;
  };
  const tell = (): void => {
    if (process.platform === "win32") return;
    shell ??= pids.size > 0 ? start() : undefined;
    shell?.stdin?.write(`${[...pids].join(" ")}\n`);
    // Nobody is left to watch: the list is empty, and so it ends without a deed.
    if (pids.size > 0) return;
    shell?.stdin?.end();
    shell = undefined;
  };

  return {
    add(pid) {
      pids.add(pid);
      tell();
    },
    remove(pid) {
      if (pids.delete(pid)) tell();
    },
  };
}
