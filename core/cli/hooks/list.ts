/** `hooks list`: what takes each request, in the order of matching, and its problems. */
import { type ListedHook, type ListedHooks, listedHooks } from "../../reports/hooks.ts";
import type { CommandContext } from "../context.ts";
import type { Style, Terminal } from "../output/terminal.ts";
import { openWorkbench } from "./workbench.ts";

export async function listHooks(
  context: CommandContext,
  _: readonly [],
  options: { readonly json?: boolean },
): Promise<number> {
  const bench = await openWorkbench(context);
  try {
    const { loaded, table } = bench;
    const listed = listedHooks(loaded, table);
    if (options.json === true) context.terminal.json(listed);
    else show(listed, context.terminal);
    return 0;
  } finally {
    await bench.close();
  }
}

const marks: Readonly<Record<ListedHook["state"], readonly [mark: string, style: Style]>> = {
  ok: ["✓", "green"],
  warning: ["!", "yellow"],
  error: ["✗", "red"],
  off: ["·", "dim"],
};

function show({ enabled, path, hooks, problems }: ListedHooks, terminal: Terminal): void {
  const { style } = terminal;
  if (!enabled)
    terminal.line(style("yellow", "The hook server is off: hooks.enabled is not true, or hooks has an error."));
  terminal.table(
    hooks.map(({ id, kind, path: below, method, action, access, transform, state }) => {
      const [mark, colour] = marks[state];
      const what = [method, action, transform && `by ${transform}`].filter((part) => part).join(" ");
      return [
        style(colour, mark),
        style("bold", id),
        `${path}/${below ?? "*"}`,
        kind,
        what,
        style("dim", state === "off" && kind !== "endpoint" ? "switched off" : access),
      ];
    }),
  );
  for (const hook of hooks) printProblems(hook.id, hook.problems, terminal);
  printProblems("hooks", problems, terminal);
}

function printProblems(title: string, problems: ListedHook["problems"], terminal: Terminal): void {
  if (problems.length === 0) return;
  terminal.line();
  terminal.line(terminal.style("bold", title));
  for (const { severity, path, message, hint } of problems) {
    terminal.line(`  ${terminal.style(severity === "error" ? "red" : "yellow", severity)} ${path} ${message}.`);
    if (hint !== undefined && hint !== "") terminal.line(`  ${terminal.style("dim", "to change")} ${hint}`);
  }
}
