/**
 * Remembers each person's last message in each place. It is stored, so that a text that continues after a restart still
 * becomes one message.
 */
import type { Json } from "service-gateway/sdk";
import type { ChannelAccount } from "service-gateway/sdk/channel";
import type { AccountOptions } from "../options.ts";
import { list, number, record, text } from "./fields.ts";
import { createMemory } from "./memory.ts";

/** Number of remembered people whose text may continue. */
const remembered = 2_500;
const rememberedSeconds = 3_600;
const storePrefix = "gather:";

/** A person's last message in one place, while more may follow. */
export interface Strand {
  readonly key: string;
  readonly messages: readonly number[];
  readonly due: number;
  readonly at: number;
  /** When it was first written, in seconds by the platform's clock. */
  readonly date: number;
  /** The last part is long enough that the app may have split the text there. */
  readonly cut: boolean;
  readonly quick: boolean;
  /** The author of forwarded text; empty for the sender's own. */
  readonly origin: string;
}

export interface Strands {
  get(place: string): Strand | undefined;
  store(place: string, strand: Strand): void;
  forget(place: string): void;
  /** The gather key of a message that was gathered under another message's key. */
  keyOf(chat: string, messageId: string): string | undefined;
  /**
   * Reads a person's last message in a place as it was stored, perhaps by another node. Rejects if the store does not
   * answer.
   */
  recall(place: string): Promise<void>;
  /** Resolves when everything that was stored is on the disk. */
  noted(): Promise<unknown>;
}

/** A place is a text: chat, topic and person, separated by spaces. */
export async function openStrands({ store }: Pick<ChannelAccount<AccountOptions>, "store">): Promise<Strands> {
  const strands = createMemory<Strand>(remembered);
  const joined = createMemory<string>(remembered);
  let noting: Promise<unknown> = Promise.resolve();

  function weave(place: string, strand: Strand): void {
    strands.set(place, strand);
    const chat = place.slice(0, place.indexOf(" "));
    for (const message of strand.messages.slice(1)) joined.set(`${chat} ${message}`, strand.key);
  }

  /** The notes of this process come first, so that what is read afterwards is never older than they are. */
  async function recall(place: string): Promise<void> {
    const before = strands.get(place);
    await noting;
    const value = await store.get(`${storePrefix}${place}`);
    if (strands.get(place) !== before) return;
    const strand = value === null ? undefined : readStrand(value);
    if (strand === undefined) strands.delete(place);
    else weave(place, strand);
  }

  for (const { key, value } of await store.list({ prefix: storePrefix, limit: remembered })) {
    const strand = readStrand(value);
    if (strand !== undefined) weave(key.slice(storePrefix.length), strand);
  }

  return {
    get: (place) => strands.get(place),
    store(place, strand) {
      weave(place, strand);
      const value = { ...strand, messages: [...strand.messages] };
      // If this is lost, a continued text becomes two messages, so the failure is not logged.
      const stored = store.set(`${storePrefix}${place}`, value, { ttlSeconds: rememberedSeconds }).catch(() => {});
      noting = noting.then(() => stored);
    },
    forget(place) {
      if (!strands.delete(place)) return;
      const removed = store.delete(`${storePrefix}${place}`).catch(() => {});
      noting = noting.then(() => removed);
    },
    keyOf: (chat, messageId) => joined.get(`${chat} ${messageId}`),
    recall,
    noted: () => noting,
  };
}

/** Reads what an earlier process stored, possibly in another version. */
function readStrand(value: Json): Strand | undefined {
  const fields = record(value);
  const key = text(fields?.key);
  const messages = list(fields?.messages).filter((message) => typeof message === "number");
  if (fields === undefined || key === undefined || messages.length === 0) return undefined;
  return {
    key,
    messages,
    due: number(fields.due) ?? 0,
    at: number(fields.at) ?? 0,
    date: number(fields.date) ?? 0,
    cut: fields.cut === true,
    quick: fields.quick === true,
    origin: text(fields.origin) ?? "",
  };
}
