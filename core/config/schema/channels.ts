import Type from "typebox";
import { annotate, chatWritable } from "./annotations.ts";

const senderSchema = Type.Union([Type.String({ minLength: 1 }), Type.Integer()]);
const sendersSchema = (description: string) => Type.Array(senderSchema, { description });
const groupPolicySchema = (description: string) => Type.Enum(["open", "allowlist", "disabled"], { description });

const placeOptions = {
  enabled: Type.Optional(Type.Boolean({ description: "false: messages from here are refused." })),
  groupPolicy: Type.Optional(groupPolicySchema("Who may write here.")),
  requireMention: Type.Optional(
    Type.Boolean({ ...chatWritable, description: "Whether a message must address the bot. Default: true." }),
  ),
  allowFrom: Type.Optional(sendersSchema("Senders who may write here.")),
  skills: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      ...chatWritable,
      description: "Skills here; absent: all, empty: none.",
    }),
  ),
  systemPrompt: Type.Optional(Type.String({ ...chatWritable, description: "Extra instructions here." })),
};

const topicSchema = Type.Object(placeOptions, {
  description: "One topic; takes its group's fields where its own are missing.",
});

const groupSchema = Type.Object(
  {
    ...placeOptions,
    topics: Type.Optional(
      Type.Record(Type.String(), topicSchema, { description: "Topics of the group, by thread id." }),
    ),
  },
  { description: "One group; takes the fields of * where its own are missing." },
);

/**
 * The options that the host understands in every account of every channel. Defaults apply after root, account, group
 * and topic are merged: `channelAccounts` merges, `validateSection` applies the defaults.
 */
export const accessSchema = Type.Object(
  {
    enabled: Type.Boolean({ default: true, description: "false: the channel or the account is not started." }),
    dmPolicy: Type.Enum(["pairing", "allowlist", "open", "disabled"], {
      default: "pairing",
      description:
        "Who may send direct messages: approved senders, those in allowFrom, everyone (requires * in " +
        "allowFrom), or no one.",
    }),
    allowFrom: Type.Array(senderSchema, {
      default: [],
      description: "Sender ids that may send direct messages. * allows everyone.",
    }),
    groupPolicy: Type.Enum(["open", "allowlist", "disabled"], {
      default: "allowlist",
      description: "Who may write in groups: everyone, those in groupAllowFrom, or no one.",
    }),
    groupAllowFrom: Type.Optional(sendersSchema("Sender ids that may write in groups; allowFrom when absent.")),
    groups: Type.Optional(
      Type.Record(
        Type.String(),
        groupSchema,
        annotate({ entriesAdmit: true }, { description: "Groups by id, or *. When set, other groups are refused." }),
      ),
    ),
    bots: Type.Object(
      {
        limit: Type.Integer({
          minimum: 0,
          maximum: 100,
          default: 3,
          description: "How many turns bots may cause in a chat before a person writes again; 0: none.",
        }),
      },
      {
        default: {},
        description: "Bots are answered only if their id is listed by name and their text names this bot.",
      },
    ),
    historyLimit: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000,
        ...chatWritable,
        description:
          "How many group messages not addressed to the bot the next turn receives. Default: " +
          "messages.groupChat.historyLimit; 0: none.",
      }),
    ),
    dmHistoryLimit: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10_000,
        ...chatWritable,
        description: "User turns of a direct chat that the model sees.",
      }),
    ),
    dms: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object({
          historyLimit: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 10_000, description: "User turns of this chat that the model sees." }),
          ),
        }),
        { ...chatWritable, description: "Settings of single direct chats, by sender id." },
      ),
    ),
    ackReaction: Type.Optional(
      Type.String({ ...chatWritable, description: "Emoji that acknowledges a message; empty: none." }),
    ),
    responsePrefix: Type.Optional(
      Type.String({ ...chatWritable, description: "Text before every reply, with fields such as {{Field}}." }),
    ),
    reactionNotifications: Type.Enum(["off", "own", "all"], {
      default: "own",
      ...chatWritable,
      description: "Which reactions are reported to the agent: none, those to its own messages, or all.",
    }),
    editedMessages: Type.Optional(
      Type.Enum(["answer", "note", "ignore"], {
        ...chatWritable,
        description:
          "What happens when a message is edited after its turn: it is answered again; the next turn mentions it, " +
          "and it is answered only if the edit adds a mention or a question; or nothing. Default: note, unless the " +
          "channel has another.",
      }),
    ),
    configWrites: Type.Boolean({
      default: true,
      description: "Whether events of the channel may change this file (group migration, /config).",
    }),
  },
  { description: "Who may use a channel, and how much history is kept." },
);

export const channelsSchema = Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), {
  default: {},
  description:
    "Channels by id. The host defines the access options, and the channel plugin the others. `accounts` " +
    "overrides them for each account.",
});
