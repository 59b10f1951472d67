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

/** What an account needs to receive events. */
export interface ReceivingOptions {
  readonly log: Log;
  readonly newId: () => string;
  /** `silent` is set if the event is already known to need no reply. */
  readonly receive: (event: RawEvent, options: { readonly silent?: Silent }) => Promise<Accepted>;
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
  const { fold = String } = holder.open?.live.identity ?? {};
  const placing = placeOf(isInbound(parsed) ? parsed : undefined, at, {
    lead: `${channel}:${account}`,
    fold,
    newId: options.newId,
  });
  const place = placing instanceof Promise ? await placing : placing;
  const { eventId, duplicate } = await options.receive(
    {
      source: channel,
      kind: "update",
      account,
      lane: control ? `${place.lane}${controlSuffix}` : place.lane,
      authority: "channel",
      dedupeKey: `${channel}:${at.identity ?? account}:${place.id}`,
      gather: at.gather,
      body: raw,
    },
    silent === undefined ? {} : { silent },
  );
  if (!duplicate && silent === undefined && isInbound(parsed) && parsed.media.length > 0)
    options.onFiles?.({ ...parsed, id: eventId, channel, account, authority: "channel" });
  // The store returns more, but only these fields belong to the contract.
  return { eventId, duplicate };
}
