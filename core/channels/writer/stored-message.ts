/** Finds the events of one message by the name that its platform gives it. */
import type { Inbound, Json } from "../../contract/index.ts";
import type { CompleteParsed } from "../../host/index.ts";
import {
  encodeLanePart,
  type MessageName,
  readDeleted,
  readEdited,
  type Store,
  type StoredEvent,
  type WaitingEdit,
} from "../../state/index.ts";

const namespace = "edited-messages";
/** Slightly longer than the inbox keeps events. */
const keepMs = 8 * 24 * 60 * 60_000;
const mostEdits = 1_000;
/** How many events are looked at whose platform gives them ids of its own. */
const mostLooked = 200;

/** A message and where it was written. */
export interface MessagePlace extends MessageName {
  readonly channel: string;
  readonly account: string;
  readonly thread?: string | undefined;
  /** Whose ids the events of the account have; see `ChannelAccount.receive`. */
  readonly identity?: string | undefined;
}

/** The events of a message, as they are stored. */
export interface MessageEvents {
  /** The message as it was accepted; absent if it is no longer stored. */
  readonly message?: StoredEvent;
  /** Its edits, oldest first. */
  readonly edits: readonly StoredEvent[];
}

export interface StoredMessages {
  /** An edit of the message arrives: it takes the place of a message that waits. Asked together with its acceptance. */
  edit(place: MessagePlace, edit: WaitingEdit): Promise<unknown>;
  /** The message, if its event is found by its id. */
  first(place: MessagePlace): Promise<StoredEvent | undefined>;
  /** Only events whose chat, sender and id are those of the message. */
  find(place: MessagePlace): Promise<MessageEvents>;
  forgetEdits(place: MessagePlace): Promise<unknown>;
}

/** The message that an event changes. */
export function placeOfMessage({
  channel,
  account,
  chat,
  sender,
  messageId = "",
}: Pick<Inbound, "channel" | "account" | "chat" | "sender" | "messageId">): MessagePlace {
  return { channel, account, chat: chat.id, thread: chat.thread, sender: sender.id, messageId };
}

/** The key by which a repetition of a message is recognised, if its channel gives it no id. */
export function messageKey({ channel, account, chat, thread, identity = account, messageId }: MessagePlace): string {
  const lane = [channel, account, encodeLanePart(chat), ...(thread === undefined ? [] : [encodeLanePart(thread)])];
  return `${channel}:${identity}:${lane.join(":")}:${messageId}`;
}

/** The keys that a message may have: a change of it may not name the thread, and its id may be that of the event. */
function messageKeys(place: MessagePlace): readonly string[] {
  const { channel, account, identity = account, messageId } = place;
  const keys = [messageKey(place), messageKey({ ...place, thread: undefined }), `${channel}:${identity}:${messageId}`];
  return [...new Set(keys)];
}

const editsKey = ({ channel, account, chat, messageId }: MessagePlace) =>
  JSON.stringify([channel, account, chat, messageId]);

/** What is known of the edits of a message. */
interface EditRecord {
  /** The dedupe keys of their events, oldest first. */
  readonly keys: readonly string[];
  readonly identity?: string | undefined;
}

const recordOf = (value: Json | null): EditRecord => (value as unknown as EditRecord | null) ?? { keys: [] };

export function createStoredMessages({
  store,
  parse,
  now,
}: {
  readonly store: Pick<Store, "first" | "get" | "update" | "delete" | "events" | "unitOf" | "editWaiting">;
  /** What the channel reads in one event, alone. */
  readonly parse: (event: StoredEvent) => CompleteParsed | Promise<CompleteParsed>;
  readonly now: () => number;
}): StoredMessages {
  /** What a channel says of an event is believed only for an event of that account. */
  async function isOf(event: StoredEvent, place: MessagePlace): Promise<boolean> {
    if (event.source !== place.channel || event.account !== place.account) return false;
    const gone = readDeleted(event.body);
    if (gone !== undefined) return isSame(gone, place);
    const { original = event.body } = readEdited(event.body) ?? {};
    const parsed = await parse({ ...event, body: original });
    if (parsed === null || parsed === undefined || "silent" in parsed || parsed.messageId === undefined) return false;
    return isSame({ chat: parsed.chat.id, sender: parsed.sender.id, messageId: parsed.messageId }, place);
  }

  async function read(id: string, place: MessagePlace): Promise<StoredEvent | undefined> {
    const event = (await store.unitOf(id)).find((one) => one.id === id);
    return event !== undefined && (await isOf(event, place)) ? event : undefined;
  }

  /** The edits of a message, and whose ids its events have. */
  async function recorded(
    place: MessagePlace,
  ): Promise<{ readonly place: MessagePlace; readonly keys: readonly string[] }> {
    const { keys, identity } = recordOf(await store.get(namespace, editsKey(place)));
    return { place: identity === undefined ? place : { ...place, identity }, keys };
  }

  async function byKey(place: MessagePlace): Promise<StoredEvent | undefined> {
    for (const key of messageKeys(place)) {
      const first = await store.first(key);
      const found = first === null ? undefined : await read(first.eventId, place);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** An event may have an id that only its channel knows. */
  async function bySearch(place: MessagePlace, edits: readonly string[]): Promise<StoredEvent | undefined> {
    const { channel, chat, messageId } = place;
    const found = await store.events({
      ...{ source: channel, chat: { channel, id: chat }, limit: mostLooked },
      bodyContains: messageId,
    });
    for (const { id, account, kind } of found) {
      if (account !== place.account || kind !== "update" || edits.includes(id)) continue;
      const event = await read(id, place);
      if (event !== undefined) return event;
    }
    return undefined;
  }

  return {
    edit: (place, edit) =>
      Promise.all([
        store.editWaiting(messageKeys(place), edit),
        store.update(
          namespace,
          editsKey(place),
          (value) => {
            const known = recordOf(value).keys;
            const keys = known.includes(edit.key) ? known : [...known, edit.key].slice(-mostEdits);
            return { keys, ...(place.identity !== undefined && { identity: place.identity }) };
          },
          { expiresAt: now() + keepMs },
        ),
      ]),
    first: async (place) => byKey((await recorded(place)).place),
    async find(asked) {
      const { place, keys } = await recorded(asked);
      const firsts = await Promise.all(keys.map((key) => store.first(key)));
      const ids = firsts.flatMap((first) => (first === null ? [] : [first.eventId]));
      const edits = await Promise.all(ids.map((id) => read(id, place)));
      const message = (await byKey(place)) ?? (await bySearch(place, ids));
      return {
        ...(message !== undefined && { message }),
        edits: edits.filter((event) => event !== undefined),
      };
    },
    forgetEdits: (place) => store.delete(namespace, editsKey(place)),
  };
}

const isSame = (one: MessageName, other: MessageName) =>
  one.chat === other.chat && one.sender === other.sender && one.messageId === other.messageId;

/** The event as its turn reads it: the newest edit by its writer in the place of the message. */
export async function latestVersion(
  body: Json,
  parse: (body: Json) => CompleteParsed | Promise<CompleteParsed>,
): Promise<{ readonly body: Json; readonly isEdit: boolean }> {
  const edited = readEdited(body);
  if (edited === undefined) return { body, isEdit: false };
  const message = await parse(edited.original);
  for (const edit of edited.edits.toReversed())
    if (isEditOf(await parse(edit.body), message)) return { body: edit.body, isEdit: true };
  return { body: edited.original, isEdit: false };
}

function isEditOf(after: CompleteParsed, before: CompleteParsed): boolean {
  if (after === null || after === undefined || "silent" in after || after.kind !== "edit") return false;
  if (before === null || before === undefined || "silent" in before) return false;
  return (
    after.sender.id === before.sender.id &&
    after.chat.id === before.chat.id &&
    after.messageId !== undefined &&
    after.messageId === before.messageId
  );
}
