/** Options of a plugin's command: from the declaration to the parser, and from the parsed values to the plugin. */
import { InvalidArgumentError, Option } from "commander";
import type { CliCall, CliCommand } from "../../sdk/contract.ts";

type CliOption = NonNullable<CliCommand["options"]>[number];

export function parserOf({ name, summary, value, choices, repeatable = false, required = false }: CliOption): Option {
  const option = new Option(value === undefined ? `--${name}` : `--${name} <${value}>`, summary);
  if (required) option.makeOptionMandatory();
  if (choices !== undefined) option.choices([...choices]);
  if (!repeatable) return option;
  // Set after `choices`, which sets a parser of its own; help keeps the list of choices.
  return option.argParser<readonly string[]>((text, before = []) => {
    if (choices !== undefined && !choices.includes(text))
      throw new InvalidArgumentError(`Allowed choices are ${choices.join(", ")}.`);
    return [...before, text];
  });
}

/** The given options, by their declared names. */
export function givenOptions(
  declared: readonly CliOption[] = [],
  parsed: Readonly<Record<string, unknown>>,
): CliCall["options"] {
  return Object.fromEntries(
    declared.flatMap((option) => {
      const parser = parserOf(option);
      const value = parsed[parser.attributeName()];
      // The parser stores `--no-browser` as a `browser` that is false, and one with a value as that value.
      const given = parser.negate && typeof value === "boolean" ? !value : value;
      return given === undefined || given === false ? [] : [[option.name, given as string | readonly string[] | true]];
    }),
  );
}
