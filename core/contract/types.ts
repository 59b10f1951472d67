/**
 * The vocabulary, in path order.
 *
 * `RawEvent` -ingress-> `Inbound` -gating-> pass or `Refusal` -routing-> `Route` -turn-> `Reply`
 * -formatting-> `Part[]` -delivery-> `Receipt`, then `settled(TurnRecord)`.
 *
 * The words that mean one thing each, in code, configuration, log and pages:
 *
 * - *event*: what came in from a source and is stored, a `RawEvent` until its meaning is read.
 * - *unit*: the events that are handled as one, such as an album.
 * - *lane*: the events that run one after the other, such as those of one chat.
 * - *station*: a stage of the path: ingress, gating, routing, turn, formatting, delivery, settled.
 * - *hook point*: where plugins take part in a station; a *tap* is what a plugin adds there.
 * - *visit*: one unit on its way through the stations, with what one leaves for a later one.
 * - *webhook*: an HTTP request that brings an event; a *mapping* says what becomes of it, a *transform* is its code.
 * - *delivery* of a webhook: one request that was accepted. As a station, delivery sends the parts of a reply.
 * - *channel*: a kind of chat platform; an *account*: one connection to it; a *chat*: a conversation there; a *thread*: a topic in a chat.
 * - *agent*: who answers; an *engine* runs its turns; a *session* is the memory of a conversation.
 * - *turn*: one run of an agent or a command for a unit.
 * - *trace*: the decisions that the stations made about a unit; `why` prints it.
 * - *code*: the stable name of a reason, from the registry in `codes.ts`.
 */

/** Anything that survives `JSON.stringify` and `JSON.parse` unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * Where a message came from and where its answer goes. The thread is part of the address
 * everywhere: an answer never leaves the topic it belongs to.
 */
export interface Address {
  /** Channel id, such as `botchat`. */
  readonly channel: string;
  /** Account id inside that channel, such as `default`. */
  readonly account: string;
  /** The platform's immutable chat id, as a string. */
  readonly chat: string;
  /** The platform's thread (topic) id, as a string; absent outside threads. */
  readonly thread?: string;
}

/**
 * Who caused an event and what that allows. Stored with the event when it is accepted and never
 * recomputed from a weaker source; checked again when the event runs.
 *
 * - `channel`: a person on a chat platform; the access policy decides when the event runs.
 * - `hook`: a request that carried the hook token; least authority, never owner.
 * - `operator`: the gateway itself, or a holder of the gateway token or of the state directory.
 */
export type Authority = "channel" | "hook" | "operator";

/** How an event waits for others that belong to it (an album, a split text, system events). */
export interface Gather {
  /** Events of one lane with the same key are handled as one unit. */
  readonly key: string;
  /**
   * Epoch milliseconds before which the unit does not start.
   * `null`: the event starts no unit by itself, it waits for one of the same key.
   */
  readonly due: number | null;
  /** Events of the same key that wait are put off to this `due` too (parts of an album that still arrive). */
  readonly extend?: true;
}

/** What a source hands in, and all that the inbox keeps of it. Everything in it is JSON. */
export interface RawEvent {
  /** Who understands `body`: a channel id, a plugin's id, or `hooks`, `heartbeat`, `operator`. */
  readonly source: string;
  /** Kind within the source: `update`, `wake`, `agent`, `heartbeat`, ... */
  readonly kind: string;
  /** Account of a channel; absent for the rest. */
  readonly account?: string;
  /** Events of one lane run one at a time, in arrival order. */
  readonly lane: string;
  /** What it may do. A plugin says `hook` for all that came from outside. */
  readonly authority: Authority;
  /** Scoped idempotency key, kept for seven days; a repeated one gets the first answer again. */
  readonly dedupeKey?: string;
  readonly gather?: Gather;
  readonly body: Json;
}

/** What `receive` resolves with, after the event is committed. */
export interface Accepted {
  readonly eventId: string;
  /** True when `dedupeKey` was seen before: `eventId` is then the first one's. */
  readonly duplicate: boolean;
}

/** A file that came with a message, before or after it was fetched. */
export interface InboundMedia {
  readonly kind: "image" | "video" | "audio" | "voice" | "document" | "sticker";
  /** The channel's own handle, for `fetchMedia`. */
  readonly ref: string;
  readonly mimeType?: string;
  readonly fileName?: string;
  /** Bytes, when the platform says. */
  readonly size?: number;
  /** Absolute path in the state directory, once fetched. */
  readonly path?: string;
  /** The platform's id of the file itself, the same in every message; it fetches nothing. */
  readonly uniqueId?: string;
  /** Facts of a sticker. `animated`: also those that are videos; neither is fetched. */
  readonly sticker?: { readonly emoji?: string; readonly setName?: string; readonly animated: boolean };
  /** What the file shows, in words that a model once found. */
  readonly description?: string;
  /** Why it could not be fetched, for people and the model: `too large (7.0 MB, at most 5 MB)`. */
  readonly unavailable?: string;
}

/** Where something was said. `system`: nowhere that people can see. */
export interface InboundChat {
  readonly id: string;
  readonly kind: "direct" | "group" | "channel" | "system";
  readonly title?: string;
  readonly thread?: string;
  /** The group is divided into threads, whatever its platform calls them (topics, channels). */
  readonly threaded?: true;
}

/** Who said it. */
export interface InboundSender {
  /** The platform's immutable id. It alone authorises; a name never does. */
  readonly id: string;
  readonly name?: string;
  readonly username?: string;
  readonly isBot?: boolean;
  /** Writes as a chat (a channel's post, an anonymous administrator): `id` is that chat's, so no user can be identified. */
  readonly anonymous?: true;
}

/** One thing that happened, the same shape for every source. */
export interface Inbound {
  /** The event's id; for gathered events that of the first. */
  readonly id: string;
  /** Channel id, or `hooks`, `heartbeat`, `operator` for what no person wrote. */
  readonly channel: string;
  readonly account: string;
  readonly kind: "message" | "edit" | "press" | "reaction" | "migration" | "hook" | "system";
  readonly chat: InboundChat;
  readonly sender: InboundSender;
  /** Text as Markdown; a media placeholder when there is nothing else. */
  readonly text: string;
  /** What was written without any Markdown, where that is another text: the patterns of mentions are searched in it. */
  readonly plain?: string;
  readonly media: readonly InboundMedia[];
  /** True when the bot was addressed (mention, reply, press). Direct chats need no mention. */
  readonly mention: boolean;
  /** Epoch milliseconds at the source. A channel that does not know it sets 0, and the time of acceptance is used. */
  readonly timestamp: number;
  /** The platform's message id; absent where there is none to reply to. */
  readonly messageId?: string;
  /** Of all parts, where several messages were gathered into this one; the first is `messageId`. */
  readonly messageIds?: readonly string[];
  /** Kind `migration`: the id under which the platform leads this chat from now on. */
  readonly migratedTo?: string;
  /** The message that this one answers. */
  readonly replyTo?: {
    readonly messageId?: string;
    readonly sender?: string;
    readonly text?: string;
    readonly quote?: string;
    /** Its files: fetched with those of the message itself, because a question is often about them. */
    readonly media?: readonly InboundMedia[];
  };
  readonly forward?: { readonly from: string; readonly timestamp?: number };
  readonly authority: Authority;
  /** What a hook, a heartbeat or a mapping asks of its turn; absent for chat messages. */
  readonly request?: TurnRequest;
}

/** Understood, and nothing follows from it: what an event is worth that changes nothing anybody could answer. */
export interface Silent {
  /** Reason code that the trace keeps, such as `edit_changes_nothing`: `a-z`, `0-9`, `_`. */
  readonly silent: string;
  /** For the trace: why, in a sentence. */
  readonly detail?: string;
  /** The option of the account that decided, as its keys below the account: `["capabilities", "inlineButtons"]`. */
  readonly option?: readonly string[];
  /** What to change, for the trace. */
  readonly hint?: string;
}

/** What a hook request or a heartbeat asks for, already validated. */
export interface TurnRequest {
  /** Human-readable hook name; prefix of the summary. */
  readonly name?: string;
  readonly agentId?: string;
  readonly sessionKey?: string;
  /** `isolated`: an empty transcript. `persistent`: the key's transcript goes on. */
  readonly sessionMode?: "isolated" | "persistent";
  /** `provider/model` or an alias. */
  readonly model?: string;
  readonly thinking?: Thinking;
  readonly timeoutSeconds?: number;
  /** What the operator wants done with the content of a webhook; never from a request. */
  readonly instructions?: string;
  /** Whether the reply is sent to a chat. */
  readonly deliver?: boolean;
  /** `last`, or a channel id. */
  readonly channel?: string;
  /** Recipient in that channel. */
  readonly to?: string;
  readonly wakeMode?: "now" | "next-heartbeat";
  /** The plugin that handed the event in may read the reply. */
  readonly keepReply?: boolean;
  /** The message is itself what is sent: no engine runs, and no summary is left. */
  readonly deliverOnly?: boolean;
  /** A system turn may have nothing to do: then no model is called. */
  readonly heartbeat?: { readonly events: readonly string[]; readonly scheduled: boolean };
}

/** How much a model reasons before it answers; mapped to what its provider has. */
export type Thinking = "off" | "minimal" | "low" | "medium" | "high" | "max";

/** Why an event is not let through. `code` is stable, `path` and `hint` say what to change. */
export interface Refusal {
  readonly code: string;
  /** One sentence for the operator. */
  readonly detail?: string;
  /** Configuration path that decided, such as `channels.botchat.dmPolicy`. */
  readonly path?: string;
  /** What to do to be let through. */
  readonly hint?: string;
  /** What to tell the sender, if anything (a pairing code). Sent through the outbox, like any answer. */
  readonly notice?: string;
  /** `silent` for what is ordinary, such as talk in a group that is not for the bot; default `refused`. */
  readonly outcome?: "refused" | "silent";
}

/** Which agent answers, in which session, and where the answer goes. */
export interface Route {
  readonly agentId: string;
  readonly sessionKey: string;
  /** Begin with an empty transcript (hook runs) instead of going on with the session's. */
  readonly isolated: boolean;
  /** Where the reply goes; `null`: nowhere (`deliver: false`, or no recipient is known). */
  readonly to: Address | null;
  /** Why `to` is `null`. */
  readonly undeliverable?: "not_asked" | "no_recipient";
}

/** One button below a message. */
export interface Button {
  readonly text: string;
  /** Handed back when the button is pressed; at most 64 bytes. */
  readonly value: string;
}

/**
 * A file that an agent sends. Exactly one of `url`, `path`, `data` and `ref` is set. The gateway fetches it, checks it and lays it down
 * before a channel sees it: `render` is handed a `path` or a `ref`.
 */
export interface OutboundMedia {
  /** A public http(s) address; it is fetched by the gateway, never by a platform. */
  readonly url?: string;
  /** Of a file in the agent's workspace, or of one that came with a message. */
  readonly path?: string;
  /** The bytes in base64, at most 1 MB: what is made on the spot. */
  readonly data?: string;
  /** The platform's own handle of a file that it has already, such as a sticker's. */
  readonly ref?: string;
  readonly mimeType?: string;
  readonly fileName?: string;
  /** Shown as a voice message, a round video or a sticker, where the platform has them. */
  readonly as?: "voice" | "round-video" | "sticker";
  /** Bytes. Set by the gateway, like the sides of a picture and the type, which it detects from the content. */
  readonly size?: number;
  readonly width?: number;
  readonly height?: number;
}

/** What an engine yields while it runs, in order; `done` is the last. */
export type TurnEvent =
  | { readonly type: "text"; readonly delta: string }
  /** `preview`: shown while the turn runs, and never part of the answer. */
  | { readonly type: "reasoning"; readonly delta: string; readonly preview?: boolean }
  | { readonly type: "tool"; readonly name: string; readonly state: "started" | "finished" | "failed"; readonly detail?: string }
  | { readonly type: "media"; readonly media: OutboundMedia }
  | { readonly type: "buttons"; readonly buttons: readonly (readonly Button[])[] }
  | { readonly type: "usage"; readonly inputTokens: number; readonly outputTokens: number; readonly model: string }
  | { readonly type: "done" };

/** What a turn says, whole. Text is Markdown. */
export interface Reply {
  readonly text: string;
  readonly reasoning?: string;
  readonly media: readonly OutboundMedia[];
  readonly buttons: readonly (readonly Button[])[];
  /** Message id to reply to; absent: none. */
  readonly replyTo?: string;
  /** It arrives without a sound. */
  readonly silent?: true;
  /** Message that becomes this reply by an edit; where it is gone, the reply fails. */
  readonly replaces?: string;
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number; readonly model: string };
}

/** One message as the platform will take it. JSON, because it waits in the outbox. */
export interface Part {
  /** What it is, for people who read traces: `text`, `photo`, `voice`, ... */
  readonly kind: string;
  /** Characters that count against the channel's `maxChars`, by the platform's own count. */
  readonly chars: number;
  /** The channel's own payload. */
  readonly body: Json;
  /** Message id of a preview that this part becomes, by an edit in place. */
  readonly replaces?: string;
  /** Message id that this part replies to; if that message was deleted, the part is sent without the reference. */
  readonly replyTo?: string;
  /** `replyTo` is the message that is answered, and a preview of the answer replies to it already. */
  readonly replyImplied?: true;
  /** What was left out, each in a few words for the trace, such as a button whose data is too long. */
  readonly omitted?: readonly string[];
  /** `replaces` or nothing: a message that is gone fails the part. */
  readonly inPlace?: true;
}

/** The platform took it. */
export interface Receipt {
  readonly messageId: string;
  /** Of all messages, where a part becomes several (an album); the first is `messageId`. */
  readonly messageIds?: readonly string[];
}

/** How an accepted event ends. Exactly one, for ever. */
export type Outcome = "answered" | "silent" | "refused" | "failed";

export type Station = "accept" | "ingress" | "gating" | "routing" | "turn" | "formatting" | "delivery" | "settled";

/** What one station decided about one event; the chain of them answers "why". */
export interface Decision {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly station: Station;
  /** Plugin that decided, or `core`. */
  readonly plugin: string;
  readonly verdict: "pass" | "refused" | "silent" | "failed" | "retry" | "done";
  /** Stable reason code, such as `sender_not_allowed`. */
  readonly code: string;
  readonly detail?: string;
  readonly path?: string;
  readonly hint?: string;
  /** At ingress, for what people do in chats: the sender's id at the platform. */
  readonly sender?: string;
  /** At turn: the tokens of each model that was asked. */
  readonly usage?: readonly NonNullable<Reply["usage"]>[];
}

/** The end of one unit of work, for observers. */
export interface TurnRecord {
  readonly eventId: string;
  readonly source: string;
  readonly kind: string;
  readonly lane: string;
  readonly outcome: Outcome;
  readonly reason: string;
  /** Milliseconds from acceptance to the end. */
  readonly ms: number;
  readonly agentId?: string;
  readonly sessionKey?: string;
  readonly receipts: readonly Receipt[];
  readonly usage?: Reply["usage"];
}
