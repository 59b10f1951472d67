/**
 * Questions to the person at the terminal. They are printed on standard error, so that standard output contains data
 * only.
 */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { HostError } from "../../contract/errors.ts";
import { onEvent } from "../../listeners/listen.ts";
import type { CliCall } from "../../sdk/contract.ts";

/** The questions of plugins' commands, and those of the program's own. */
export interface Questions extends NonNullable<CliCall["terminal"]> {
  /** Yes unless the answer is `n` or `no`. */
  agree(question: string): Promise<boolean>;
  /** Reads one line, or resolves with `undefined` when the signal aborts, and takes the question off the screen. */
  until(question: string, signal: AbortSignal): Promise<string | undefined>;
}

type Streams = Pick<NodeJS.Process, "stdin" | "stderr">;

export function createQuestions(streams: Streams): Questions {
  const { stderr } = streams;
  return {
    async ask(question, preset) {
      const hint = preset === undefined ? "" : ` [${preset}]`;
      const line = await readLine(streams, `${question}${hint}: `, stderr);
      return line === "" ? (preset ?? "") : line;
    },
    async confirm(question) {
      return /^y(?:es)?$/i.test(await readLine(streams, `${question} [y/N]: `, stderr));
    },
    async agree(question) {
      return !/^no?$/i.test(await readLine(streams, `${question} [Y/n]: `, stderr));
    },
    async until(question, signal) {
      return await readLine(streams, `${question}: `, stderr, signal).catch((thrown: unknown) => {
        if (!signal.aborted) throw thrown;
        stderr.write("\r\x1b[K");
        return undefined;
      });
    },
    async password(question) {
      try {
        // The line editor echoes typed characters on its output, which is discarded here.
        return await readLine(streams, `${question}: `, new Writable({ write: (_, __, done) => done() }));
      } finally {
        stderr.write("\n");
      }
    },
  };
}

function readLine(
  { stdin, stderr }: Streams,
  prompt: string,
  output: NodeJS.WritableStream,
  signal?: AbortSignal,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = createInterface({ input: stdin, output, terminal: true });
    onEvent(reader, "close", {
      source: "the terminal",
      handle: () => reject(new HostError("usage", { reason: "the input ended before the question was answered" })),
    });
    // The line editor receives Ctrl+C in place of the terminal.
    reader.once("SIGINT", () => {
      // A command that listens to the signal must not mistake this for the end of its input.
      reject(new HostError("interrupted"));
      reader.close();
      process.kill(process.pid, "SIGINT");
    });
    if (signal?.aborted === true) reader.close();
    else signal?.addEventListener("abort", () => reader.close(), { once: true });
    // Printed only now: before the line editor controls the terminal, typed characters would be echoed.
    if (output !== stderr) stderr.write(prompt);
    if (signal?.aborted === true) return;
    reader.question(prompt, (line) => {
      resolve(line.trim());
      reader.close();
    });
  });
}
