/**
 * Checks what a plugin declares for the command line. Types alone are not enough, because plugins run without a type
 * check.
 */
import type { CliCommand, CliDefinition } from "../../sdk/contract.ts";

const word = /^[a-z][a-z0-9-]{0,31}$/;
const names = /^[a-z][a-z0-9-]{0,31}(?: [a-z][a-z0-9-]{0,31})?$/;
const argument = /^(<[a-z-]+>|\[[a-z-]+\])$/;

/** Options that every command has. */
const ownOptions: readonly string[] = ["json", "help", "config", "state", "version"];

/** A day, because timers cannot wait longer than some weeks. */
const mostSeconds = 86_400;

/** Returns what is wrong, as the end of a sentence about the plugin; `undefined` if nothing is. */
export function cliProblem(cli: CliDefinition | undefined): string | undefined {
  if (cli === undefined) return undefined;
  if (!word.test(cli.name)) return "the name of its cli must be a to z, 0 to 9 and -, beginning with a letter";
  if (!Array.isArray(cli.commands as unknown)) return `its cli ${cli.name} needs a list of commands`;
  const groups = new Set(
    cli.commands.map(({ name }) => name.split(" ")).flatMap(([first, second]) => (second === undefined ? [] : first)),
  );
  for (const [index, command] of cli.commands.entries()) {
    const problem = commandProblem(cli.name, command);
    if (problem !== undefined) return problem;
    if (cli.commands.findIndex(({ name }) => name === command.name) !== index)
      return `its cli ${cli.name} has the command ${command.name} twice`;
    if (groups.has(command.name)) return `${cli.name} ${command.name} is both a command and the first word of others`;
  }
  return undefined;
}

function commandProblem(
  group: string,
  { name, args = [], options = [], timeoutSeconds = 0, run }: CliCommand,
): string | undefined {
  if (!names.test(name))
    return `the command ${name} of its cli must be one or two words of a to z, 0 to 9 and -, beginning with a letter`;
  const called = `${group} ${name}`;
  if (!args.every((arg) => argument.test(arg))) return `the arguments of ${called} must be written <name> or [name]`;
  if (!(timeoutSeconds >= 0 && timeoutSeconds <= mostSeconds))
    return `the timeoutSeconds of ${called} must be a number from 0 to ${mostSeconds}`;
  if (typeof run !== "function") return `the command ${called} has no run function`;
  for (const [index, option] of options.entries()) {
    if (!word.test(option.name) || ownOptions.includes(option.name) || typeof option.summary !== "string")
      return (
        `the option ${option.name} of ${called} needs a summary, and a name of a to z, 0 to 9 and - ` +
        "that no command has by itself"
      );
    if (options.findIndex((other) => other.name === option.name) !== index)
      return `${called} has the option ${option.name} twice`;
    if (
      option.value === undefined &&
      (option.choices !== undefined || option.repeatable === true || option.required === true)
    )
      return (
        `the option ${option.name} of ${called} has no value, so it cannot have choices, be repeatable ` +
        "or be required"
      );
  }
  return undefined;
}
