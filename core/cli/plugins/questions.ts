/** Questions to the person at the terminal. They go to the standard error output, so that the standard output stays data. */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { HostError } from "../../contract/errors.ts";
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
        // The line editor repeats what is typed on its output.
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
    reader.once("close", () => reject(new HostError("usage", { reason: "the input ended before the question was answered" })));
    // The line editor has taken the key from the terminal.
    reader.once("SIGINT", () => {
      reader.close();
      process.kill(process.pid, "SIGINT");
    });
    // Only now: before the line editor has the terminal, the terminal itself shows what is typed.
    if (output !== stderr) stderr.write(prompt);
    reader.question(prompt, (line) => {
      resolve(line.trim());
      reader.close();
    });
  });
}
