/** Where a channel's event belongs: its lane, and the id by which a repetition is recognized. */
import type { InboundChat } from "../contract/index.ts";
import { type CompleteInbound, whenKnown } from "../host/index.ts";
import { encodeLanePart } from "../state/index.ts";

interface Known {
  /** The channel and the account. */
  readonly lead: string;
  readonly fold: (id: string) => string | Promise<string>;
  newId(): string;
}

interface Place {
  readonly id: string;
  readonly lane: string;
}

/** The lane and the id that the channel gives, or those that its message implies. */
export function placeOf(
  message: CompleteInbound | undefined,
  given: { readonly id?: string; readonly lane?: string },
  { lead, fold, newId }: Known,
): Place | Promise<Place> {
  const hasOwnId = message?.kind === "message" && message.messageId !== undefined;
  return whenKnown(laneOf(message?.chat, given.lane, { lead, fold }), (lane) => ({
    lane,
    // Message ids may be unique in their chat only. An edit has the id of its message but is a separate event.
    id: given.id ?? (hasOwnId ? `${lane}:${message.messageId}` : newId()),
  }));
}

/**
 * A colon in an id would read as the end of it, so a lane that names the chat, or the chat and its thread, does so in
 * their encoded form. A lane of the channel's own rules stays as it is.
 */
function laneOf(
  chat: InboundChat | undefined,
  given: string | undefined,
  { lead, fold }: Pick<Known, "lead" | "fold">,
): string | Promise<string> {
  if (chat === undefined) return given ?? `${lead}:`;
  const { id, thread } = chat;
  const ofChat = `${lead}:${encodeLanePart(id)}`;
  const ofThread = thread === undefined ? ofChat : `${ofChat}:${encodeLanePart(thread)}`;
  if (given === undefined) return ofThread;
  if (!given.startsWith(`${lead}:`)) return given;
  const place = given.slice(lead.length + 1);
  return whenKnown(fold(place), (whole) => {
    if (whole === id) return ofChat;
    if (thread === undefined || !place.endsWith(`:${thread}`)) return given;
    return whenKnown(fold(place.slice(0, -thread.length - 1)), (folded) => (folded === id ? ofThread : given));
  });
}
