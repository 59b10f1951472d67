/** Events that wait for the next turn of a main session (wakes, summaries of hook runs), as that turn reads them. */
import type { StoredEvent } from "../../state/index.ts";
import { wrapExternal } from "../../untrusted/index.ts";
import { defuseLines, renderTime } from "./envelope.ts";

/** The store bounds the events of a turn together; one that is longer than that by itself is cut. */
const maxEventChars = 20_000;

export function cut(text: string, max: number): string {
  const characters = text.length > max ? [...text] : [];
  return characters.length > max ? `${characters.slice(0, max).join("")}… [cut: ${characters.length} characters]` : text;
}

export function eventText(event: StoredEvent): string {
  const body = event.body as { readonly text?: unknown } | null;
  return typeof body?.text === "string" ? body.text.trim() : "";
}

/** What came over HTTP is wrapped, unless its mapping says that it need not be. */
function isForeign({ authority, body }: StoredEvent): boolean {
  return authority === "hook" && (body as { readonly unwrapped?: unknown } | null)?.unwrapped !== true;
}

/** What the operator wants done with it, outside of the wrapper; nothing that came over HTTP can set it. */
function instructionsOf({ authority, body }: StoredEvent): string {
  const { instructions } = (authority === "hook" ? body : {}) as { readonly instructions?: unknown };
  return typeof instructions === "string" ? `The operator's instructions for this event:\n${defuseLines(instructions.trim())}\n\n` : "";
}

/** What the gateway knows of the sender, outside of the wrapper too. */
function originOf({ authority, body }: StoredEvent): string {
  const { origin } = (authority === "hook" ? body : {}) as { readonly origin?: unknown };
  return typeof origin === "string" ? `${defuseLines(origin)}\n\n` : "";
}

/** Oldest first; empty where there are none. */
export function renderQueued(events: readonly StoredEvent[], leftOut = 0): string {
  const items = events.map((event, index) => {
    const text = cut(eventText(event), maxEventChars);
    const shown = isForeign(event) ? wrapExternal({ text, source: event.source }) : defuseLines(text);
    return `${index + 1}. ${renderTime(event.acceptedAt)}, ${event.kind}:\n${instructionsOf(event)}${originOf(event)}${shown}`;
  });
  if (leftOut > 0) items.unshift(`${leftOut} earlier ${leftOut === 1 ? "event was" : "events were"} left out.`);
  return items.length === 0 ? "" : `Events since the last turn, oldest first:\n\n${items.join("\n\n")}`;
}
