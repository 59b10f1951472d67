/** Completes a platform event for the core, and checks its time. */
import type { Inbound, Json, Silent } from "../contract/index.ts";
import { type CompleteInbound, type CompleteParsed, whenKnown } from "../host/index.ts";
import { readDeleted, readEdited, type StoredEvent } from "../state/index.ts";
import type { OpenAccount } from "./open-account.ts";
import { deletedSilent } from "./writer/deletions.ts";
import { latestVersion } from "./writer/stored-message.ts";

export type ParsedEvent = Inbound | Silent | null | undefined;

/** Parses an event, together with those gathered with it; `undefined` if its account is not open. */
export function parseEvent(
  event: StoredEvent,
  gathered: readonly StoredEvent[],
  account: OpenAccount | undefined,
): ParsedEvent | Promise<ParsedEvent> {
  if (isChanged(event) || gathered.some(isChanged)) return parseChanged(event, gathered, account);
  const more = gathered.length === 1 ? [] : gathered.filter(({ id }) => id !== event.id).map(({ body }) => body);
  return whenKnown(account?.connection.parse(event.body, more), (parsed) => completed(parsed, event));
}

function completed(parsed: CompleteParsed, event: StoredEvent): ParsedEvent {
  return parsed === null || parsed === undefined || "silent" in parsed ? parsed : toInbound(parsed, event);
}

const isChanged = ({ body }: StoredEvent): boolean => readDeleted(body) !== undefined || readEdited(body) !== undefined;

/** A unit in which messages were deleted, or edited before its turn. */
async function parseChanged(
  event: StoredEvent,
  gathered: readonly StoredEvent[],
  account: OpenAccount | undefined,
): Promise<ParsedEvent> {
  if (account === undefined) return undefined;
  const unit = gathered.length === 0 ? [event] : gathered;
  const left = unit.filter(({ body }) => readDeleted(body) === undefined);
  if (left.length === 0) return deletedSilent;
  const parse = (body: Json) => account.connection.parse(body);
  const versions = await Promise.all(left.map(({ body }) => latestVersion(body, parse)));
  const [first, ...more] = versions;
  if (first === undefined) return undefined;
  const parsed = await account.connection.parse(
    first.body,
    more.map(({ body }) => body),
  );
  const inbound = completed(parsed, event);
  const isMessage = inbound !== null && inbound !== undefined && !("silent" in inbound) && inbound.kind === "edit";
  return isMessage && first.isEdit ? { ...inbound, kind: "message" } : inbound;
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
