/** Chat commands: parsing, registration, permissions and execution. */
import { EngineError, type Inbound, PluginError, type Reply } from "../../contract/index.ts";
import { callPlugin, kindOf, pluginDeadlines, unusable } from "../../host/index.ts";
import type { CommandCall, CommandDefinition, CommandRole } from "../../sdk/contract.ts";
import { carried, replaced, type Visit } from "../../stations/index.ts";
import { nameBefore } from "../conversation/name-before.ts";
import { pressedCommand } from "./pressed-command.ts";

const validName = /^[a-z0-9_]{1,32}$/;

export interface ParsedCommand {
  readonly name: string;
  /** The rest of the first line, trimmed. */
  readonly args: string;
  /** Username of the bot that the command is addressed to, as in `/name@bot`. */
  readonly bot?: string;
}

/**
 * Parses `/name`, `/name@bot` and `/name: rest`, ignoring case. Only the first line is parsed. `undefined` for any
 * other text.
 */
export function parseCommand(text: string): ParsedCommand | undefined {
  const trimmed = text.trimStart();
  // This runs several times for every message, so most texts must be dismissed cheaply.
  if (!trimmed.startsWith("/")) return undefined;
  const [line = ""] = trimmed.split(/[\r\n\u0085\u2028\u2029]/, 1);
  // Channels pass text as Markdown, in which an underscore may be escaped.
  const [, name, bot, rest = ""] =
    /^\/((?:[a-z0-9_]|\\_){1,64})(?:@((?:[a-z0-9_]|\\_)+))?(?:(?::|(?=\s)|$)\s*(.*))?$/i.exec(line) ?? [];
  if (name === undefined) return undefined;
  const plain = name.replaceAll("\\", "").toLowerCase();
  if (!validName.test(plain)) return undefined;
  return { name: plain, args: rest.trim(), ...(bot === undefined ? {} : { bot: bot.replaceAll("\\", "") }) };
}

/** The text without the bot's own name before a command. */
function withoutName(text: string, botUsername: string | undefined): string {
  if (botUsername === undefined || !text.trimStart().startsWith("@")) return text;
  const [before = "", name = ""] = nameBefore.exec(text) ?? [];
  return name.replaceAll("\\", "").toLowerCase() === botUsername.replace(/^@/, "").toLowerCase()
    ? text.slice(before.length)
    : text;
}

/** Platforms send `/start` when a user opens a chat with the bot. */
const sameAs: Readonly<Record<string, string>> = { start: "help" };

/** Returns `/stop` if the whole message is an abort word, with or without the bot's name and trailing punctuation. */
function abortIn(text: string, words: readonly string[], botUsername: string | undefined): ParsedCommand | undefined {
  if (words.length === 0 || text.length > 200) return undefined;
  const name = botUsername?.replace(/^@/, "").toLowerCase();
  const spoken = text
    .toLowerCase()
    .replaceAll("\\", "")
    .split(/\s+/)
    .filter((word) => word !== "" && (name === undefined || word !== `@${name}`));
  const phrase = spoken.join(" ").replace(/[.!]+$/, "");
  return words.some((word) => word.trim().toLowerCase() === phrase) && phrase !== ""
    ? { name: "stop", args: "" }
    : undefined;
}

export interface CommandMatch {
  readonly name: string;
  readonly args: string;
  /** The role that may use the command. The gate checks it before the command runs. */
  readonly role: CommandRole;
  /** True if the command runs in a separate lane, so that it does not wait for a running turn. */
  readonly control: boolean;
  /** It changes something for everyone in a group, so the group sees the answer. */
  readonly forGroup?: boolean;
}

/**
 * Whether a message can be a command. Edits and forwarded messages cannot: an owner who forwards a stranger's `/config
 * set` to the agent does not request that change.
 */
function mayCommand({ kind, forward }: Pick<Inbound, "kind" | "forward">): boolean {
  return kind === "message" && forward === undefined;
}

/** The text in which a command is looked for: that of a message, or of a press that answers a request for approval. */
export function commandTextOf(inbound: Pick<Inbound, "kind" | "forward" | "text">): string | undefined {
  return mayCommand(inbound) ? inbound.text : pressedCommand(inbound);
}

/** The only command that works in a voice message. */
const spokenCommand = "stop";

/** The command that the gate found in the current message. */
export const usedCommand = carried<CommandMatch>("usedCommand");

/** The command in a message from a channel; `undefined` when there is none. Webhook calls never contain commands. */
export function commandIn(
  commands: Pick<Commands, "match">,
  inbound: Inbound,
  botUsername: string | undefined,
  visit?: Visit,
): CommandMatch | undefined {
  const commandText = inbound.authority === "channel" ? commandTextOf(inbound) : undefined;
  const found = commandText === undefined ? undefined : commands.match(commandText, botUsername, visit);
  // A machine may have misheard the rest, and a voice message may be played by anyone who holds the phone.
  return inbound.spoken === true && found?.name !== spokenCommand ? undefined : found;
}

/** What a command answers, as Markdown. */
export interface CommandReply {
  readonly text: string;
  /** Below the text. What a press of one does is `pressedCommand`'s to say. */
  readonly buttons?: Reply["buttons"];
}

/** A command of the gateway itself may answer with buttons. */
export interface BuiltInCommand extends Omit<CommandDefinition, "run"> {
  /** What it changes concerns everyone in a group, if it has these arguments. Absent: the answer is its sender's. */
  forGroup?(args: string): boolean;
  run(call: CommandCall): string | CommandReply | Promise<string | CommandReply>;
}

/** A command that only shows something unless it has arguments. */
export const withArguments = (args: string): boolean => args !== "";

export interface ListedCommand {
  /** `core`, or the name of the plugin that registered the command. */
  readonly plugin: string;
  readonly definition: BuiltInCommand;
}

export interface Commands {
  /** Registers a command. Throws `PluginError` `plugin_invalid` if the name is invalid or taken. */
  add(plugin: string, definition: CommandDefinition): void;
  /**
   * Checks other commands of a plugin as `add` does. The function that it returns puts them in the place of those that
   * it has.
   */
  renew(plugin: string, definitions: readonly CommandDefinition[]): () => void;
  /** The event keeps the commands that there are now: `match` and `run` with its visit find these. */
  keep(visit: Visit): void;
  /**
   * Finds the registered command that a text calls; `undefined` for other text, unknown commands and commands for
   * another bot.
   */
  match(text: string, botUsername?: string, visit?: Visit): CommandMatch | undefined;
  /**
   * Runs a command and returns its answer. The gate has already checked the permission. Throws `PluginError` if the
   * command fails.
   */
  run(call: CommandCall, visit?: Visit): Promise<CommandReply>;
  /** All commands: built-in ones first, then those of plugins. */
  list(): readonly ListedCommand[];
  /** The same list, reduced to what a channel's command menu shows. */
  menu(): readonly { readonly name: string; readonly summary: string }[];
}

const metCommands = carried<ReadonlyMap<string, ListedCommand>>("metCommands");

export function createCommands(options: {
  /**
   * Creates the built-in commands, see `nativeCommands`. They receive the registry because `/help` lists every command.
   */
  readonly native: (commands: Pick<Commands, "list">) => readonly BuiltInCommand[];
  /** `commands.native`. When false, the built-in commands disappear from menus and are treated as ordinary text. */
  readonly nativeEnabled?: () => boolean;
  /** `commands.abortWords`: messages that mean `/stop` when they consist of nothing else. */
  readonly abortWords?: () => readonly string[];
}): Commands {
  const { nativeEnabled = () => true, abortWords = () => [] } = options;
  /** Never changed, but replaced: events keep it. */
  let added: ReadonlyMap<string, ListedCommand> = new Map();
  const enter = (name: string, listed: ListedCommand) => {
    added = new Map(added).set(name, listed);
  };
  const knownTo = (visit: Visit | undefined) => visit?.get(metCommands) ?? added;
  const exists = ({ plugin }: ListedCommand) => plugin !== "core" || nativeEnabled();
  const list = () => [...added.values()].filter(exists);
  for (const definition of options.native({ list })) enter(definition.name, { plugin: "core", definition });

  function check(
    plugin: string,
    { name }: CommandDefinition,
    others: (name: string) => ListedCommand | undefined,
  ): void {
    const invalid = (reason: string) => new PluginError("plugin_invalid", { plugin, reason });
    if (!validName.test(name))
      throw invalid(`the command name "${name}" must have 1 to 32 characters of a-z, 0-9 and _`);
    const other = others(name);
    if (other !== undefined) throw invalid(`the command /${name} is already provided by ${other.plugin}`);
  }

  return {
    add(plugin, definition) {
      check(plugin, definition, (name) => added.get(name));
      enter(definition.name, { plugin, definition });
    },
    renew(plugin, definitions) {
      const fresh = new Map<string, ListedCommand>();
      for (const definition of definitions) {
        const others = (name: string) =>
          (added.get(name)?.plugin === plugin ? undefined : added.get(name)) ?? fresh.get(name);
        check(plugin, definition, others);
        fresh.set(definition.name, { plugin, definition });
      }
      return () => {
        added = new Map(replaced([...added], ([, listed]) => listed.plugin === plugin, [...fresh]));
      };
    },
    keep: (visit) => visit.set(metCommands, added),
    match(text, botUsername, visit) {
      const known = knownTo(visit);
      const parsed = parseCommand(withoutName(text, botUsername)) ?? abortIn(text, abortWords(), botUsername);
      const found = parsed === undefined ? undefined : (known.get(parsed.name) ?? known.get(sameAs[parsed.name] ?? ""));
      if (parsed === undefined || found === undefined || !exists(found)) return undefined;
      const forAnother =
        parsed.bot !== undefined &&
        botUsername !== undefined &&
        parsed.bot.toLowerCase() !== botUsername.replace(/^@/, "").toLowerCase();
      if (forAnother) return undefined;
      return {
        name: found.definition.name,
        args: parsed.args,
        role: found.definition.role,
        control: found.definition.control === true,
        ...(found.definition.forGroup?.(parsed.args) === true && { forGroup: true }),
      };
    },
    async run(call, visit) {
      const found = knownTo(visit).get(call.name);
      if (found === undefined)
        throw new EngineError("command_unknown", { detail: `There is no command /${call.name}` });
      const asked = { plugin: found.plugin, doing: `/${call.name}` };
      const answer: unknown = await callPlugin(asked, pluginDeadlines.command, () => found.definition.run(call));
      if (answer === undefined || answer === null) return { text: "" };
      if (typeof answer === "string") return { text: answer };
      if (found.plugin !== "core") throw unusable(asked, kindOf(answer));
      return answer as CommandReply;
    },
    list,
    menu: () => list().map(({ definition }) => ({ name: definition.name, summary: definition.summary })),
  };
}
