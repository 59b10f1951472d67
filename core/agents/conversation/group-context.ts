/** Group messages that did not address the bot. The next turn in the group reads them from the inbox as context. */

import type { Inbound, Silent } from "../../contract/index.ts";
import type { Store, StoredEvent } from "../../state/index.ts";
import { defuseLines, plainId, plainName, renderAnswered, renderSender, renderTime } from "./envelope.ts";

const namespace = "group-context";
/** Slightly longer than the inbox keeps events. */
const keepMs = 8 * 24 * 60 * 60_000;
const maxMessageCharacters = 2_000;
/** Largest size of the context; the newest messages take precedence. */
const mostCharacters = 50_000;

type Parsed = Inbound | Silent | null | undefined;

export interface GroupContextOptions {
  readonly store: Pick<Store, "passedOver" | "get" | "set">;
  readonly parse: (event: StoredEvent, gathered: readonly StoredEvent[]) => Parsed | Promise<Parsed>;
  /** Maximum number of messages; 0 means none. */
  readonly limit: (inbound: Inbound) => number;
  readonly now: () => number;
}

export interface GroupContext {
  /** Messages that the session has not seen yet, oldest first. Empty for direct chats. */
  before(inbound: Inbound, sessionKey: string): Promise<readonly Inbound[]>;
  /** Marks everything before this message as seen by the session. */
  markSeen(inbound: Inbound, sessionKey: string): Promise<unknown>;
  /** Moves the mark to a new session key, because the platform changed the group's id. */
  move(from: string, to: string): Promise<unknown>;
}

export function createGroupContext({ store, parse, limit, now }: GroupContextOptions): GroupContext {
  const isGroup = ({ authority, chat }: Inbound) =>
    authority === "channel" && (chat.kind === "group" || chat.kind === "channel");
  return {
    async before(inbound, sessionKey) {
      const most = isGroup(inbound) ? limit(inbound) : 0;
      if (most === 0) return [];
      const after = await store.get(namespace, sessionKey);
      const units = await store.passedOver(inbound.id, {
        reason: "mention_required",
        limit: most,
        ...(typeof after === "string" ? { after } : {}),
      });
      const parsed = await Promise.all(
        units.map((events) => (events[0] === undefined ? undefined : parse(events[0], events))),
      );
      return parsed.flatMap((one) => (one === null || one === undefined || "silent" in one ? [] : [one]));
    },
    markSeen: async (inbound, sessionKey) => {
      if (isGroup(inbound)) await store.set(namespace, sessionKey, inbound.id, { expiresAt: now() + keepMs });
    },
    async move(from, to) {
      const last = await store.get(namespace, from);
      if (last !== null && (await store.get(namespace, to)) === null)
        await store.set(namespace, to, last, { expiresAt: now() + keepMs });
    },
  };
}

/**
 * Renders each message behind a line with verified facts, like the current message. Empty when there are no messages.
 */
export function renderGroupContext(
  messages: readonly Inbound[],
  { maxCharacters = mostCharacters }: { readonly maxCharacters?: number } = {},
): string {
  const lines: string[] = [];
  let left = Math.min(maxCharacters, mostCharacters);
  for (const message of messages.toReversed()) {
    const line = renderMessage(message);
    left -= line.length;
    if (left < 0) break;
    lines.unshift(line);
  }
  if (lines.length === 0) return "";
  return ["[context: said here since your last turn, and not addressed to you]", ...lines].join("\n");
}

/**
 * Names the author of forwarded text and the message that is answered. Otherwise a forward would read as the sender's
 * own words.
 */
function renderOrigin({ forward, replyTo }: Inbound): string {
  const from = forward === undefined ? "" : `, forwarded from ${plainName(forward.from)}`;
  return replyTo === undefined ? from : `${from}, ${renderAnswered(replyTo)}`;
}

function renderMessage(message: Inbound): string {
  const { sender, messageId, timestamp, kind, text, spoken } = message;
  const characters = [...text];
  const cut =
    characters.length > maxMessageCharacters ? `${characters.slice(0, maxMessageCharacters - 1).join("")}…` : text;
  const which = messageId === undefined ? "" : ` message:${plainId(messageId)}`;
  return (
    `[context ${renderSender(sender)}${which} ` +
    `${renderTime(timestamp)}${kind === "edit" ? " edited" : ""}${spoken === true ? ", spoken" : ""}` +
    `${renderOrigin(message)}] ` +
    `${defuseLines(cut)}`
  );
}
