/** The lane of a channel's event. */
import type { InboundChat } from "../contract/index.ts";
import { whenKnown } from "../host/index.ts";
import { encodeLanePart } from "../state/index.ts";

/**
 * A colon in an id would read as the end of it, so a lane that names the chat, or the chat and its thread, does so in their encoded form. A
 * lane of the channel's own rules stays as it is. `lead` is the channel and the account.
 */
export function laneOf(
  given: string,
  lead: string,
  { id, thread }: InboundChat,
  fold: (id: string) => string | Promise<string>,
): string | Promise<string> {
  if (!given.startsWith(lead)) return given;
  const place = given.slice(lead.length);
  return whenKnown(fold(place), (whole) => {
    if (whole === id) return lead + encodeLanePart(id);
    if (thread === undefined || !place.endsWith(`:${thread}`)) return given;
    return whenKnown(fold(place.slice(0, -thread.length - 1)), (chat) =>
      chat === id ? `${lead}${encodeLanePart(id)}:${encodeLanePart(thread)}` : given,
    );
  });
}
