/** `/new` with a text behind it: the command begins a conversation, and the text is its first message. */
import type { Inbound } from "../../contract/index.ts";
import type { CommandMatch } from "./commands.ts";

const beginning: ReadonlySet<string> = new Set(["new", "reset"]);

/** What of a message a model is asked; `undefined`: it is a command and nothing else. */
export function messageForModel(inbound: Inbound, command: CommandMatch | undefined): Inbound | undefined {
  return command === undefined ? inbound : firstMessage(inbound, command);
}

/** The message without its command; `undefined`: the command stands alone, or is another one. */
export function firstMessage(inbound: Inbound, command: CommandMatch | undefined): Inbound | undefined {
  if (command === undefined || !beginning.has(command.name)) return undefined;
  const text = inbound.text.replace(/^\s*\/(?:\w|\\_)+(?:@(?:\w|\\_)+)?:?\s*/, "").trim();
  return text === "" && inbound.media.length === 0 ? undefined : { ...inbound, text };
}
