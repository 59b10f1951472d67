/** The connection of one account: what a channel implements. */
import type { Address, Inbound, InboundMedia, Json, Part, Receipt, Reply, Silent } from "../../contract/index.ts";
import type { ChannelStatus } from "./channel-account.ts";

/** A message that grows while a turn runs. */
export interface ChannelPreview {
  /**
   * The whole text so far, as Markdown. It may be called often; the channel keeps to the platform's rate limits. A text
   * that does not begin like the one before replaces it, because the reply starts over. If that one had several
   * messages, remove all but the first before the new text is shown, so that two texts are never read as one.
   */
  update(text: string): void;
  /** Stops updating and resolves with the ids of the preview's messages, oldest first; idempotent. */
  close(): Promise<readonly string[]>;
}

/** A file that the platform stores. A message can include it by its `ref`, without sending it again. */
export interface MediaFound {
  /** Use it as `OutboundMedia.ref`. */
  readonly ref: string;
  readonly emoji?: string;
  /** The set it belongs to. */
  readonly setName?: string;
  /** A description of what it shows; empty if it has none yet. */
  readonly description: string;
}

/** What the platform reports about one account. */
export interface ChannelProbe {
  readonly ok: boolean;
  /** One sentence: who the bot is and how it receives updates, or what is wrong, with the remedy. */
  readonly detail: string;
  /**
   * The owner of the credential, as far as the credential contains it; also set if the platform refused it. Two
   * accounts must not share it.
   */
  readonly identity?: NonNullable<ChannelStatus["identity"]>;
  /**
   * False: in groups, the platform delivers only messages that address the bot, unless the bot is an administrator
   * there.
   */
  readonly seesAllGroupMessages?: boolean;
  /** Problems of an account that works, each with what to do. */
  readonly findings?: readonly { readonly name: string; readonly reason: string; readonly fix: string }[];
}

/**
 * Whether the bot may begin in a chat. `answer-only`: it may only answer a message. `untilMs`: it may until then, in
 * epoch milliseconds; 0: not before a person has written.
 */
export type ChannelReach = "always" | "answer-only" | { readonly untilMs: number };

/** Whether the bot is in a chat. */
export interface ChannelMembership {
  /** True if it can read and write there. */
  readonly ok: boolean;
  /** The bot's role there, such as `administrator`, or why it is not in the chat. */
  readonly detail: string;
  /** True if it receives every message there, whatever the account's own setting. */
  readonly seesAll?: boolean;
}

/**
 * What `parse` returns for a message: `chat`, `sender` and `text`, and what else the event has. The host adds id,
 * channel, account and authority. Default of `kind`: `message`; of `media`: none; of `mention`: true in a direct chat;
 * of `timestamp`: the time of acceptance.
 *
 * @example
 * return { chat: { id: from, kind: "direct" }, sender: { id: from }, text };
 */
export type ChannelInbound = Omit<
  Inbound,
  "id" | "channel" | "account" | "authority" | "request" | "kind" | "media" | "mention" | "timestamp"
> &
  Partial<Pick<Inbound, "kind" | "media" | "mention" | "timestamp">>;

/** What `parse` returns for a platform event. */
export type Parsed = ChannelInbound | Silent | null | undefined;

/**
 * A live connection of one account. `parse` and `render` are pure. Methods that send (`send`, `remove`, `react`,
 * `typing`, `resolve`) throw `ChannelError`. `examples/authors/channel.md` contains a complete small example;
 * `plugins/botchat` is a large one.
 */
export interface ChannelConnection {
  /**
   * Connects. Resolves when connected, and reconnects on its own afterwards. While the platform is away, report
   * `waiting` with the reason and keep trying; the promise may resolve then or stay pending. A rejection is final and
   * is shown as `failed`: reject only for what the operator has to change, such as a wrong password. `keepConnected`
   * does all of this.
   */
  start(): Promise<void>;
  /**
   * Called instead of `start` while another node of the same store receives for the account; `start` follows when this
   * node takes over, perhaps while this call is still pending. Prepares what turns of the account need on this node,
   * and accepts what the platform posts to any node, such as a webhook: hand it to `account.receive`. What one node
   * alone may do is left to `start`: polling, registering a webhook or a menu. Reported statuses have no effect. A
   * rejection is shown as `failed`.
   *
   * @example
   * async standBy() {
   *   await openListener();
   * },
   */
  standBy?(): Promise<void>;
  /**
   * Pure and total. Returns an `Inbound`, `{ silent }` (mine, no reply needed, and why), `null` (the same without a
   * reason) or `undefined` (not mine). The bot's own messages are silent; junk never throws. Runs twice for each event:
   * alone when it arrives, and again when its turn begins, perhaps in a later process, with the rest of its unit.
   * `more` are the other events gathered with it, oldest first. An edit that arrived while its message waited takes
   * the place of the message, in `raw` or in `more`.
   *
   * A direct chat has the id of the person, even if the platform sends to another address, such as a nick: keep the
   * address in `account.store`, and look it up in `send`. Otherwise the next person who takes the address continues the
   * conversation.
   */
  parse(raw: Json, more?: readonly Json[]): Parsed;
  /**
   * Pure: turns Markdown, media and buttons into parts, each within the platform's limits. `inbound` is the message
   * being answered, for channels that address its sender in a group; absent if no message of this chat is answered, as
   * for a webhook. `trigger` is its id, for channels that can reply to it. If it throws, the host calls it again with
   * the text alone, without files, buttons and markup.
   */
  render(
    reply: Reply,
    address: Address,
    about?: { readonly trigger?: string; readonly inbound?: Inbound },
  ): readonly Part[];
  /**
   * Sends one part, or edits the message that `part.replaces` names. Throws `ChannelError`, whose `fate` decides about
   * retries: `not-sent` and `retryable` is retried for a day, `unknown` once, after the platform answers again
   * (`ChannelAccount.calling`), or at once where the platform recognises `part.key` (`ChannelCapabilities.repeats`).
   * Any other throw is treated as `unknown`. Deadline 15 minutes.
   */
  send(part: Part, address: Address, signal: AbortSignal): Promise<Receipt>;
  /**
   * Applies the platform's rate limits to each part before it is marked as being sent. `undefined`: the part may go
   * now. Otherwise the promise resolves when it may, or when the signal aborts; it never rejects. In both cases the
   * part uses up its share of the limit. After 120 s the part is sent anyway. A part with `replaces` is an edit.
   */
  admit?(part: Part, address: Address, signal: AbortSignal): Promise<void> | undefined;
  /** Idempotent; leaves no socket and no timer open. The host waits at most 10 s. */
  close(): Promise<void>;
  /** Stops accepting events before a close; running turns still send. The gateway waits at most 5 s. */
  pause?(): Promise<void>;
  /**
   * Receives the account's options after an edit of the configuration that left `connectionOptions` unchanged. They
   * apply from the next call on.
   */
  update?(options: Readonly<Record<string, unknown>>): void;
  /** Capability `edits`: removes a message. */
  remove?(messageId: string, address: Address, signal: AbortSignal): Promise<void>;
  /**
   * Capability `edits`: a preview. `resume` are message ids that a killed process left behind, `trigger` is the message
   * being answered; `onMessage` receives all ids each time one is added. Call `onUncertain` if a send of the preview
   * ended with an unknown outcome, because the message may remain beside the reply. `key` is 20 letters and digits, the
   * same when another process takes the turn up: pass it, with a suffix for each message, to a platform that recognises
   * keys (`ChannelCapabilities.repeats`). Then a message that a killed process sent last, too late for `resume`, is
   * taken up as well.
   */
  preview?(
    address: Address,
    options: {
      readonly resume: readonly string[];
      readonly trigger?: string;
      readonly key?: string;
      onMessage(messageIds: readonly string[]): void;
      onUncertain?(): void;
    },
  ): ChannelPreview;
  /**
   * Capability `reactions`: sets the bot's reaction; `null` removes it. Once `patience` is aborted, a reaction that
   * still waits for the platform's rate limits is given up and rejects with a `ChannelError` `aborted`, `not-sent`; a
   * call in progress continues.
   */
  react?(messageId: string, emoji: string | null, address: Address, patience?: AbortSignal): Promise<void>;
  /**
   * Capability `typing`: shows for a few seconds that a reply is being written. It is called again every
   * `typingEverySeconds`. `trigger` is the id of the message that is answered, for platforms that need it.
   */
  typing?(address: Address, about?: { readonly trigger?: string }): Promise<void>;
  /**
   * Capability `menu`: an edit of the configuration has changed the commands. The channel registers its first menu
   * itself, in `start`, from `account.commands()`.
   */
  menu?(commands: readonly { readonly name: string; readonly summary: string }[]): Promise<void>;
  /**
   * Capability `stickers`: finds stickers that this bot can send by what they show. Returns matches only, the best
   * first.
   */
  findMedia?(kind: "sticker", query: string, limit: number): Promise<readonly MediaFound[]>;
  /**
   * Says whether the bot may write at an address now without answering a message. A reminder, a heartbeat, a webhook or
   * an action for a chat where it may not ends with `outside_window` before a model is asked, and a person reads so in
   * `service why`. Answers to messages are not asked about. Without this function, the bot may always. If it throws,
   * the platform decides.
   *
   * @example
   * // The platform takes messages for 24 hours after the last one of the person.
   * async reaches({ chat }) {
   *   return { untilMs: Number((await account.store.get(`last:${chat}`)) ?? 0) + 24 * 3_600_000 };
   * },
   */
  reaches?(address: Address): ChannelReach | Promise<ChannelReach>;
  /** Resolves a name such as `@name`, which webhooks may use in `to`, to a chat id. */
  resolve?(target: string): Promise<string>;
  /**
   * Checks with the platform whether the account works; also called without `start`, on a connection that is closed
   * right after. It changes nothing there. While a send whose outcome is unknown waits for the platform to answer, it
   * is called after 2, 10 and 60 s and then every minute.
   */
  probe?(): Promise<ChannelProbe>;
  /** Checks with the platform whether the bot is in a chat. It changes nothing there; also called without `start`. */
  members?(chat: string): Promise<ChannelMembership>;
  /**
   * Streams a file of an accepted message into the folder `media` of the account's directory, and detects its type from
   * the content. The host sets the limit (`mediaMaxMb`) and removes the file after seven days. Throws `ChannelError`;
   * the agent reads its `detail`. `describe` returns a description of what an image shows, if a model can see images;
   * it rejects once `signal` has aborted.
   */
  fetchMedia?(
    media: InboundMedia,
    options: {
      readonly maxBytes: number;
      readonly signal: AbortSignal;
      describe?(image: { readonly path: string; readonly mimeType: string }): Promise<string | undefined>;
    },
  ): Promise<{
    readonly path: string;
    readonly mimeType: string;
    readonly size: number;
    readonly description?: string;
  }>;
}
