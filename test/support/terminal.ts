/** The command line in a terminal of its own, as a person uses it. `script` of util-linux makes the terminal. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { bundled, createOutput, type Finished, inherited } from "../core/cli/command.ts";
import { onTestFinished } from "./own-test.ts";

export const hasTerminal = existsSync("/usr/bin/script");

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

export interface Typed {
  /** Types a text; `\r` is Enter, `\x03` Ctrl+C. */
  type(text: string): void;
  /** Resolves with all that was shown so far, once the text after the last match of `until` matches. */
  until(pattern: RegExp): Promise<string>;
  readonly finished: Promise<Finished>;
}

export function openTerminal(
  args: readonly string[],
  { home, env = {}, columns = 80 }: { home: string; env?: Readonly<Record<string, string>>; columns?: number },
): Typed {
  const line = [process.execPath, bundled, ...args].map(quoted).join(" ");
  const child = spawn("script", ["-qec", `stty cols ${columns} rows 50; exec ${line}`, "/dev/null"], {
    env: { PATH: process.env.PATH, HOME: home, NO_COLOR: "1", TZ: "UTC", TERM: "xterm", ...inherited, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let shown = "";
  let read = 0;
  const output = createOutput();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    output.heard(shown.slice(read));
  });
  const finished = new Promise<Finished>((resolve) => {
    child.on("close", (code) => resolve({ code, out: shown, err: "" }));
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await finished;
  });
  return {
    type: (text) => void child.stdin.write(text),
    async until(pattern) {
      const part = await output.until(pattern, finished);
      read += (pattern.exec(part)?.index ?? 0) + (pattern.exec(part)?.[0].length ?? 0);
      output.heard(shown.slice(read));
      return shown;
    },
    finished,
  };
}
