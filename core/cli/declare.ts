/** How commands are declared: `program.ts` passes these to the files that add commands. */
import { Command } from "commander";
import { nearestOf } from "../config/checking/suggest.ts";
import { programCommand } from "../contract/command.ts";
import { HostError } from "../contract/errors.ts";
import type { CommandContext } from "./context.ts";

export type Run<A extends readonly unknown[], O> = (
  context: CommandContext,
  args: A,
  options: O,
) => Promise<number | undefined>;

export interface Described {
  readonly summary: string;
  /** Lines of help after the options. The first is a sentence; the others are shown as typed. */
  readonly example: string;
  readonly json?: true;
}

/** Adds a command with its name and arguments to a parent. */
export type Add = (parent: Command, nameAndArguments: string, described: Described) => Command;

/** Creates a command's action, whose code is loaded when it runs. */
export type Handle = <A extends readonly unknown[], O>(
  load: () => Promise<Run<A, O>>,
  options?: { readonly looks?: boolean; readonly creates?: boolean },
) => (...received: readonly unknown[]) => Promise<void>;

const unknownCommand = "commander.unknownCommand";
const unknownOption = "commander.unknownOption";
const missingOption = "commander.missingMandatoryOptionValue";
const bySetup = () => `\`${programCommand} init\` asks for your bot and your model`;
const byGateway = () => `\`${programCommand} gateway\` starts the gateway`;

/** What people type who know other servers, and what does it here. */
const otherWords: Readonly<Record<string, () => string>> = {
  ...{ configure: bySetup, wizard: bySetup, install: bySetup },
  ...{ start: byGateway, run: byGateway, serve: byGateway, up: byGateway },
};

/** A word that more groups have, such as `list`, says nothing about the command that was meant. */
const mostSuggested = 3;

/** A command whose errors name what it has: its options, or the command that was meant. */
export class ProgramCommand extends Command {
  override createCommand(name?: string): Command {
    return new ProgramCommand(name);
  }

  override error(message: string, options?: Parameters<Command["error"]>[1]): never {
    const [name = ""] = this.args;
    const elsewhere = this.parent === null && Object.hasOwn(otherWords, name) ? otherWords[name]?.() : undefined;
    if (options?.code === unknownCommand && elsewhere !== undefined)
      super.error(`error: unknown command '${name}': ${elsewhere}`, options);
    const below = options?.code === unknownCommand ? this.#below(name) : [];
    if (below.length > 0 && below.length <= mostSuggested)
      super.error(`error: unknown command '${name}'\n(Did you mean ${below.join(" or ")}?)`, options);
    // A required option may be missing because it is misspelled.
    const unknown = options?.code === missingOption ? this.args.find((word) => word.startsWith("-")) : undefined;
    if (unknown !== undefined) {
      const meant = nearestOf(unknown, this.#optionNames());
      const suggestion = meant === undefined ? "" : `\n(Did you mean ${meant}?)`;
      this.error(`error: unknown option '${unknown}'${suggestion}`, { code: unknownOption });
    }
    const isPlain = options?.code === unknownOption && !message.includes("Did you mean");
    super.error(
      isPlain ? `${message}; the options of this command are ${this.#optionNames().join(", ")}` : message,
      options,
    );
  }

  /** The help of a misspelled command is that of another one: the mistake is named instead. */
  override helpInformation(context?: Parameters<Command["helpInformation"]>[0]): string {
    const [name = "-"] = this.args;
    const known = this.commands.flatMap((command) => [command.name(), ...command.aliases()]);
    if (known.length === 0 || name.startsWith("-") || known.includes(name)) return super.helpInformation(context);
    const meant = nearestOf(name, known);
    const suggestion = meant === undefined ? "" : `\n(Did you mean ${meant}?)`;
    return this.error(`error: unknown command '${name}'${suggestion}`, { code: unknownCommand });
  }

  /** Commands of this name in the groups, such as `webhooks imap`. */
  #below(name: string): readonly string[] {
    return this.commands.flatMap((group) =>
      group.commands.filter((command) => command.name() === name).map(() => `${group.name()} ${name}`),
    );
  }

  #optionNames(): readonly string[] {
    const help = this.createHelp();
    return [...help.visibleOptions(this), ...help.visibleGlobalOptions(this)].flatMap(
      ({ long, short }) => long ?? short ?? [],
    );
  }
}

export function group(program: Command, name: string, summary: string, text: string): Command {
  return program
    .command(name)
    .description(summary)
    .helpCommand(false)
    .addHelpText("after", `\nExample:\n${indented(text)}`);
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new HostError("usage", { reason: `"${text}" is not a whole number` });
  return Number(text);
}

/** The option of commands that read a delivery from a file. */
export const deliveryHeader = [
  "--header <header>",
  "a header of the delivery, as NAME: VALUE; may be repeated",
  (one: string, all: readonly string[]): readonly string[] => [...all, one],
  [],
] as const;

/** The values of `--since`, for its help. */
export const sinceForms = "30m, 2h, 3d, today, yesterday, 2026-11-20 or 2026-11-20T14:00";

export const indented = (text: string): string =>
  text
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
