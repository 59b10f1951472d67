/** Renders the events that wait for the next turn of a main session, such as wakes and hook summaries. */
import type { StoredEvent } from "../../state/index.ts";
import { wrapExternal } from "../../untrusted/index.ts";
import { defuseLines, renderTime } from "./envelope.ts";

/** Longest text of one event. The store only limits the total size of a turn's events. */
const maxEventChars = 20_000;
/** What is left of each event where many of them share a small context. */
const minEventChars = 200;

export function cut(text: string, max: number): string {
  const characters = text.length > max ? [...text] : [];
  return characters.length > max
    ? `${characters.slice(0, max).join("")}… [cut: ${characters.length} characters]`
    : text;
}

export function eventText(event: StoredEvent): string {
  const body = event.body as { readonly text?: unknown } | null;
  return typeof body?.text === "string" ? body.text.trim() : "";
}

/** Text that came over HTTP is wrapped as external content, unless its mapping turns that off. */
function isForeign({ authority, body }: StoredEvent): boolean {
  return authority === "hook" && (body as { readonly unwrapped?: unknown } | null)?.unwrapped !== true;
}

/**
 * The operator's instructions for an event, outside the wrapper. They come from the configuration, never from the HTTP
 * request.
 */
function instructionsOf({ authority, body }: StoredEvent): string {
  const { instructions } = (authority === "hook" ? body : {}) as { readonly instructions?: unknown };
  return typeof instructions === "string"
    ? `The operator's instructions for this event:\n${defuseLines(instructions.trim())}\n\n`
    : "";
}

/** Verified facts about the sender, also outside the wrapper. */
function originOf({ authority, body }: StoredEvent): string {
  const { origin } = (authority === "hook" ? body : {}) as { readonly origin?: unknown };
  return typeof origin === "string" ? `${defuseLines(origin)}\n\n` : "";
}

/** Renders the events, oldest first. Empty when there are none. */
export function renderQueued(
  events: readonly StoredEvent[],
  { leftOut = 0, maxCharacters = Number.POSITIVE_INFINITY }: { leftOut?: number; readonly maxCharacters?: number } = {},
): string {
  const share = Math.max(minEventChars, Math.floor(maxCharacters / Math.max(1, events.length)));
  const items = events.map((event, index) => {
    const text = cut(eventText(event), Math.min(maxEventChars, share));
    const shown = isForeign(event) ? wrapExternal({ text, source: event.source }) : defuseLines(text);
    return (
      `${index + 1}. ${renderTime(event.acceptedAt)}, ` +
      `${event.kind}:\n${instructionsOf(event)}${originOf(event)}${shown}`
    );
  });
  if (leftOut > 0) items.unshift(`${leftOut} earlier ${leftOut === 1 ? "event was" : "events were"} left out.`);
  return items.length === 0 ? "" : `Events since the last turn, oldest first:\n\n${items.join("\n\n")}`;
}
