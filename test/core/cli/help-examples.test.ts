/** The examples that `--help` prints: each is a command line that the program understands. */
import { type Command, CommanderError } from "commander";
import { expect, test } from "vitest";
import { programCommand } from "../../../core/contract/command.ts";
import { allCommands, helpOf, type NamedCommand } from "../../support/commands.ts";

/** The words of a command line, without what only the shell reads: redirections. */
function wordsOf(line: string): readonly string[] {
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(>)|([^\s'">]+)/g)];
  const end = words.findIndex(([word]) => word === ">");
  return (end === -1 ? words : words.slice(0, end)).map(
    ([, single, double, , plain]) => single ?? double ?? plain ?? "",
  );
}

const examplesOf = (command: Command): readonly string[] => {
  const [, text = ""] = helpOf(command).split("\nExample:\n");
  return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
};

/** Which command the line would run; or the error. */
async function runs(line: string, commands: readonly NamedCommand[]): Promise<string> {
  const words = wordsOf(line.slice(programCommand.length));
  const meant = commands.find(({ name }) => `${words.join(" ")} `.startsWith(`${name} `));
  if (meant === undefined) return "no such command";
  let ran = "nothing";
  for (const { name, command, program } of commands) {
    if (program === meant.program)
      command.action(() => {
        ran = name;
      });
    command.configureOutput({ writeErr() {} });
  }
  try {
    await meant.program.parseAsync([...words], { from: "user" });
    return ran;
  } catch (error) {
    return error instanceof CommanderError ? error.message : String(error);
  }
}

test("every command has examples, and the program understands each of them", async () => {
  const commands = await allCommands();
  const wrong: string[] = [];
  let checked = 0;
  for (const { name, command } of commands) {
    const examples = examplesOf(command);
    if (examples.length === 0) wrong.push(`${name}: no example`);
    for (const line of examples) {
      const ran = line.startsWith(`${programCommand} `) ? await runs(line, commands) : "another program";
      checked += 1;
      // What goes before, such as the export before the deletion, is of the same group.
      if (ran.split(" ")[0] !== name.split(" ")[0]) wrong.push(`${name}: ${line}: ${ran}`);
    }
    if (!examples.some((line) => line.startsWith(`${programCommand} ${name}`)))
      wrong.push(`${name}: not in its example`);
  }
  expect(wrong).toEqual([]);
  expect(checked).toBeGreaterThanOrEqual(commands.length);
});

/** The error that a command line ends with. */
async function errorOf({ program, command }: NamedCommand, words: readonly string[]): Promise<string> {
  for (let above: Command | null = command; above !== null; above = above.parent)
    above.configureOutput({ writeErr() {}, writeOut() {} });
  try {
    await program.parseAsync([...words], { from: "user" });
    return "none";
  } catch (error) {
    return error instanceof CommanderError && error.exitCode !== 0 ? error.message : `not an error: ${String(error)}`;
  }
}

test("a misspelled command or option of any command is answered with the one that was meant", async () => {
  const wrong: string[] = [];
  for (const leaf of await allCommands()) {
    const words = leaf.name.split(" ");
    const [last = ""] = words.slice(-1);
    const misspelled = `${last}x`;
    leaf.command.action(() => {});
    const ofCommand = await errorOf(leaf, [...words.slice(0, -1), misspelled]);
    if (!ofCommand.includes(`Did you mean ${last}?`)) wrong.push(`${leaf.name}: ${misspelled}: ${ofCommand}`);
    for (const { long, hidden } of leaf.command.options) {
      if (long == null || hidden) continue;
      const ofOption = await errorOf(leaf, [...words, `${long}x`]);
      if (!ofOption.includes("Did you mean")) wrong.push(`${leaf.name} ${long}x: ${ofOption}`);
    }
    const ofNonsense = await errorOf(leaf, [...words, "--nonsense"]);
    if (!ofNonsense.includes("the options of this command are")) wrong.push(`${leaf.name} --nonsense: ${ofNonsense}`);
  }
  expect(wrong).toEqual([]);
});
