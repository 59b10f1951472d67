/** The command behind a press of a button of the gateway's own messages. */
import type { Inbound } from "../../contract/index.ts";

/**
 * An agent can give its own buttons any value, and a person who presses "Show the weather" has given no command:
 * `Approvals.answer` takes a press only from a message of its request, and `/model` from one of its lists.
 */
const pressed = /^callback_data: (\/(?:(?:approve|deny) [A-Z2-9]{8}(?: session)?|model \S+))$/;

export function pressedCommand({ kind, text }: Pick<Inbound, "kind" | "text">): string | undefined {
  return kind === "press" ? pressed.exec(text)?.[1] : undefined;
}
