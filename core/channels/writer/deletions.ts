/** Messages that their writers delete: what waits or runs for them ends, and their words are removed. */
import type { Inbound, InboundChat, Json, RawEvent, Silent } from "../../contract/index.ts";
import { reasonOf } from "../../contract/index.ts";
import type { CompleteInbound } from "../../host/index.ts";
import type { Log } from "../../log/index.ts";
import { deletedBody, type NodeNote, readDeleted, type Store, type StoredEvent } from "../../state/index.ts";
import { type MessagePlace, messageKey, placeOfMessage, type StoredMessages } from "./stored-message.ts";

/** The end of an event whose message was deleted, as a channel would say it. */
export const deletedSilent: Silent = { silent: "deleted_by_sender", detail: "Its writer deleted the message." };

const kind = "delete";
const topic = "deleted";
/** A deleted message is remembered while its turn runs; without a limit, a busy group would fill the memory. */
const mostRemembered = 10_000;

/** What is stored of a deletion: the names of the message, and none of the words that a platform may repeat. */
interface DeletionBody {
  readonly chat: InboundChat;
  readonly sender: string;
  readonly messageId: string;
  readonly identity?: string;
}

/** A unit with a deleted message. */
export interface DeletedFrom {
  readonly unitId: string;
  /** What is left of its message; absent if nothing is. */
  readonly rest?: Inbound;
}

/** What is to be removed besides the events themselves. */
export interface DeletedWords {
  readonly message: MessagePlace;
  /** Conversations that may contain the words. */
  readonly sessions: readonly string[];
  readonly units: readonly DeletedFrom[];
  /** The events of the message and of its edits. */
  readonly events: readonly string[];
}

export interface Deletions {
  /** Whether an event's message was deleted since this process took the event. */
  has(eventId: string): boolean;
  /** For the `ingress` station: carries out a deletion. Repeated after an interruption. */
  apply(event: StoredEvent): Promise<Silent>;
  /** Removes once more what the turn of a deleted message wrote while the deletion was carried out. */
  forgetAgain(eventIds: readonly string[]): Promise<void>;
  /** Handles a note of another node; ignores those about something else. */
  hear(note: NodeNote): void;
}

export interface DeletionOptions {
  readonly store: Pick<Store, "redactEvents" | "unitOf" | "event" | "addDecision" | "nodes">;
  readonly messages: Pick<StoredMessages, "find" | "forgetEdits">;
  /** What remains of a unit; `undefined` if it cannot be read. */
  readonly parse: (events: readonly StoredEvent[]) => Promise<Inbound | undefined>;
  /** The conversation of a message in its chat. */
  readonly sessionOf: (inbound: Inbound) => string;
  /** Ends the turns that answer these units, without a word. */
  readonly stop: (unitIds: readonly string[]) => void;
  /** Removes words from conversations, and what tools and files repeat of them. */
  readonly forget: (words: DeletedWords) => Promise<void>;
  /** Removes what was heard in voice messages; called before their events are redacted. */
  readonly forgetSounds: (events: readonly StoredEvent[]) => Promise<void>;
  readonly log: Pick<Log, "debug" | "warn">;
  readonly now: () => number;
}

/** A deletion as it is stored, in the lane of control commands: it must not wait for the turn that it ends. */
export function deletionEvent(
  parsed: CompleteInbound,
  {
    id,
    identity,
    ...of
  }: Pick<RawEvent, "source" | "lane"> & {
    readonly account: string;
    readonly id?: string | undefined;
    readonly identity?: string | undefined;
  },
): RawEvent | undefined {
  const { chat, sender, messageId } = parsed;
  if (messageId === undefined) return undefined;
  const { source: channel, account } = of;
  const place = { ...placeOfMessage({ ...parsed, channel, account }), identity };
  const body: DeletionBody = { chat, sender: sender.id, messageId, ...(identity !== undefined && { identity }) };
  return {
    ...of,
    kind,
    control: true,
    authority: "channel",
    dedupeKey: id === undefined ? `${messageKey(place)}:deleted` : `${channel}:${identity ?? account}:${id}`,
    body: body as unknown as Json,
  };
}

export const isDeletion = (event: Pick<RawEvent, "kind" | "authority">): boolean =>
  event.kind === kind && event.authority === "channel";

export function createDeletions(options: DeletionOptions): Deletions {
  const { store, messages, log, now } = options;
  /** The deleted message of each event. */
  const deleted = new Map<string, Inbound>();

  function remember(ids: readonly string[], inbound: Inbound): void {
    for (const id of ids) deleted.set(id, inbound);
    for (const oldest of deleted.keys()) {
      if (deleted.size <= mostRemembered) break;
      deleted.delete(oldest);
    }
  }

  async function unitOf(id: string): Promise<(DeletedFrom & { readonly session?: string }) | undefined> {
    const report = await store.event(id);
    if (report === null) return undefined;
    const { unitId = id, lane, sessionKey } = report;
    // Events that a turn took from the queue of its session are not part of its message.
    const left = (await store.unitOf(id)).filter(
      (event) => event.lane === lane && readDeleted(event.body) === undefined,
    );
    const rest = left.length === 0 ? undefined : await options.parse(left);
    if (report.state === "settled" && report.reason !== deletedSilent.silent)
      await store.addDecision(unitId, {
        ...{ at: now(), station: "settled", plugin: "core", verdict: "pass", code: deletedSilent.silent },
        detail: rest === undefined ? "after the event had ended" : "a part of the message, after the event had ended",
      });
    return { unitId, ...(rest && { rest }), ...(sessionKey !== undefined && { session: sessionKey }) };
  }

  /** The events are redacted by now. */
  async function carryOut(inbound: Inbound, ids: readonly string[]): Promise<void> {
    const found = (await Promise.all(ids.map(unitOf))).filter((unit) => unit !== undefined);
    const units = [...new Map(found.map((unit) => [unit.unitId, unit])).values()];
    options.stop(units.map(({ unitId }) => unitId));
    const sessions = new Set([options.sessionOf(inbound), ...units.flatMap(({ session = [] }) => session)]);
    await options.forget({ message: placeOfMessage(inbound), sessions: [...sessions], units, events: ids });
  }

  return {
    has: (eventId) => deleted.size > 0 && deleted.has(eventId),
    async apply(event) {
      const inbound = inboundOf(event);
      const place = { ...placeOfMessage(inbound), ...identityOf(event) };
      const { message, edits } = await messages.find(place);
      const events = message === undefined ? edits : [message, ...edits];
      const { channel, account, messageId } = place;
      if (events.length === 0) {
        log.debug({ channel, account, event: event.id, message: messageId }, "the deletion of a message was ignored");
        return { silent: "message_unknown", detail: `The message ${messageId} is not one of ${place.sender} here.` };
      }
      const ids = events.map(({ id }) => id);
      remember(ids, inbound);
      await options.forgetSounds(events);
      await store.redactEvents(ids, deletedBody(place));
      await carryOut(inbound, ids);
      await store.nodes?.send({ topic, body: { event: { ...event }, ids } as unknown as Json });
      await messages.forgetEdits(place);
      return { silent: "message_deleted", detail: `The message ${messageId} of ${place.sender}.` };
    },
    async forgetAgain(eventIds) {
      for (const id of eventIds) {
        const inbound = deleted.get(id);
        if (inbound !== undefined) await carryOut(inbound, [id]);
      }
    },
    hear(note) {
      if (note.topic !== topic) return;
      const { event, ids } = note.body as unknown as { readonly event: StoredEvent; readonly ids: readonly string[] };
      if (typeof event?.body !== "object" || !Array.isArray(ids)) return;
      const inbound = inboundOf(event);
      remember(ids, inbound);
      carryOut(inbound, ids).catch((error: unknown) =>
        log.warn({ error: reasonOf(error) }, "this node could not remove the words of a deleted message"),
      );
    },
  };
}

function identityOf({ body }: StoredEvent): Pick<MessagePlace, "identity"> {
  const { identity } = body as unknown as DeletionBody;
  return identity === undefined ? {} : { identity };
}

function inboundOf({ id, source, account = "", acceptedAt, body }: StoredEvent): Inbound {
  const { chat, sender, messageId } = body as unknown as DeletionBody;
  return {
    ...{ id, channel: source, account, kind, chat, sender: { id: sender }, messageId, authority: "channel" },
    ...{ text: "", media: [], mention: false, timestamp: acceptedAt },
  };
}
