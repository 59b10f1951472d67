/** Chat commands: what counts as one, who may use it, and what answers. */
import { EngineError, type Inbound, PluginError } from "../../contract/index.ts";
import { callPlugin, kindOf, pluginDeadlines, unusable } from "../../host/index.ts";
import type { CommandCall, CommandDefinition, CommandRole } from "../../sdk/contract.ts";
import { carried } from "../../stations/index.ts";

const validName = /^[a-z0-9_]{1,32}$/;

export interface ParsedCommand {
  readonly name: string;
  /** Rest of the first line, trimmed. */
  readonly args: string;
  /** Bot that was named behind `@`. */
  readonly bot?: string;
}

/** `/name`, `/name@bot`, `/name: rest`, in any case; only the first line counts. `undefined` for any other text. */
export function parseCommand(text: string): ParsedCommand | undefined {
  const trimmed = text.trimStart();
  // Every message is asked about, several times on its way.
  if (!trimmed.startsWith("/")) return undefined;
  const [line = ""] = trimmed.split(/[\r\n\u0085\u2028\u2029]/, 1);
  // Channels hand text over as Markdown, where an underscore may be escaped.
  const [, name, bot, rest = ""] = /^\/((?:[a-z0-9_]|\\_){1,64})(?:@((?:[a-z0-9_]|\\_)+))?(?:(?::|(?=\s)|$)\s*(.*))?$/i.exec(line) ?? [];
  if (name === undefined) return undefined;
  const plain = name.replaceAll("\\", "").toLowerCase();
  if (!validName.test(plain)) return undefined;
  return { name: plain, args: rest.trim(), ...(bot === undefined ? {} : { bot: bot.replaceAll("\\", "") }) };
}

/** Platforms send `/start` when a chat with the bot is opened. */
const sameAs: Readonly<Record<string, string>> = { start: "help" };

/** `/stop`, when the whole message is one of the words, with or without the bot's name and a sign at the end. */
function abortIn(text: string, words: readonly string[], botUsername: string | undefined): ParsedCommand | undefined {
  if (words.length === 0 || text.length > 200) return undefined;
  const name = botUsername?.replace(/^@/, "").toLowerCase();
  const spoken = text
    .toLowerCase()
    .replaceAll("\\", "")
    .split(/\s+/)
    .filter((word) => word !== "" && (name === undefined || word !== `@${name}`));
  const said = spoken.join(" ").replace(/[.!]+$/, "");
  return words.some((word) => word.trim().toLowerCase() === said) && said !== "" ? { name: "stop", args: "" } : undefined;
}

export interface CommandMatch {
  readonly name: string;
  readonly args: string;
  /** Who may use it; asked before it runs. */
  readonly role: CommandRole;
  /** It gets a lane of its own. */
  readonly control: boolean;
}

/**
 * Whether a message may be a command at all. An edit that reads like a command is an ordinary turn, and so is a forwarded message: an
 * owner who shows the agent a stranger's `/config set` does not ask for it.
 */
export function mayCommand({ kind, forward }: Pick<Inbound, "kind" | "forward">): boolean {
  return kind === "message" && forward === undefined;
}

/** The command that the message of a visit is, once the gate has asked. */
export const usedCommand = carried<CommandMatch>("usedCommand");

/** The command that a message is. Hooks give none. */
export function commandIn(commands: Pick<Commands, "match">, inbound: Inbound, botUsername: string | undefined): CommandMatch | undefined {
  return inbound.authority === "channel" && mayCommand(inbound) ? commands.match(inbound.text, botUsername) : undefined;
}

export interface ListedCommand {
  /** `core`, or the plugin that brought it. */
  readonly plugin: string;
  readonly definition: CommandDefinition;
}

export interface Commands {
  /** Throws `PluginError` `plugin_invalid` for a bad name or one that is taken. */
  add(plugin: string, definition: CommandDefinition): void;
  /** The registered command that a text calls; `undefined` for text, unknown commands, and those for another bot. */
  match(text: string, botUsername?: string): CommandMatch | undefined;
  /**
   * What is answered, as Markdown. Who may ask was decided before, as everything else is, by the gate. Throws `PluginError` when the
   * command fails.
   */
  run(call: CommandCall): Promise<string>;
  /** Native ones, then those of plugins. */
  list(): readonly ListedCommand[];
  /** The same, for a channel's menu. */
  menu(): readonly { readonly name: string; readonly summary: string }[];
}

export function createCommands(options: {
  /** The built-in ones, see `nativeCommands`. They may list the others, so they are created with the registry. */
  readonly native: (commands: Pick<Commands, "list">) => readonly CommandDefinition[];
  /** `commands.native`; false: the built-in ones are in no menu, and are text like any other when they are typed. */
  readonly nativeEnabled?: () => boolean;
  /** `commands.abortWords`: whole messages that mean `/stop`. */
  readonly abortWords?: () => readonly string[];
}): Commands {
  const { nativeEnabled = () => true, abortWords = () => [] } = options;
  const added = new Map<string, ListedCommand>();
  const exists = ({ plugin }: ListedCommand) => plugin !== "core" || nativeEnabled();
  const list = () => [...added.values()].filter(exists);
  for (const definition of options.native({ list })) added.set(definition.name, { plugin: "core", definition });

  return {
    add(plugin, definition) {
      const invalid = (reason: string) => new PluginError("plugin_invalid", { plugin, reason });
      if (!validName.test(definition.name)) throw invalid(`the command name "${definition.name}" is not 1 to 32 of a-z, 0-9 and _`);
      const other = added.get(definition.name);
      if (other !== undefined) throw invalid(`the command /${definition.name} is already that of ${other.plugin}`);
      added.set(definition.name, { plugin, definition });
    },
    match(text, botUsername) {
      const parsed = parseCommand(text) ?? abortIn(text, abortWords(), botUsername);
      const found = parsed === undefined ? undefined : (added.get(parsed.name) ?? added.get(sameAs[parsed.name] ?? ""));
      if (parsed === undefined || found === undefined || !exists(found)) return undefined;
      const forAnother =
        parsed.bot !== undefined && botUsername !== undefined && parsed.bot.toLowerCase() !== botUsername.replace(/^@/, "").toLowerCase();
      if (forAnother) return undefined;
      return { name: found.definition.name, args: parsed.args, role: found.definition.role, control: found.definition.control === true };
    },
    async run(call) {
      const found = added.get(call.name);
      if (found === undefined) throw new EngineError("command_unknown", { detail: `There is no command /${call.name}` });
      const asked = { plugin: found.plugin, doing: `/${call.name}` };
      const answer: unknown = await callPlugin(asked, pluginDeadlines.command, () => found.definition.run(call));
      if (answer === undefined || answer === null) return "";
      if (typeof answer !== "string") throw unusable(asked, kindOf(answer));
      return answer;
    },
    list,
    menu: () => list().map(({ definition }) => ({ name: definition.name, summary: definition.summary })),
  };
}
