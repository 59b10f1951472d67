/** A command that answers an unknown option with what it has, where no spelling is near enough for a suggestion. */
import { Command } from "commander";

export class ProgramCommand extends Command {
  override createCommand(name?: string): Command {
    return new ProgramCommand(name);
  }

  override error(message: string, options?: Parameters<Command["error"]>[1]): never {
    const isPlain = options?.code === "commander.unknownOption" && !message.includes("Did you mean");
    super.error(isPlain ? `${message}; the options of this command are ${this.#optionNames()}` : message, options);
  }

  #optionNames(): string {
    const help = this.createHelp();
    return [...help.visibleOptions(this), ...help.visibleGlobalOptions(this)].map(({ long, short }) => long ?? short).join(", ");
  }
}
