/**
 * The options of one account, `channels.botchat.*`. The host defines the access options (`dmPolicy`, `allowFrom`,
 * `groups`, ...).
 */
import { Type } from "service-gateway/sdk";
import type { Static } from "service-gateway/sdk/channel";

/** Marks options that `/config` may write from a chat. */
const fromChat = { chatWritable: true } as const;

const flag = (value: boolean, description: string) => Type.Boolean({ default: value, description });

export const accountOptions = Type.Object({
  botToken: Type.Optional(
    Type.String({ description: "Token of the bot. The account `default` also takes it from BOTCHAT_BOT_TOKEN." }),
  ),
  tokenFile: Type.Optional(
    Type.String({ minLength: 1, description: "File that contains the token; takes precedence over botToken." }),
  ),
  apiRoot: Type.String({
    default: "https://api.telegram.org",
    pattern: "^https?://[^?#]+$",
    expects: "an http or https address",
    description: "Address of the Bot API server: the public one, a local one, or the playground.",
  }),
  proxy: Type.Optional(
    Type.String({
      pattern: "^(https?|socks5h?|socks4a?|socks)://",
      expects: "an address that begins with http://, https://, socks5:// or socks4://",
      description: "Proxy for every call and file: http://, https://, socks5:// or socks4://.",
    }),
  ),
  timeoutSeconds: Type.Optional(
    Type.Number({
      minimum: 1,
      maximum: 3600,
      description: "Time limit of one call; unset: 60, and 500 while a file is sent.",
    }),
  ),
  network: Type.Object(
    {
      autoSelectFamily: Type.Optional(
        Type.Boolean({ description: "Try IPv6 and IPv4 in parallel; unset: Node's default." }),
      ),
    },
    { default: {}, description: "How connections are made." },
  ),
  retry: Type.Object(
    {
      attempts: Type.Integer({
        minimum: 1,
        maximum: 20,
        default: 3,
        description: "Attempts in quick succession. Actions and file transfers are not retried further.",
      }),
      minDelayMs: Type.Integer({ minimum: 0, default: 400, description: "Wait before the second attempt." }),
      maxDelayMs: Type.Integer({ minimum: 0, default: 30_000, description: "Longest wait that is not a flood wait." }),
      jitter: Type.Number({ minimum: 0, maximum: 1, default: 0.1, description: "Random share of each wait." }),
    },
    {
      default: {},
      description: "Retries for calls that had no effect. Replies are retried for 24 hours, at most maxDelayMs apart.",
    },
  ),
  limits: Type.Object(
    {
      perBotPerSecond: Type.Integer({
        minimum: 0,
        maximum: 1_000,
        default: 30,
        description: "Messages and edits a second, over all chats.",
      }),
      perChatPerSecond: Type.Integer({
        minimum: 0,
        maximum: 1_000,
        default: 1,
        description: "Messages and edits a second in one chat.",
      }),
      perGroupPerMinute: Type.Integer({
        minimum: 0,
        maximum: 10_000,
        default: 20,
        description: "Messages a minute in one group.",
      }),
    },
    {
      default: {},
      description: "The platform's rate limits; further messages wait. 0: no limit, for a Bot API server of your own.",
    },
  ),
  polling: Type.Object(
    {
      timeoutSeconds: Type.Integer({
        minimum: 0,
        maximum: 50,
        default: 30,
        description: "How long the platform may hold one getUpdates.",
      }),
      stallSeconds: Type.Number({
        minimum: 0.05,
        maximum: 3600,
        default: 120,
        description:
          "After this time without a completed getUpdates the connection is opened again. In webhook mode, " +
          "after this time without an update, the platform is asked whether the webhook is still set.",
      }),
      minDelayMs: Type.Integer({
        minimum: 1,
        default: 2_000,
        description: "First wait after a failed getUpdates; grows by 1.8.",
      }),
      maxDelayMs: Type.Integer({ minimum: 1, default: 30_000, description: "Longest wait after a failed getUpdates." }),
    },
    { default: {}, description: "Long polling." },
  ),
  webhookUrl: Type.Optional(
    Type.String({
      pattern: "^https?://",
      expects: "an http or https address",
      description: "Public address for updates; disables polling. Requires webhookSecret.",
    }),
  ),
  webhookSecret: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z0-9_-]{1,256}$",
      expects: "1 to 256 letters, digits, _ or -",
      description: "Shared with the platform, which sends it in a header of every update.",
    }),
  ),
  webhookPath: Type.String({
    default: "/telegram-webhook",
    pattern: "^/[^?#]*$",
    expects: "a path that begins with /",
    description: "Path of the local listener.",
  }),
  webhookHost: Type.String({ default: "127.0.0.1", description: "Address that the local listener binds." }),
  webhookPort: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 8787,
    description: "Port that the local listener binds.",
  }),
  textChunkLimit: Type.Integer({
    minimum: 1,
    default: 4000,
    ...fromChat,
    description: "Characters of one message, as the platform counts them; values above 4096 are treated as 4096.",
  }),
  chunkMode: Type.Enum(["length", "newline"], {
    default: "length",
    ...fromChat,
    description: "newline: a message for each paragraph.",
  }),
  linkPreview: Type.Boolean({ default: true, ...fromChat, description: "Show previews of links." }),
  streamMode: Type.Enum(["off", "partial", "block"], {
    default: "partial",
    ...fromChat,
    description: "The live preview: none, as text arrives, or in blocks.",
  }),
  draftChunk: Type.Object(
    {
      minChars: Type.Integer({ minimum: 1, default: 200, description: "Minimum length of a block." }),
      maxChars: Type.Integer({
        minimum: 1,
        default: 800,
        description: "Maximum length of a block, limited by textChunkLimit.",
      }),
      breakPreference: Type.Enum(["paragraph", "newline", "sentence"], {
        default: "paragraph",
        description: "Where a block should end.",
      }),
    },
    { default: {}, ...fromChat, description: "Blocks of `streamMode: block`." },
  ),
  blockStreaming: Type.Optional(Type.Boolean({ ...fromChat, description: "true: no live preview." })),
  replyToMode: Type.Enum(["off", "first", "all"], {
    default: "off",
    ...fromChat,
    description: "Which parts of a reply refer to the user's message; off: only if the agent requests it.",
  }),
  responsePrefix: Type.Optional(
    Type.String({
      ...fromChat,
      description: "Text before every reply; may contain fields such as {{Field}}, and the replying model as {model}.",
    }),
  ),
  mediaMaxMb: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      description: "Largest file in MB; unset: 5 for received files, 50 for sent ones.",
    }),
  ),
  actions: Type.Object(
    {
      sendMessage: flag(true, "Messages may be sent."),
      editMessage: flag(true, "Messages of the bot may be changed."),
      deleteMessage: flag(true, "Messages may be deleted."),
      reactions: flag(true, "The bot may react; reactionLevel also decides whether the agent does."),
      sticker: flag(false, "Stickers may be sent and searched."),
    },
    { default: {}, description: "Actions besides replying, by the agent and by hand." },
  ),
  capabilities: Type.Union(
    [
      Type.Object({
        inlineButtons: Type.Enum(["off", "dm", "group", "all", "allowlist"], {
          default: "allowlist",
          description: "Where buttons work.",
        }),
      }),
      Type.Array(Type.String(), { description: 'Old form: ["inlineButtons"] means all.' }),
    ],
    { default: { inlineButtons: "allowlist" }, description: "Features with a scope of their own." },
  ),
  reactionLevel: Type.Enum(["off", "ack", "minimal", "extensive"], {
    default: "minimal",
    ...fromChat,
    description: "How freely the agent reacts.",
  }),
  reactionNotifications: Type.Enum(["off", "own", "all"], {
    default: "own",
    ...fromChat,
    description: "Which reactions are reported to the agent.",
  }),
  editedMessages: Type.Enum(["answer", "note", "ignore"], {
    default: "answer",
    ...fromChat,
    description:
      "What happens when a message is edited after its turn: it is answered; the next turn mentions it, and it is " +
      "answered only if the edit adds a mention or a question; or nothing.",
  }),
  ackReaction: Type.Optional(
    Type.String({ ...fromChat, description: "Emoji while a message is being handled; an empty text disables it." }),
  ),
  customCommands: Type.Array(
    Type.Object({
      command: Type.String({ description: "a-z, 0-9 and _, at most 32; a leading slash is dropped." }),
      description: Type.String({ description: "One line for the menu." }),
    }),
    { default: [], ...fromChat, description: "More entries of the menu; they are ordinary text to the agent." },
  ),
  configWrites: flag(true, "Chat commands and group migrations may change the configuration."),
});

export type AccountOptions = Static<typeof accountOptions>;

/** The options that a connection depends on. All others apply from the next message. */
export const connectionOptions = [
  "botToken",
  "tokenFile",
  "apiRoot",
  "proxy",
  "timeoutSeconds",
  "network",
  "retry",
  "limits",
  "polling",
  "webhookUrl",
  "webhookSecret",
  "webhookPath",
  "webhookHost",
  "webhookPort",
] as const satisfies readonly (keyof AccountOptions)[];
