/** `reload`: makes the gateway read its configuration now, and prints the result. */

import type { Problem } from "../../config/problem.ts";
import { programCommand } from "../../contract/command.ts";
import type { CommandContext } from "../context.ts";
import { ask, requireGateway } from "./asking.ts";

interface Answer {
  readonly changed: boolean;
  readonly problems: readonly Problem[];
  readonly waiting: readonly string[];
}

export async function reloadGateway(
  context: CommandContext,
  _: readonly [],
  { json }: { readonly json?: boolean },
): Promise<number> {
  const { changed, problems, waiting } = (await ask(await requireGateway(context), "reload")) as Answer;
  if (json === true) context.terminal.json({ changed, problems, waiting });
  else show({ changed, problems, waiting }, context);
  return problems.some(({ severity }) => severity === "error") ? 1 : 0;
}

function show({ changed, problems, waiting }: Answer, { terminal }: CommandContext): void {
  const { style } = terminal;
  terminal.line(changed ? "The configuration was reloaded." : "The configuration in the file is already in effect.");
  for (const { severity, path, line, message, hint = "" } of problems) {
    const where = line === undefined ? "" : ` (line ${line})`;
    terminal.line(
      `${style(severity === "error" ? "red" : "yellow", severity)} ${path}${where}: ${message}. ${hint}`.trimEnd(),
    );
  }
  if (waiting.length > 0)
    terminal.line(`Changes of ${waiting.join(", ")} take effect after a restart: \`${programCommand} restart\`.`);
}
