/**
 * The vocabulary, in path order.
 *
 * `RawEvent` -ingress-> `Inbound` -gating-> pass or `Refusal` -routing-> `Route` -turn-> `Reply`
 * -formatting-> `Part[]` -delivery-> `Receipt`, then `settled(TurnRecord)`.
 *
 * These terms have one meaning each in code, configuration, log and documentation:
 *
 * - *event*: something that a source submitted and that is stored; a `RawEvent` until it is parsed.
 * - *unit*: the events that are handled together, such as an album.
 * - *lane*: events that run one after the other, such as those of one chat.
 * - *station*: a stage of the path: ingress, gating, routing, turn, formatting, delivery, settled.
 * - *hook point*: the place where plugins take part in a station; a *tap* is what a plugin adds there.
 * - *visit*: one unit on its way through the stations, with the data that one station leaves for a later one.
 * - *webhook*: an HTTP request that causes an event; a *mapping* says what to do with it, a *transform* is code for
 *   that.
 * - *delivery* of a webhook: one accepted request. As a station, delivery sends the parts of a reply.
 * - *channel*: a kind of chat platform; an *account*: one connection to it; a *chat*: a conversation there; a *thread*:
 *   a topic in a chat.
 * - *agent*: answers messages; an *engine* runs its turns; a *session* is the memory of a conversation.
 * - *turn*: one run of an agent or a command for a unit.
 * - *trace*: the decisions that the stations made about a unit; `why` prints it.
 * - *code*: the stable name of a reason, from the registry in `codes.ts`.
 */

/** Any value that survives `JSON.stringify` and `JSON.parse` unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * The place a message came from or a reply goes to. The thread is always part of the address, so that a reply never
 * leaves its topic.
 */
export interface Address {
  /** Channel id, such as `botchat`. */
  readonly channel: string;
  /** Account id within the channel, such as `default`. */
  readonly account: string;
  /** The platform's immutable chat id, as a string. */
  readonly chat: string;
  /** The platform's thread (topic) id, as a string; absent outside threads. */
  readonly thread?: string;
}

/**
 * The origin of an event, which determines what it may do. Stored when the event is accepted, never recomputed from a
 * weaker source, and checked again when the event runs.
 *
 * - `channel`: a person on a chat platform; the access policy decides when the event runs.
 * - `hook`: a request with the hook token; least authority, never owner.
 * - `operator`: the gateway itself, or a holder of the gateway token or of the state directory.
 */
export type Authority = "channel" | "hook" | "operator";

/** How an event waits for related events (an album, a split text, system events). */
export interface Gather {
  /** Events of one lane with the same key form one unit. */
  readonly key: string;
  /**
   * Epoch milliseconds before which the unit does not start. `null`: the event never starts a unit; it waits for one
   * with the same key.
   */
  readonly due: number | null;
  /** Also postpones the waiting events with the same key to this `due` (an album whose parts are still arriving). */
  readonly extend?: true;
}

/** An event as a source submits it and as the inbox stores it. All fields are JSON. */
export interface RawEvent {
  /** The component that understands `body`: a channel id, a plugin id, or `hooks`, `heartbeat`, `operator`. */
  readonly source: string;
  /** Kind within the source: `update`, `wake`, `agent`, `heartbeat`, ... */
  readonly kind: string;
  /** The channel's account; absent for other sources. */
  readonly account?: string;
  /** Events of one lane run one at a time, in order of arrival. */
  readonly lane: string;
  /**
   * The event waits for no turn, neither for a free place nor for others of its session: a command, or a text that is
   * sent as it is. Its lane is separate from one of the same name without this. Not stored.
   */
  readonly control?: true;
  /** What the event may do. A plugin must set `hook` for everything that came from outside. */
  readonly authority: Authority;
  /** Scoped idempotency key, stored for seven days. A repeated key returns the first result. */
  readonly dedupeKey?: string;
  readonly gather?: Gather;
  readonly body: Json;
}

/** The result of `receive`, after the event is committed. */
export interface Accepted {
  readonly eventId: string;
  /** True if `dedupeKey` was seen before; `eventId` is then that of the first event. */
  readonly duplicate: boolean;
}

/** A file that came with a message, before or after it is fetched. */
export interface InboundMedia {
  readonly kind: "image" | "video" | "audio" | "voice" | "document" | "sticker";
  /** The channel's own handle, for `fetchMedia`. */
  readonly ref: string;
  readonly mimeType?: string;
  readonly fileName?: string;
  /** Size in bytes, if the platform reports it. */
  readonly size?: number;
  /** Absolute path in the state directory, once fetched. */
  readonly path?: string;
  /** The platform's id of the file itself, the same in every message. It cannot be used to fetch the file. */
  readonly uniqueId?: string;
  /** Facts about a sticker. `animated` includes video stickers; neither kind is fetched. */
  readonly sticker?: { readonly emoji?: string; readonly setName?: string; readonly animated: boolean };
  /** A model's description of the file, from an earlier message. */
  readonly description?: string;
  /** What is said in it, as a machine understood it. The gateway sets it. */
  readonly transcript?: string;
  /** Why the file could not be fetched, for people and the model: `too large (7.0 MB, at most 5 MB)`. */
  readonly unavailable?: string;
}

/** The chat of a message. `system`: not a place that people can see. */
export interface InboundChat {
  readonly id: string;
  readonly kind: "direct" | "group" | "channel" | "system";
  readonly title?: string;
  readonly thread?: string;
  /** True if the group is divided into threads, which platforms may call topics or channels. */
  readonly threaded?: true;
}

/** The sender of a message. */
export interface InboundSender {
  /** The platform's immutable id. Only this id grants access; a name never does. */
  readonly id: string;
  readonly name?: string;
  readonly username?: string;
  /** True for a bot. It is answered only where its id is listed and its text names this bot; see `mentionedByName`. */
  readonly isBot?: boolean;
  /**
   * True for messages sent as a chat (a channel's post, an anonymous administrator). `id` is then that of the chat, so
   * no user can be identified.
   */
  readonly anonymous?: true;
}

/** A message or other occurrence, in the same form for every source. */
export interface Inbound {
  /** The event's id; that of the first event if several were gathered. */
  readonly id: string;
  /** Channel id, or `hooks`, `heartbeat`, `operator` for events that no person wrote. */
  readonly channel: string;
  readonly account: string;
  /**
   * What happened. Channels set the first six.
   *
   * - `message`: a person wrote something. Chat commands run only in this kind.
   * - `edit`: a person changed a message; `messageId` is that of the message, `text` its new text. An edit that arrives
   *   before the message has had its turn takes its place; `editedMessages` of the account is about later ones.
   * - `delete`: a person deleted their own message; `messageId` is that of the message, `sender` its writer. A turn or
   *   an answer that waits or runs ends, and the words are removed from what the gateway stores. `text` is empty.
   *   Return a deletion by another person, such as a moderator, as silent: the host ignores it.
   * - `press`: a person pressed a button; `text` is `callback_data: ` and the button's value, the form that models
   *   expect, and `messageId` is that of the message with the button. Set `mention`.
   * - `reaction`: a person added a reaction to the message `messageId`. It gets no reply. The agent reads `text` at its
   *   next turn, so make it a sentence, such as `Reaction added: 👍 by Ada on message 7`. A removed reaction is silent.
   * - `migration`: the chat has a new id, `migratedTo`.
   */
  readonly kind: "message" | "edit" | "delete" | "press" | "reaction" | "migration" | "hook" | "system";
  readonly chat: InboundChat;
  readonly sender: InboundSender;
  /** Text as Markdown; a media placeholder if there is no text. */
  readonly text: string;
  /** The text without Markdown, if it differs. Mention patterns are matched against it. */
  readonly plain?: string;
  /**
   * The text contains words that were spoken, as a machine understood them. The gateway sets it. The only chat command
   * in such a message is `/stop`, and it never answers a request for approval.
   */
  readonly spoken?: true;
  readonly media: readonly InboundMedia[];
  /**
   * The channel cannot read the message, which has neither text nor files: it is of a kind that the platform added
   * later. The person gets one sentence in place of a turn. For direct chats only.
   */
  readonly unreadable?: true;
  /** True if the bot was addressed (mention, reply, press). Direct chats need no mention. */
  readonly mention: boolean;
  /**
   * True if the text itself names the bot, as in `@bot` or `/command@bot`; a reply or a press does not. Messages of
   * other bots need it: two bots that reply to each other would never end. Set it wherever the platform reports names.
   */
  readonly mentionedByName?: boolean;
  /** Epoch milliseconds at the source. If the channel sets 0, the time of acceptance is used. */
  readonly timestamp: number;
  /** The platform's message id; absent if there is no message to reply to. */
  readonly messageId?: string;
  /**
   * The platform's handle of a press or a slash command, such as a token or an address, if an answer that only the
   * sender sees needs it: such an answer has it in `Part.onlyFor`.
   */
  readonly interaction?: string;
  /** The ids of all messages gathered into this one, beginning with `messageId`. */
  readonly messageIds?: readonly string[];
  /** For kind `migration`: the chat's new id at the platform. */
  readonly migratedTo?: string;
  /** The message that this one replies to. */
  readonly replyTo?: {
    readonly messageId?: string;
    readonly sender?: string;
    readonly text?: string;
    readonly quote?: string;
    /** Its files. They are fetched with those of the message itself, because questions are often about them. */
    readonly media?: readonly InboundMedia[];
  };
  readonly forward?: { readonly from: string; readonly timestamp?: number };
  readonly authority: Authority;
  /** What a hook, heartbeat or mapping requests of the turn; absent for chat messages. */
  readonly request?: TurnRequest;
}

/** The event was understood and needs no reply, such as an edit that changes nothing. */
export interface Silent {
  /** Reason code for the trace, such as `edit_changes_nothing`: `a-z`, `0-9`, `_`. */
  readonly silent: string;
  /** The reason as a sentence, for the trace. */
  readonly detail?: string;
  /** The account option that caused this, as keys below the account: `["capabilities", "inlineButtons"]`. */
  readonly option?: readonly string[];
  /** What to change, for the trace. */
  readonly hint?: string;
}

/** A validated request of a hook or heartbeat. */
export interface TurnRequest {
  /** Human-readable hook name; the summary begins with it. A mapping may take it from the payload. */
  readonly name?: string;
  /**
   * The webhook by the configuration's name for it: the id of its mapping or preset, or `agent`. Set by the gateway
   * alone.
   */
  readonly hook?: string;
  readonly agentId?: string;
  readonly sessionKey?: string;
  /** `isolated`: starts with an empty transcript. `persistent`: continues the session's transcript. */
  readonly sessionMode?: "isolated" | "persistent";
  /** `provider/model` or an alias. */
  readonly model?: string;
  readonly thinking?: Thinking;
  readonly timeoutSeconds?: number;
  /** The operator's instructions for the content of a webhook. They never come from a request. */
  readonly instructions?: string;
  /** Whether the reply is sent to a chat. */
  readonly deliver?: boolean;
  /** `last`, or a channel id. */
  readonly channel?: string;
  /** Recipient in that channel. */
  readonly to?: string;
  /**
   * The exact place of the reply, instead of `channel` and `to`, for events of plugins; an empty account is the first
   * one of the channel. Whether the bot may write there is not checked.
   */
  readonly address?: Pick<Address, keyof Address>;
  /** `platform` of the reply, for an event whose operator has set it. It never comes from a request. */
  readonly platform?: Reply["platform"];
  readonly wakeMode?: "now" | "next-heartbeat";
  /** The plugin that submitted the event may read the reply. */
  readonly keepReply?: boolean;
  /** The message itself is sent: no engine runs, and no summary is stored. */
  readonly deliverOnly?: boolean;
  /**
   * What the report of costs calls the model calls of this turn, such as `reminder`; default: `plugin`. Only for events
   * of plugins.
   */
  readonly purpose?: string;
  /** Events of a system turn. If there is nothing to do, no model is called. */
  readonly heartbeat?: { readonly events: readonly string[]; readonly scheduled: boolean };
}

/** How much a model reasons before it replies. Each provider's own levels are mapped to these. */
export type Thinking = "off" | "minimal" | "low" | "medium" | "high" | "max";

/** Why an event is refused. `code` is stable; `path` and `hint` say what to change. */
export interface Refusal {
  readonly code: string;
  /** One sentence for the operator. */
  readonly detail?: string;
  /** Configuration path that caused the refusal, such as `channels.botchat.dmPolicy`. */
  readonly path?: string;
  /** What to change so that the event is admitted. */
  readonly hint?: string;
  /** A text for the sender, such as a pairing code; absent: none. Sent through the outbox, like any reply. */
  readonly notice?: string;
  /** `silent` for ordinary events, such as group messages that are not for the bot. Default: `refused`. */
  readonly outcome?: "refused" | "silent";
}

/** Which agent replies, in which session, and where the reply goes. */
export interface Route {
  readonly agentId: string;
  readonly sessionKey: string;
  /** True to begin with an empty transcript (hook runs) instead of the session's. */
  readonly isolated: boolean;
  /** Where the reply goes; `null` if nowhere (`deliver: false`, or no known recipient). */
  readonly to: Address | null;
  /**
   * The person behind the sender, if several ids are linked (`session.identityLinks`, `/link`): a name, and the id
   * under which budgets count. Rights are never the person's, but those of the id that wrote.
   */
  readonly person?: { readonly name: string; readonly channel: string; readonly id: string };
  /** Why `to` is `null`. */
  readonly undeliverable?: "not_asked" | "no_recipient" | "recipient_refused";
}

/** One button below a message. A type alias, so that rows of buttons are `Json` and fit into the body of a part. */
export type Button = {
  readonly text: string;
  /** Returned when the button is pressed; at most 64 bytes. */
  readonly value: string;
};

/**
 * A file that an agent sends. Exactly one of `url`, `path`, `data` and `ref` is set. The gateway fetches and checks the
 * file and stores a copy, so that a channel's `render` receives a `path` or a `ref`.
 */
export interface OutboundMedia {
  /** A public http(s) address. The gateway fetches it, never a platform. */
  readonly url?: string;
  /** The path of a file in the agent's workspace, or of a file that came with a message. */
  readonly path?: string;
  /**
   * The bytes in base64, for content generated on the fly: at most 1 MB, or in a `media` event of an engine as much as
   * another file may have, because the gateway stores it at once.
   */
  readonly data?: string;
  /** The platform's own handle of a file that it already has, such as a sticker. */
  readonly ref?: string;
  readonly mimeType?: string;
  readonly fileName?: string;
  /** Show it as a voice message, a round video or a sticker, if the platform supports that. */
  readonly as?: "voice" | "round-video" | "sticker";
  /**
   * Size in bytes. The gateway sets it, as it sets the dimensions of an image and the type, which it detects from the
   * content.
   */
  readonly size?: number;
  readonly width?: number;
  readonly height?: number;
}

/** A model that was passed over in favour of another one. */
export interface SkippedModel {
  /** `provider/model`. */
  readonly model: string;
  /** The code of the reason, such as `model_quota`. */
  readonly reason: string;
  /** The reason as a sentence, without a secret. */
  readonly detail: string;
  /** When the model is asked again, in epoch milliseconds; absent if no time is set. */
  readonly until?: number;
}

/** The events that an engine yields while it runs, in order; `done` is the last. */
export type TurnEvent =
  | { readonly type: "text"; readonly delta: string }
  /**
   * The reply starts over: all text, reasoning, media and buttons so far are void, such as the beginning of a model
   * that broke off. What still holds is yielded again. Tool calls and usage remain. `reason`: the code of the cause,
   * such as `model_cut_off`.
   */
  | { readonly type: "restart"; readonly reason: string }
  /** `preview`: shown while the turn runs, but never part of the reply. */
  | { readonly type: "reasoning"; readonly delta: string; readonly preview?: boolean }
  | {
      readonly type: "tool";
      readonly name: string;
      readonly state: "started" | "finished" | "failed";
      readonly detail?: string;
    }
  | { readonly type: "media"; readonly media: OutboundMedia }
  | { readonly type: "buttons"; readonly buttons: readonly (readonly Button[])[] }
  /**
   * What a call of `provider/model` used. The first two are all tokens of the request and of the reply; the others are
   * the parts of them that the server read from its cache, wrote to it, and used for reasoning.
   */
  | {
      readonly type: "usage";
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly cacheRead?: number;
      readonly cacheWrite?: number;
      readonly reasoning?: number;
      readonly model: string;
    }
  /** The model that now answers, and those that come before it in the configuration and do not. */
  | { readonly type: "model"; readonly model: string; readonly skipped: readonly SkippedModel[] }
  /** The server of `provider/model` does not accept the tool, such as its schema, so the model is asked without it. */
  | { readonly type: "tool-refused"; readonly model: string; readonly name: string; readonly reason: string }
  | { readonly type: "done" };

/** The complete reply of a turn. The text is Markdown. */
export interface Reply {
  readonly text: string;
  readonly reasoning?: string;
  readonly media: readonly OutboundMedia[];
  /**
   * Rows of buttons. In a reply that replaces a message, `[]` keeps its buttons, and `[[]]` removes them; elsewhere
   * both mean none.
   */
  readonly buttons: readonly (readonly Button[])[];
  /** Id of the message to reply to; absent: none. */
  readonly replyTo?: string;
  /**
   * In a group, only the sender of the message that is answered sees the reply. The gateway sets it for answers of
   * commands and for refusals. It is a courtesy, not a secret: an account without `ChannelCapabilities.ephemeral` shows
   * the reply to everyone in the group, and `render` does not get this member.
   */
  readonly to?: "sender";
  /**
   * What the reply contains of a platform's own, by the id of its channel, as the channel's `platformFields` describe
   * it. Fields for other channels are ignored, and fields that do not match are left out of a reply.
   *
   * @example
   * platform: { botchat: { protect_content: true } },
   */
  readonly platform?: { readonly [channel: string]: Json };
  /** Speak the text, and send it as a voice message: the reply has the tag `[[audio_as_voice]]` and no files. */
  readonly speak?: true;
  /** Send without a notification sound. */
  readonly silent?: true;
  /** Id of the message to replace by an edit. If that message is gone, the reply fails. */
  readonly replaces?: string;
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number; readonly model: string };
  /** The model that answered, as `provider/model`, if the engine named it. */
  readonly model?: string;
}

/** The one person in a group who sees a message, and what it answers. */
export interface EphemeralRecipient {
  /** The person's id, as `parse` returns it. */
  readonly sender: string;
  /** Id of the message that is answered; that of the message with the button if a press is. */
  readonly messageId?: string;
  /** `Inbound.interaction` of what is answered. */
  readonly interaction?: string;
}

/** One message in the form the platform accepts. JSON, because it waits in the outbox. */
export interface Part {
  /** A label for traces: `text`, `photo`, `voice`, ... */
  readonly kind: string;
  /** Characters that count towards the channel's `maxChars`, counted as the platform counts them. */
  readonly chars: number;
  /** The channel's own payload. */
  readonly body: Json;
  /** Id of the preview message that this part replaces by an edit. */
  readonly replaces?: string;
  /**
   * Id of the message that this part replies to. If that message was deleted, the part is sent without the reference.
   */
  readonly replyTo?: string;
  /** True if `replyTo` is the message being answered, so that a preview of the reply already refers to it. */
  readonly replyImplied?: true;
  /** What was left out, in a few words each for the trace, such as a button with too much data. */
  readonly omitted?: readonly string[];
  /**
   * The key of this send, 20 letters and digits. The gateway sets it for `send`, the same for every repetition of the
   * part, also after a restart and on another node; no other part has it. Pass it to a platform that shows a message
   * with a known key once, with a suffix for each message if the part becomes several. See
   * `ChannelCapabilities.repeats`.
   */
  readonly key?: string;
  /**
   * Only this person may see the part, in the chat of the address. The gateway sets it for `send`, on each part of a
   * reply with `to: "sender"`, and only if the account has `ChannelCapabilities.ephemeral`.
   */
  readonly onlyFor?: EphemeralRecipient;
  /** Edit the message in `replaces` or fail: if it is gone, no new message is sent. */
  readonly inPlace?: true;
  /**
   * If the platform refuses the files of this part for good, its text may be sent without them. The receipt then says
   * so in `omitted`. Without this, the part is sent complete or fails.
   */
  readonly mayOmitFiles?: true;
}

/** Proof that the platform accepted a part. */
export interface Receipt {
  readonly messageId: string;
  /** The ids of all messages if a part became several (an album), beginning with `messageId`. */
  readonly messageIds?: readonly string[];
  /** What was left out, in a few words each for the trace, such as a file that the platform refused. */
  readonly omitted?: readonly string[];
}

/** How an accepted event ends: exactly one outcome, which never changes. */
export type Outcome = "answered" | "silent" | "refused" | "failed";

/** Where a decision about an event was made. */
export type Station = "accept" | "ingress" | "gating" | "routing" | "turn" | "formatting" | "delivery" | "settled";

/** What one station decided about one event. The list of decisions explains the outcome. */
export interface Decision {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly station: Station;
  /** The plugin that decided, or `core`. */
  readonly plugin: string;
  readonly verdict: "pass" | "refused" | "silent" | "failed" | "retry" | "done";
  /** Stable reason code, such as `sender_not_allowed`. */
  readonly code: string;
  readonly detail?: string;
  readonly path?: string;
  readonly hint?: string;
  /** At ingress, for events caused by a person: the sender's platform id. */
  readonly sender?: string;
  /** At turn: the tokens used by each model that was called. */
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
