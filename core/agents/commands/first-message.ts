/** `/new TEXT` begins a conversation and uses the text as its first message. */
import type { Inbound } from "../../contract/index.ts";
import { nameBefore } from "../conversation/name-before.ts";
import type { CommandMatch } from "./commands.ts";

const beginning: ReadonlySet<string> = new Set(["new", "reset"]);

/** The message that the model receives; `undefined` if the message is only a command. */
export function messageForModel(inbound: Inbound, command: CommandMatch | undefined): Inbound | undefined {
  return command === undefined ? inbound : firstMessage(inbound, command);
}

/** The message without its `/new` or `/reset`; `undefined` if nothing follows the command, or for other commands. */
export function firstMessage(inbound: Inbound, command: CommandMatch | undefined): Inbound | undefined {
  if (command === undefined || !beginning.has(command.name)) return undefined;
  const text = inbound.text
    .replace(nameBefore, "")
    .replace(/^\s*\/(?:\w|\\_)+(?:@(?:\w|\\_)+)?:?\s*/, "")
    .trim();
  return text === "" && inbound.media.length === 0 ? undefined : { ...inbound, text };
}
