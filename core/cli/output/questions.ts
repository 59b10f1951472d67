/**
 * Questions to the person at the terminal. They are printed on standard error, so that standard output contains data
 * only.
 */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { HostError } from "../../contract/errors.ts";
import { onEvent } from "../../listeners/listen.ts";
import type { CliCall } from "../../sdk/contract.ts";

type Streams = Pick<NodeJS.Process, "stdin" | "stderr">;

export function createQuestions(streams: Streams): NonNullable<CliCall["terminal"]> {
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

function readLine({ stdin, stderr }: Streams, prompt: string, output: NodeJS.WritableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = createInterface({ input: stdin, output, terminal: true });
    onEvent(reader, "close", {
      source: "the terminal",
      handle: () => reject(new HostError("usage", { reason: "the input ended before the question was answered" })),
    });
    // The line editor receives Ctrl+C in place of the terminal.
    reader.once("SIGINT", () => {
      reader.close();
      process.kill(process.pid, "SIGINT");
    });
    // Printed only now: before the line editor controls the terminal, typed characters would be echoed.
    if (output !== stderr) stderr.write(prompt);
    reader.question(prompt, (line) => {
      resolve(line.trim());
      reader.close();
    });
  });
}
