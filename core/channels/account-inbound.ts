/** Completes a platform event for the core, and checks its time. */
import type { Inbound, Silent } from "../contract/index.ts";
import { type CompleteInbound, whenKnown } from "../host/index.ts";
import type { StoredEvent } from "../state/index.ts";
import type { OpenAccount } from "./open-account.ts";

export type ParsedEvent = Inbound | Silent | null | undefined;

/** Parses an event, together with those gathered with it; `undefined` if its account is not open. */
export function parseEvent(
  event: StoredEvent,
  gathered: readonly StoredEvent[],
  account: OpenAccount | undefined,
): ParsedEvent | Promise<ParsedEvent> {
  const more = gathered.length === 1 ? [] : gathered.filter(({ id }) => id !== event.id).map(({ body }) => body);
  return whenKnown(account?.connection.parse(event.body, more), (parsed) =>
    parsed === null || parsed === undefined || "silent" in parsed ? parsed : toInbound(parsed, event),
  );
}

/** The latest valid time. A channel that uses other units must not make every turn of its chats fail. */
const lastTime = 8.64e15;
const isTime = (at: number | undefined): at is number => at !== undefined && at > 0 && at <= lastTime;

function toInbound(parsed: CompleteInbound, event: StoredEvent): Inbound {
  const { id, source, account = "", authority, acceptedAt } = event;
  const timestamp = isTime(parsed.timestamp) ? parsed.timestamp : acceptedAt;
  const { forward } = parsed;
  const forwarded = forward === undefined || isTime(forward.timestamp) ? forward : { from: forward.from };
  return { ...parsed, ...(forwarded && { forward: forwarded }), timestamp, id, channel: source, account, authority };
}
