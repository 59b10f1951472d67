/** Commands that plugins bring: declared as data, run on the plugin's own store. */
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { programCommand } from "../../contract/command.ts";
import type { Json } from "../../contract/types.ts";
import type { Asked } from "../../host/deadline.ts";
import { bundledPlugins, namedPlugin, type PluginSource } from "../../host/find.ts";
import { type CommandOutline, readOutline } from "../../host/outline.ts";
import type { CliAnswer, CliCommand, CliDefinition } from "../../sdk/contract.ts";
import type { CommandContext } from "../context.ts";
import { type Add, group, type Handle, type Run } from "../declare.ts";
import type { Terminal } from "../output/terminal.ts";

type Note = (text: string) => void;

const overviewMs = 3_000;

interface PluginCommands {
  readonly plugin: string;
  readonly cli: CliDefinition;
}

/**
 * Adds what the overview shows of the commands of plugins, and for `word` the commands themselves. Loaded is only the plugin that has that
 * word, and those of the configuration that do not say in a `commands.json` what they have: most commands need no plugin.
 */
export async function addPluginCommands(
  program: Command,
  { word, context, note }: { readonly word: string | undefined; readonly context: CommandContext; readonly note: Note },
  add: Add,
  handle: Handle,
): Promise<void> {
  // The program's own names are never taken over.
  const isFree = (name: string) => !program.commands.some((command) => command.name() === name);
  for (const source of await sourcesOf(context)) {
    const outline = readOutline(source.file);
    const isWanted = outline === undefined ? !source.bundled : outline.name === word;
    if (!isWanted && outline !== undefined && isFree(outline.name)) addOutline(program, outline);
    const found = isWanted ? await loadCommands(source, { word, context, note }) : undefined;
    if (found !== undefined && isFree(found.cli.name)) addCommands(program, found, add, handle);
  }
}

async function sourcesOf(context: CommandContext): Promise<readonly PluginSource[]> {
  const { plugins } = await context.glance();
  const directory = dirname(context.configFile.file);
  const named = plugins.flatMap((name) => {
    try {
      return [namedPlugin(name, directory)];
    } catch {
      // `plugins list` and `doctor` say that it is missing.
      return [];
    }
  });
  return [...bundledPlugins(), ...named];
}

function addOutline(program: Command, { name, summary, commands }: CommandOutline): void {
  const parent = group(program, name, summary, `${programCommand} ${name}`);
  for (const command of commands) parent.command(command);
}

/** What is declared, whether the plugin is on or off: a user who switched it off may still want to look. */
async function loadCommands(
  source: PluginSource,
  { word, context, note }: { readonly word: string | undefined; readonly context: CommandContext; readonly note: Note },
): Promise<PluginCommands | undefined> {
  const [{ createLoader }, { checkDeclaration }, { pluginDeadlines }, { withProgress }] = await Promise.all([
    import("../../host/load.ts"),
    import("../../host/declare.ts"),
    import("../../host/deadline.ts"),
    import("../output/progress.ts"),
  ]);
  try {
    const cacheDirectory = join(await context.stateDirectory(), "cache", "plugins");
    // Who reads the overview does not wait for one plugin that may have nothing to show there.
    const loadMs = word === undefined ? overviewMs : pluginDeadlines.load;
    const loading = createLoader({ cacheDirectory, fresh: false, loadMs }).load(source);
    const { id, cli } = checkDeclaration(source.name, await withProgress(source.name, loading, note, loadMs));
    return cli === undefined ? undefined : { plugin: id, cli };
  } catch {
    return undefined;
  }
}

function addCommands(program: Command, { plugin, cli }: PluginCommands, add: Add, handle: Handle): void {
  const parent = group(program, cli.name, cli.summary, `${programCommand} ${cli.name} ${cli.commands[0]?.example ?? ""}`.trimEnd());
  for (const command of cli.commands) {
    add(parent, [command.name, ...(command.args ?? [])].join(" "), {
      summary: command.summary,
      example: `${programCommand} ${cli.name} ${command.example}`,
      json: true,
    }).action(handle(async () => runner({ plugin, doing: `${programCommand} ${cli.name} ${command.name}` }, command)));
  }
}

function runner(asked: Asked, command: CliCommand): Run<readonly (string | undefined)[], { readonly json?: boolean }> {
  return async (context, args, { json }) => {
    const [{ scopedStore }, { createIds }, { lateAnswer, pluginDeadlines, withDeadline }] = await Promise.all([
      import("../../host/scope.ts"),
      import("../../state/ids.ts"),
      import("../../host/deadline.ts"),
    ]);
    const store = await context.openState();
    try {
      const scoped = scopedStore(store, `plugin:${asked.plugin}`, context.now);
      const call = { args, store: scoped, now: context.now, newId: createIds(context.now) };
      const run = async () => await command.run(call);
      const ms = command.timeoutSeconds === undefined ? pluginDeadlines.cli : command.timeoutSeconds * 1_000;
      const late = () => {
        // What the command still waits for must not keep the process.
        setTimeout(() => process.exit(), 1_000).unref();
        return lateAnswer(asked, ms);
      };
      const answer = ms === 0 ? await run() : await withDeadline(run(), ms, late);
      if (json === true) context.terminal.json(answer.failed === true && answer.data === null ? failure(answer) : answer.data);
      else show(answer, context.terminal);
      return answer.failed === true ? 1 : 0;
    } finally {
      await store.close();
    }
  };
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
