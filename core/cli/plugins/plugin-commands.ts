/** Commands that plugins bring: declared as data, and added to the command line. */
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { programCommand } from "../../contract/command.ts";
import { bundledPlugins, namedPlugin, type PluginSource } from "../../host/find.ts";
import { type CommandOutline, readOutline } from "../../host/outline.ts";
import type { CliDefinition } from "../../sdk/contract.ts";
import type { CommandContext } from "../context.ts";
import { type Add, group, type Handle } from "../declare.ts";
import { parserOf } from "./plugin-options.ts";

type Note = (text: string) => void;

const overviewMs = 3_000;

interface PluginCommands {
  readonly plugin: string;
  /** Ids of the presets that it declares. */
  readonly presets: readonly string[];
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
  // Of two words the first one shows what there is.
  for (const word of new Set(commands.map((command) => command.split(" ", 1)[0] ?? ""))) parent.command(word);
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
    const { id, cli, presets = [] } = checkDeclaration(source.name, await withProgress(source.name, loading, note, loadMs));
    return cli === undefined ? undefined : { plugin: id, presets: presets.map((preset) => preset.id), cli };
  } catch {
    return undefined;
  }
}

function addCommands(program: Command, { plugin, presets, cli }: PluginCommands, add: Add, handle: Handle): void {
  const parent = group(program, cli.name, cli.summary, `${programCommand} ${cli.name} ${cli.commands[0]?.example ?? ""}`.trimEnd());
  const groups = new Map<string, Command>();
  /** The command below which a name of two words goes. */
  const groupOf = (first: string, example: string): Command => {
    const known = groups.get(first) ?? group(parent, first, cli.groups?.[first] ?? "", `${programCommand} ${cli.name} ${example}`);
    groups.set(first, known);
    return known;
  };
  for (const command of cli.commands) {
    const [first = "", second] = command.name.split(" ");
    const [above, name] = second === undefined ? [parent, first] : [groupOf(first, command.example), second];
    const added = add(above, [name, ...(command.args ?? [])].join(" "), {
      summary: command.summary,
      example: `${programCommand} ${cli.name} ${command.example}`,
      json: true,
    });
    for (const option of command.options ?? []) added.addOption(parserOf(option));
    const asked = { plugin, doing: `${programCommand} ${cli.name} ${command.name}` };
    added.action(handle(async () => (await import("./plugin-run.ts")).runnerOf(asked, command, presets)));
  }
}
