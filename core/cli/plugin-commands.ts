/** Commands that plugins bring: declared as data, run on the plugin's own store. */
import type { Command } from "commander";
import { programCommand } from "../command.ts";
import { type Asked, lateAnswer, pluginDeadlines, withDeadline } from "../host/deadline.ts";
import { scopedStore } from "../host/scope.ts";
import { createIds } from "../ids.ts";
import type { CliAnswer, CliCommand, CliDefinition } from "../sdk.ts";
import type { Json } from "../types.ts";
import type { CommandContext } from "./context.ts";
import { readDeclarations } from "./declarations.ts";
import { type Add, group, type Handle, type Run } from "./declare.ts";
import type { Terminal } from "./terminal.ts";

interface PluginCommands {
  readonly plugin: string;
  readonly cli: CliDefinition;
}

/** What is declared, whether the plugin is on or off: somebody who switched it off may still want to look. */
export async function readPluginCommands(context: CommandContext): Promise<readonly PluginCommands[]> {
  const declared = await readDeclarations(await context.load(), await context.stateDirectory());
  return declared.flatMap(({ definition }) => (definition?.cli === undefined ? [] : [{ plugin: definition.id, cli: definition.cli }]));
}

export function addPluginCommands(program: Command, found: readonly PluginCommands[], add: Add, handle: Handle): void {
  for (const { plugin, cli } of found) {
    // The program's own names are never taken over.
    if (program.commands.some((command) => command.name() === cli.name)) continue;
    const parent = group(program, cli.name, cli.summary, `${programCommand} ${cli.name} ${cli.commands[0]?.example ?? ""}`.trimEnd());
    for (const command of cli.commands) {
      add(parent, [command.name, ...(command.args ?? [])].join(" "), {
        summary: command.summary,
        example: `${programCommand} ${cli.name} ${command.example}`,
        json: true,
      }).action(handle(async () => runner({ plugin, doing: `${programCommand} ${cli.name} ${command.name}` }, command)));
    }
  }
}

function runner(asked: Asked, command: CliCommand): Run<readonly (string | undefined)[], { readonly json?: boolean }> {
  return async (context, args, { json }) => {
    const store = await context.openState();
    try {
      const scoped = scopedStore(store, `plugin:${asked.plugin}`, context.now);
      const call = { args, store: scoped, now: context.now, newId: createIds(context.now) };
      const run = async () => await command.run(call);
      const ms = command.timeoutSeconds === undefined ? pluginDeadlines.cli : command.timeoutSeconds * 1_000;
      const answer = ms === 0 ? await run() : await withDeadline(run(), ms, () => late(asked, ms));
      if (json === true) context.terminal.json(answer.failed === true && answer.data === null ? failure(answer) : answer.data);
      else show(answer, context.terminal);
      return answer.failed === true ? 1 : 0;
    } finally {
      await store.close();
    }
  };
}

/** What the command still waits for must not keep the process. */
function late(asked: Asked, ms: number): Error {
  setTimeout(() => process.exit(), 1_000).unref();
  return lateAnswer(asked, ms);
}

/** A plugin that failed and has no data has said why in its lines; those who read JSON are to know it, too. */
function failure({ lines }: CliAnswer): Json {
  const error = lines.map((line) => (typeof line === "string" ? line : line.join(" "))).join(" ");
  return { ok: false, error, code: "plugin_command_failed" };
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
