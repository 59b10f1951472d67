/** What a platform's event says, as the core reads it: complete, and with a time that a calendar has. */
import type { Inbound, Silent } from "../contract/index.ts";
import type { ChannelInbound } from "../sdk/contract.ts";
import type { StoredEvent } from "../state/index.ts";
import type { OpenAccount } from "./open-account.ts";

/** An event, together with those that were gathered with it; `undefined`: its account is not open. */
export function parseEvent(
  event: StoredEvent,
  gathered: readonly StoredEvent[],
  account: OpenAccount | undefined,
): Inbound | Silent | null | undefined {
  const more = gathered.length === 1 ? [] : gathered.filter(({ id }) => id !== event.id).map(({ body }) => body);
  const parsed = account?.connection.parse(event.body, more);
  return parsed === null || parsed === undefined || "silent" in parsed ? parsed : toInbound(parsed, event);
}

/** The last moment that a calendar has. A channel that counts in other units must not cost every turn of its chats. */
const lastTime = 8.64e15;
const isTime = (at: number | undefined): at is number => at !== undefined && at > 0 && at <= lastTime;

function toInbound(parsed: ChannelInbound, event: StoredEvent): Inbound {
  const { id, source, account = "", authority, acceptedAt } = event;
  const timestamp = isTime(parsed.timestamp) ? parsed.timestamp : acceptedAt;
  const { forward } = parsed;
  const told = forward === undefined || isTime(forward.timestamp) ? forward : { from: forward.from };
  return { ...parsed, ...(told && { forward: told }), timestamp, id, channel: source, account, authority };
}
