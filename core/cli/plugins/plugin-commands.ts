/** Commands of plugins: declared as data, and added to the command line. */
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { programCommand } from "../../contract/command.ts";
import { asSentence, reasonOf } from "../../contract/errors.ts";
import { bundledPlugins, namedPlugin, type PluginSource } from "../../host/find.ts";
import { type CommandOutline, readOutline } from "../../host/outline.ts";
import type { CliCommand, CliDefinition, PluginDefinition } from "../../sdk/contract.ts";
import type { CommandContext } from "../context.ts";
import { type Add, group, type Handle } from "../declare.ts";
import { parserOf } from "./plugin-options.ts";

type Note = (text: string) => void;

const overviewMs = 3_000;

interface PluginCommands {
  readonly definition: PluginDefinition;
  readonly cli: CliDefinition;
}

/**
 * Adds the plugins' commands to the overview, and for `word` the commands themselves. It loads only the plugin that
 * owns the word, and configured plugins without a `commands.json`, because most commands need no plugin.
 */
export async function addPluginCommands(
  program: Command,
  { word, context, note }: { readonly word: string | undefined; readonly context: CommandContext; readonly note: Note },
  add: Add,
  handle: Handle,
): Promise<void> {
  // A plugin can never take over one of the program's own names.
  const isFree = (name: string) => !program.commands.some((command) => command.name() === name);
  const failures: string[] = [];
  const onFailure = (reason: string) => void failures.push(reason);
  for (const source of await sourcesOf(context)) {
    const outline = readOutline(source.file);
    const isWanted = outline === undefined ? !source.bundled : outline.name === word;
    if (!isWanted && outline !== undefined && isFree(outline.name)) addOutline(program, outline);
    const found = isWanted ? await loadCommands(source, { word, context, note, onFailure }) : undefined;
    if (found !== undefined && isFree(found.cli.name)) addCommands(program, found, add, handle);
  }
  // The command may be one of a plugin that cannot be read.
  if (word !== undefined && isFree(word)) failures.forEach(note);
}

async function sourcesOf(context: CommandContext): Promise<readonly PluginSource[]> {
  const { plugins } = await context.glance();
  const directory = dirname(context.configFile.file);
  const named = plugins.flatMap((name) => {
    try {
      return [namedPlugin(name, directory)];
    } catch {
      // `plugins list` and `doctor` report that it is missing.
      return [];
    }
  });
  return [...bundledPlugins(), ...named];
}

function addOutline(program: Command, { name, summary, commands }: CommandOutline): void {
  const parent = group(program, name, summary, `${programCommand} ${name}`);
  // Shows the first word of two-word commands.
  for (const word of new Set(commands.map((command) => command.split(" ", 1)[0] ?? ""))) parent.command(word);
}

/** The declared commands, even if the plugin is off: a user who switched it off may still want to look. */
async function loadCommands(
  source: PluginSource,
  {
    word,
    context,
    note,
    onFailure,
  }: {
    readonly word: string | undefined;
    readonly context: CommandContext;
    readonly note: Note;
    readonly onFailure: Note;
  },
): Promise<PluginCommands | undefined> {
  const [{ createLoader }, { checkDeclaration }, { pluginDeadlines }, { withProgress }] = await Promise.all([
    import("../../host/load.ts"),
    import("../../host/declare.ts"),
    import("../../host/deadline.ts"),
    import("../output/progress.ts"),
  ]);
  try {
    const cacheDirectory = join(await context.stateDirectory(), "cache", "plugins");
    // The overview does not wait long for a plugin that may have no commands.
    const loadMs = word === undefined ? overviewMs : pluginDeadlines.load;
    const loading = createLoader({ cacheDirectory, fresh: false, loadMs }).load(source);
    const definition = checkDeclaration(source.name, await withProgress(source.name, loading, note, loadMs));
    return definition.cli === undefined ? undefined : { definition, cli: definition.cli };
  } catch (error) {
    onFailure(asSentence(reasonOf(error)));
    return undefined;
  }
}

function addCommands(program: Command, { definition, cli }: PluginCommands, add: Add, handle: Handle): void {
  // Texts may be missing, because plugins run without a type check.
  const { summary: about = "" } = cli as Partial<CliDefinition>;
  const parent = group(
    program,
    cli.name,
    about,
    `${programCommand} ${cli.name} ${cli.commands[0]?.example ?? ""}`.trimEnd(),
  );
  const groups = new Map<string, Command>();
  /** The command group for a two-word name. */
  const groupOf = (first: string, example: string): Command => {
    const known =
      groups.get(first) ?? group(parent, first, cli.groups?.[first] ?? "", `${programCommand} ${cli.name} ${example}`);
    groups.set(first, known);
    return known;
  };
  for (const command of cli.commands) {
    const { summary = "", example = command.name } = command as Partial<CliCommand>;
    const [first = "", second] = command.name.split(" ");
    const [above, name] = second === undefined ? [parent, first] : [groupOf(first, example), second];
    const added = add(above, [name, ...(command.args ?? [])].join(" "), {
      summary,
      example: `${programCommand} ${cli.name} ${example}`,
      json: true,
    });
    for (const option of command.options ?? []) added.addOption(parserOf(option));
    const asked = { plugin: definition.id, doing: `${programCommand} ${cli.name} ${command.name}` };
    added.action(handle(async () => (await import("./plugin-run.ts")).runnerOf(asked, command, definition)));
  }
}
