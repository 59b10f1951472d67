/** The event of a protocol that brings no schema of its own: a message that a person wrote, to the bot or in a room. */
import Type, { type Static } from "typebox";
import type { Parsed } from "../contract.ts";
import { readMention } from "../text/mention.ts";

/** The schema of `LineMessage`. */
export const lineMessage = Type.Object({
  from: Type.String(),
  text: Type.String(),
  room: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  id: Type.Optional(Type.String()),
  at: Type.Optional(Type.Number()),
  address: Type.Optional(Type.String()),
  names: Type.Optional(Type.Array(Type.String())),
  bot: Type.Optional(Type.Boolean()),
});

/**
 * A message that `link.receive` stores, if the protocol has no `event` of its own.
 *
 * @example
 * link.receive({ from: "ada", room: "#bread", text: "bot: how long does it rise?" });
 */
export interface LineMessage {
  /** Id of the sender, by which the access policy knows them. */
  readonly from: string;
  /** Plain text. A message without one is not stored. */
  readonly text: string;
  /** The room in which it was written. Absent: to the bot alone. */
  readonly room?: string | undefined;
  /** Name of the sender, if it is not the id. */
  readonly name?: string | undefined;
  /** The server's id of the message: a message whose id came before is a repetition. */
  readonly id?: string | undefined;
  /** When the server got it, in epoch milliseconds. `NaN` means absent. */
  readonly at?: number | undefined;
  /**
   * The address of the sender, if it is not the id. It is stored for 30 days, also over a restart, and passed to
   * `reach`.
   */
  readonly address?: string | undefined;
  /**
   * Names of the bot at that time, its own first: a message whose sender has that name, by `name` or else `from`, is
   * the bot's and is not stored. A message in a room that contains one of the names is addressed to the bot. Default:
   * `link.name`, and the name that the bot wants.
   */
  readonly names?: readonly string[] | undefined;
  /**
   * True if the server says that the sender is a bot. Bots are answered only where their id is listed and their text
   * names this bot.
   */
  readonly bot?: boolean | undefined;
}

/** `parse` of a protocol without one. `letters` are those of `readMention`, `fold` the form in which names compare. */
export function parseLineMessage(
  { from, text: written, room, name = from, id, at, names = [], bot }: Static<typeof lineMessage>,
  { letters, fold }: { readonly letters: string; fold(name: string): string },
): Parsed {
  const [own = ""] = names.map(fold);
  // By the name alone: an account of a person may be called like the bot.
  if (own !== "" && fold(name) === own) return { silent: "own_message" };
  if (written.trim() === "") return null;
  const { text, mention } = readMention(written, names, { letters });
  return {
    chat: room === undefined ? { id: from, kind: "direct" } : { id: room, kind: "group", title: room },
    sender: { id: from, name, username: name, ...(bot === true && { isBot: true }) },
    text,
    mention: room === undefined || mention,
    ...(mention && { mentionedByName: true }),
    ...(id !== undefined && { messageId: id }),
    ...(at !== undefined && { timestamp: at }),
  };
}
