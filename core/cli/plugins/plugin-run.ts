/** Runs a command of a plugin, and prints its answer. */
import { HostError } from "../../contract/errors.ts";
import type { Json } from "../../contract/types.ts";
import { cliAnswerProblem } from "../../host/answers.ts";
import { type Asked, lateAnswer, pluginDeadlines, unusable, withDeadline } from "../../host/deadline.ts";
import type { CliAnswer, CliCommand } from "../../sdk/contract.ts";
import type { Run } from "../declare.ts";
import type { Terminal } from "../output/terminal.ts";
import { openCall } from "./plugin-call.ts";
import { givenOptions } from "./plugin-options.ts";

type Parsed = Readonly<Record<string, unknown>> & { readonly json?: boolean };

export function runnerOf(
  asked: Asked,
  command: CliCommand,
  definition: Parameters<typeof openCall>[1]["definition"],
): Run<readonly (string | undefined)[], Parsed> {
  return async (context, args, parsed) => {
    const json = parsed.json === true;
    const { call, close } = openCall(context, {
      definition,
      args,
      options: givenOptions(command.options, parsed),
      prepares: command.prepares === true,
      json,
    });
    try {
      const run = async () => await command.run(call);
      const ms = command.timeoutSeconds === undefined ? pluginDeadlines.cli : command.timeoutSeconds * 1_000;
      const late = () => {
        // Ends the process even if the command is still waiting for something.
        setTimeout(() => process.exit(), 1_000).unref();
        return lateAnswer(asked, ms);
      };
      const answer = ms === 0 ? await run() : await withDeadline(run(), ms, late);
      const problem = cliAnswerProblem(answer);
      if (problem !== undefined) throw unusable(asked, problem);
      if (answer.failed === "usage") throw new HostError("usage", { reason: sentenceOf(answer).replace(/\.$/, "") });
      // It may be missing, because plugins run without a type check.
      const data = (answer.data as Json | undefined) ?? null;
      if (json) context.terminal.json(answer.failed === true && data === null ? failure(answer) : data);
      else show(answer, context.terminal);
      return answer.failed === true ? 1 : 0;
    } finally {
      await close();
    }
  };
}

const sentenceOf = ({ lines }: CliAnswer): string =>
  lines.map((line) => (typeof line === "string" ? line : line.join(" "))).join(" ");

/** A plugin that failed without data has given the reason in its lines; JSON output must contain it too. */
function failure(answer: CliAnswer): Json {
  return { ok: false, error: sentenceOf(answer), code: "plugin_command_failed" };
}

function show({ lines }: CliAnswer, terminal: Terminal): void {
  let rows: (readonly string[])[] = [];
  const flush = () => {
    if (rows.length > 0) terminal.table(rows);
    rows = [];
  };
  for (const line of lines) {
    if (typeof line === "string") {
      flush();
      terminal.line(line);
    } else rows.push(line);
  }
  flush();
}
