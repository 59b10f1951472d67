/** A platform event on its way to the inbox: read once, to find its lane and whether it needs a reply. */
import {
  type Accepted,
  type Inbound,
  type Json,
  type RawEvent,
  type Refusal,
  reasonOf,
  type Silent,
} from "../contract/index.ts";
import { type CompleteInbound, type CompleteParsed, type GuardedConnection, whenKnown } from "../host/index.ts";
import type { Log } from "../log/index.ts";
import type { ChannelAccount } from "../sdk/contract.ts";
import { controlSuffix } from "../state/index.ts";
import { placeOf } from "./account-lane.ts";
import type { LiveAccount } from "./live-account.ts";
import { deletionEvent } from "./writer/deletions.ts";
import { type MessagePlace, placeOfMessage, type StoredMessages } from "./writer/stored-message.ts";

/** What an account needs to receive events. */
export interface ReceivingOptions {
  readonly log: Log;
  readonly newId: () => string;
  /** `silent` is set if the event is already known to need no reply. */
  readonly receive: (event: RawEvent, options: { readonly silent?: Silent }) => Promise<Accepted>;
  /** Called with an edit, together with its acceptance. */
  readonly onEdit: (place: MessagePlace, edit: Parameters<StoredMessages["edit"]>[1]) => Promise<unknown>;
  /** Called with a message that has files, once it is accepted. Must not throw. */
  readonly onFiles?: (inbound: Inbound) => void;
  /** Checks whether the event would be admitted; has no effect. */
  readonly check: (inbound: Inbound) => Promise<Refusal | undefined>;
  /**
   * Must agree with the turn: a text that is not a command there is an ordinary turn, which has to wait in its lane.
   */
  readonly isControlCommand: (parsed: CompleteInbound, account: LiveAccount) => boolean;
}

/** An account that is open. */
interface Receiving {
  readonly live: LiveAccount;
  readonly connection: GuardedConnection;
}

/** The reason code of a silent event if its channel gives none. */
const nothingToDo = "nothing_to_do";

/** The reason of a message of the bot's own, which its platform shows to the bot as well. */
const ownMessage = "own_message";

function isInbound(parsed: CompleteParsed): parsed is CompleteInbound {
  return parsed !== null && parsed !== undefined && !("silent" in parsed);
}

/** A parsed event, and whether it is a command that waits for no turn. */
interface Read {
  readonly parsed: CompleteParsed;
  readonly control: boolean;
}

/**
 * An event that its channel cannot read is accepted anyway, and fails on its own. If it were refused, it would be
 * delivered again and block those after it.
 */
export function readUpdate(
  account: Receiving | undefined,
  raw: Json,
  { log, isControlCommand }: ReceivingOptions,
): Read | Promise<Read> {
  if (account === undefined) return { parsed: undefined, control: false };
  const { live, connection } = account;
  const unreadable = (error: unknown): Read => {
    const { channel, id, plugin } = live;
    log.error({ channel, account: id, plugin, error: reasonOf(error) }, "an event could not be read");
    return { parsed: undefined, control: false };
  };
  try {
    const read = whenKnown(connection.parse(raw), (parsed) => ({
      parsed,
      control: isInbound(parsed) && isControlCommand(parsed, live),
    }));
    return read instanceof Promise ? read.catch(unreadable) : read;
  } catch (error) {
    return unreadable(error);
  }
}

/** A button that answers a request for approval says what it is for, and so may its notice. */
const ownersOnly = "Only an owner of this bot can answer this.";

/** A refused sender learns only that; the rule that applied is in the trace. */
export async function checkUpdate(
  parsed: CompleteParsed,
  { check, ...of }: Pick<Inbound, "id" | "channel" | "account"> & Pick<ReceivingOptions, "check">,
): ReturnType<ChannelAccount["check"]> {
  if (!isInbound(parsed)) {
    return { allowed: false, code: parsed?.silent ?? nothingToDo, notice: "There is nothing to do here." };
  }
  const refused = await check({ ...parsed, ...of, authority: "channel" });
  if (refused === undefined) return { allowed: true };
  return {
    allowed: false,
    code: refused.code,
    notice: refused.code === "owner_required" ? ownersOnly : "You may not use this here.",
  };
}

/** Why an event needs no reply, if that is known already. */
function silentOf(parsed: CompleteParsed, known: string | undefined): Silent | undefined {
  if (known !== undefined) return { silent: known };
  if (parsed === null) return { silent: nothingToDo };
  return parsed !== undefined && "silent" in parsed ? parsed : undefined;
}

/**
 * Parsed once here, only to find its lane and whether it needs a reply. The stored event is exactly what the platform
 * sent.
 */
export async function receiveUpdate({
  holder,
  channel,
  account,
  raw,
  at,
  options,
}: {
  readonly holder: { readonly open?: Receiving };
  readonly channel: string;
  readonly account: string;
  readonly raw: Json;
  readonly at: NonNullable<Parameters<ChannelAccount["receive"]>[1]>;
  readonly options: ReceivingOptions;
}): Promise<Accepted> {
  const read = readUpdate(holder.open, raw, options);
  const { parsed, control } = read instanceof Promise ? await read : read;
  const silent = silentOf(parsed, at.silent);
  // A busy bot would fill the store with its own messages, which need no explanation.
  if (silent?.silent === ownMessage) return { eventId: options.newId(), duplicate: false };
  const { fold = String } = holder.open?.live.identity ?? {};
  const placing = placeOf(isInbound(parsed) ? parsed : undefined, at, {
    lead: `${channel}:${account}`,
    fold,
    newId: options.newId,
  });
  const place = placing instanceof Promise ? await placing : placing;
  const dedupeKey = `${channel}:${at.identity ?? account}:${place.id}`;
  const changed = silent === undefined && isInbound(parsed) && parsed.messageId !== undefined ? parsed : undefined;
  const of = { source: channel, account, lane: place.lane };
  const deletion =
    changed?.kind === "delete" ? deletionEvent(changed, { ...of, id: at.id, identity: at.identity }) : undefined;
  const event: RawEvent = deletion ?? {
    ...of,
    kind: "update",
    lane: control ? `${place.lane}${controlSuffix}` : place.lane,
    authority: "channel",
    dedupeKey,
    gather: at.gather,
    body: raw,
  };
  // An edit that belongs to a unit of its channel's own takes its place there.
  const editing =
    changed?.kind === "edit" && at.gather === undefined
      ? options.onEdit(
          { ...placeOfMessage({ ...changed, channel, account }), identity: at.identity },
          {
            key: dedupeKey,
            body: raw,
          },
        )
      : undefined;
  const accepting = options.receive(event, silent === undefined ? {} : { silent });
  const { eventId, duplicate } = editing === undefined ? await accepting : (await Promise.all([accepting, editing]))[0];
  if (!duplicate && silent === undefined && isInbound(parsed) && parsed.media.length > 0)
    options.onFiles?.({ ...parsed, id: eventId, channel, account, authority: "channel" });
  // The store returns more, but only these fields belong to the contract.
  return { eventId, duplicate };
}
