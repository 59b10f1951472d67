/**
 * Decides on arrival which messages belong together: the files of an album, the parts of a text split by the sender's
 * app, quick messages of one person, a message and its edits. `gathered.ts` combines them when their turn begins.
 */
import type { Json, RawEvent } from "service-gateway/sdk";
import type { ChannelAccount } from "service-gateway/sdk/channel";
import type { AccountOptions } from "../options.ts";
import { type Fields, id, number, record, text } from "./fields.ts";
import { cutLength, nearlyCut, versionIn } from "./gathered.ts";
import { openLooks } from "./looks.ts";
import { laneOf, senderOf, threadOf } from "./place.ts";
import { openStrands, type Strand } from "./strands.ts";

type Gather = NonNullable<RawEvent["gather"]>;

export interface Placed {
  readonly lane: string;
  readonly gather?: Gather;
  /** The reason code of an edit that leaves the message looking the same. */
  readonly silent?: string;
}

export interface Gatherer {
  /**
   * Reads what another node may have noted of the sender's last message. Call it before `place` where the updates of
   * one chat arrive at several nodes. Rejects if the store does not answer.
   */
  recall(update: Json): Promise<void>;
  /** Called for every update, in order of arrival. */
  place(update: Json): Placed;
  /**
   * Resolves when the notes of `place` are stored. Submit the updates only then: if a crash kept the first part of a
   * long text but not the note that more follows, the next process would answer that part alone.
   */
  noted(): Promise<unknown>;
  /** No more updates will arrive: stores the look of messages for the next start. */
  keep(): Promise<void>;
}

const albumMs = 500;
const splitMs = 1_500;
const splitParts = 12;
/** The parts carry whole seconds. */
const splitSeconds = Math.ceil(splitMs / 1_000);
const quickParts = 50;

/**
 * A name behind a slash, perhaps after the bot's own. Paths, addresses and comments in code begin with a slash too, and
 * are ordinary text.
 */
const commandName = /^(?:@\w+[,:]?\s+)?\/[a-z0-9_]{1,64}(?:@\w+)?(?:[\s:]|$)/i;

function isCommand(message: Fields): boolean {
  return commandName.test(text(message.text) ?? "");
}

/** Plain text that can be joined with other text without losing its reply target or its original author. */
function isPlain(message: Fields): boolean {
  return text(message.text) !== undefined && !isCommand(message) && authorOf(message) === "";
}

export async function createGatherer(account: ChannelAccount<AccountOptions>): Promise<Gatherer> {
  const longestMs = () => Math.max(splitMs, account.debounceMs());
  /**
   * No later than a message that arrives now could wait, because the clock may have been set back since the previous
   * one.
   */
  const extending = ({ key, due }: Strand): Gather => ({
    key,
    due: Math.min(due, account.now() + longestMs()),
    extend: true,
  });
  const strands = await openStrands(account);
  const looks = await openLooks(account);

  /** The strand extended by this message, if the message continues it. */
  function goOn(strand: Strand | undefined, message: Fields, number: number): Strand | undefined {
    if (strand === undefined || strand.origin !== authorOf(message)) return undefined;
    const last = strand.messages.at(-1);
    const length = text(message.text)?.length;
    if (length === undefined) return undefined;
    const now = account.now();
    const cut = length >= nearlyCut;
    // A part may happen to begin like a command. Commands that people send behind a long text are short.
    if (!cut && isCommand(message)) return undefined;
    const next = { ...strand, messages: [...strand.messages, number], at: now, date: dateOf(message), cut };
    const isPart =
      strand.cut &&
      number === (last ?? 0) + 1 &&
      next.date - strand.date <= splitSeconds &&
      strand.messages.length < splitParts;
    if (isPart) return { ...next, due: now + Math.max(cut ? splitMs : 0, strand.quick ? account.debounceMs() : 0) };
    const quickMs = account.debounceMs();
    const isQuick =
      strand.quick &&
      isPlain(message) &&
      !answers(message) &&
      Math.abs(now - strand.at) <= quickMs &&
      strand.messages.length < quickParts;
    return isQuick ? { ...next, due: now + Math.max(cut ? splitMs : 0, quickMs) } : undefined;
  }

  function begin(message: Fields, number: number): Strand | undefined {
    const length = text(message.text)?.length ?? 0;
    const quickMs = account.debounceMs();
    const quick = quickMs > 0 && isPlain(message);
    // Also behind a command: `/new` and the names of skills may be followed by a long text.
    const cut = length >= nearlyCut && length <= cutLength;
    if (!cut && !quick) return undefined;
    const now = account.now();
    const due = now + Math.max(cut ? splitMs : 0, quick ? quickMs : 0);
    return {
      key: ownKey(message),
      messages: [number],
      due,
      at: now,
      date: dateOf(message),
      cut,
      quick,
      origin: authorOf(message),
    };
  }

  function gatherMessage(message: Fields, messageId: string, place: string): Gather {
    const album = text(message.media_group_id);
    const known = strands.get(place);
    const count = Number(messageId);
    if (known?.messages.includes(count) === true) return comingAgain(known, count);
    const strand = album === undefined ? (goOn(known, message, count) ?? begin(message, count)) : undefined;
    if (strand === undefined) strands.forget(place);
    else strands.store(place, strand);
    if (strand !== undefined) return extending(strand);
    return album === undefined ? { key: ownKey(message), due: 0 } : albumOf(album);
  }

  /**
   * The same update again, because it could not be stored the first time. The updates after it come again too, however
   * long ago their wait ended.
   */
  function comingAgain(strand: Strand, message: number): Gather {
    const isLast = message === strand.messages.at(-1);
    const waitMs = Math.max(strand.cut || !isLast ? splitMs : 0, strand.quick ? account.debounceMs() : 0);
    return extending({ ...strand, due: Math.max(strand.due, account.now() + waitMs) });
  }

  function gatherEdit(message: Fields, messageId: string, place: string): Gather {
    const album = text(message.media_group_id);
    if (album !== undefined) return albumOf(album);
    const key = strands.keyOf(chatOf(message), messageId) ?? ownKey(message);
    const strand = strands.get(place);
    return strand?.key === key ? extending(strand) : { key, due: 0 };
  }

  const albumOf = (album: string): Gather => ({ key: `album:${album}`, due: account.now() + albumMs, extend: true });

  return {
    async recall(raw) {
      const version = versionIn(record(raw) ?? {});
      if (version !== undefined) await strands.recall(placeOf(version.message));
    },
    place(raw) {
      const lane = laneOf(raw, account.id);
      const update = record(raw) ?? {};
      const version = versionIn(update);
      const messageId = id(version?.message.message_id);
      if (version === undefined || messageId === undefined) return { lane };
      const { kind, message } = version;
      const chat = chatOf(message);
      const place = placeOf(message);
      const at = { chat, messageId, update: number(update.update_id) ?? 0 };
      if (looks.changesNothing(version, at)) return { lane, silent: "edit_changes_nothing" };
      return {
        lane,
        gather: kind === "edit" ? gatherEdit(message, messageId, place) : gatherMessage(message, messageId, place),
      };
    },
    noted: strands.noted,
    keep: looks.keep,
  };
}

/** The key contains the chat: messages waiting for a group with a new id may have the same numbers as new messages. */
const ownKey = (message: Fields) => `m:${chatOf(message)}:${id(message.message_id) ?? ""}`;
const chatOf = (message: Fields) => id(record(message.chat)?.id) ?? "";
/** Where a person's next message may continue this one. */
const placeOf = (message: Fields) =>
  `${chatOf(message)} ${threadOf(message, record(message.chat)) ?? ""} ${id(senderOf(message)?.id) ?? ""}`;
const dateOf = (message: Fields) => number(record(message.forward_origin)?.date) ?? number(message.date) ?? 0;

/** When forwarded together, a long message of one person and the next one of another also have consecutive ids. */
function authorOf({ forward_origin, via_bot }: Fields): string {
  const origin = record(forward_origin);
  const inlineBot = record(via_bot);
  if (origin === undefined) return inlineBot === undefined ? "" : `inline ${id(inlineBot.id) ?? ""}`;
  const chat = record(origin.sender_chat) ?? record(origin.chat);
  return (
    `${text(origin.type) ?? ""} ` +
    `${id(record(origin.sender_user)?.id) ?? id(chat?.id) ?? text(origin.sender_user_name) ?? ""}`
  );
}

/** The service message that opened the topic is not a message that a person replies to. */
function answers(message: Fields): boolean {
  const reply = record(message.reply_to_message);
  return (
    (reply !== undefined && record(reply.forum_topic_created) === undefined) || message.external_reply !== undefined
  );
}
