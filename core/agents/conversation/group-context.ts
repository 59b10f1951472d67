/** What people said in a group without addressing the bot: read back from the inbox, as context of the next turn there. */

import type { Inbound, Silent } from "../../contract/index.ts";
import type { Store, StoredEvent } from "../../state/index.ts";
import { defuseLines, plainId, plainName, renderAnswered, renderSender, renderTime } from "./envelope.ts";

const namespace = "group-context";
/** As long as events are kept, and a little more. */
const keepMs = 8 * 24 * 60 * 60_000;
const maxMessageCharacters = 2_000;
/** Of more than this, the newest are used. */
const maxCharacters = 50_000;

export interface GroupContextOptions {
  readonly store: Pick<Store, "passedOver" | "get" | "set">;
  readonly parse: (event: StoredEvent, gathered: readonly StoredEvent[]) => Inbound | Silent | null | undefined;
  /** How many messages at most; 0: none. */
  readonly limit: (inbound: Inbound) => number;
  readonly now: () => number;
}

export interface GroupContext {
  /** Messages that this session does not know yet, oldest first; none for direct chats. */
  before(inbound: Inbound, sessionKey: string): Promise<readonly Inbound[]>;
  /** Marks everything before this message as known to the session. */
  told(inbound: Inbound, sessionKey: string): Promise<unknown>;
  /** The group has another id, and its session another key. */
  move(from: string, to: string): Promise<unknown>;
}

export function createGroupContext({ store, parse, limit, now }: GroupContextOptions): GroupContext {
  const isGroup = ({ authority, chat }: Inbound) => authority === "channel" && (chat.kind === "group" || chat.kind === "channel");
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
      return units.flatMap((events) => {
        const [leader] = events;
        const parsed = leader === undefined ? undefined : parse(leader, events);
        return parsed === null || parsed === undefined || "silent" in parsed ? [] : [parsed];
      });
    },
    told: async (inbound, sessionKey) => {
      if (isGroup(inbound)) await store.set(namespace, sessionKey, inbound.id, { expiresAt: now() + keepMs });
    },
    async move(from, to) {
      const last = await store.get(namespace, from);
      if (last !== null && (await store.get(namespace, to)) === null) await store.set(namespace, to, last, { expiresAt: now() + keepMs });
    },
  };
}

/** Each in a line that the gateway vouches for, like the current message; empty when there is none. */
export function renderGroupContext(messages: readonly Inbound[]): string {
  const lines: string[] = [];
  let left = maxCharacters;
  for (const message of messages.toReversed()) {
    const line = renderMessage(message);
    left -= line.length;
    if (left < 0) break;
    lines.unshift(line);
  }
  if (lines.length === 0) return "";
  return ["[context: said here since you were asked last, and not addressed to you]", ...lines].join("\n");
}

/** Whose words they are, and what they answer: without it a forward reads as the sender's own. */
function renderOrigin({ forward, replyTo }: Inbound): string {
  const from = forward === undefined ? "" : `, forwarded from ${plainName(forward.from)}`;
  return replyTo === undefined ? from : `${from}, ${renderAnswered(replyTo)}`;
}

function renderMessage(message: Inbound): string {
  const { sender, messageId, timestamp, kind, text } = message;
  const characters = [...text];
  const cut = characters.length > maxMessageCharacters ? `${characters.slice(0, maxMessageCharacters - 1).join("")}…` : text;
  const which = messageId === undefined ? "" : ` message:${plainId(messageId)}`;
  return `[context ${renderSender(sender)}${which} ${renderTime(timestamp)}${kind === "edit" ? " edited" : ""}${renderOrigin(message)}] ${defuseLines(cut)}`;
}
