import Type from "typebox";
import { annotate, chatWritable } from "./annotations.ts";

/** An id with its channel, as `/whoami` shows it. */
const linkedId = Type.String({
  pattern: "^[a-z][a-z0-9-]{0,63}:.{1,256}$",
  description: "An id of the person, as CHANNEL:ID.",
});

export const sessionSchema = Type.Object(
  {
    identityLinks: Type.Optional(
      Type.Record(
        Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" }),
        Type.Array(linkedId, { minItems: 2, maxItems: 20 }),
        {
          description:
            "Ids on several platforms that are one person, by a name: they share conversations, budgets and the " +
            "place of reminders, never rights.",
        },
      ),
    ),
    dmScope: Type.Enum(
      ["main", "per-peer", "per-channel-peer", "per-account-channel-peer"],
      annotate(
        { fallback: "per-account-channel-peer" },
        {
          default: "main",
          description: "Which direct chats share a session: all of them, or those of one peer, channel and account.",
        },
      ),
    ),
  },
  { default: {}, description: "How sessions are assigned." },
);

export const messagesSchema = Type.Object(
  {
    groupChat: Type.Object(
      {
        mentionPatterns: Type.Optional(
          Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
            ...chatWritable,
            description: "Regular expressions that count as a mention.",
          }),
        ),
        historyLimit: Type.Integer({
          minimum: 0,
          maximum: 1_000,
          default: 50,
          ...chatWritable,
          description: "Unmentioned group messages kept as context for the next turn; 0 keeps none.",
        }),
      },
      { default: {}, description: "Behaviour in groups, for every channel." },
    ),
    ackReaction: Type.Optional(
      Type.String({ ...chatWritable, description: "Emoji that acknowledges a message; empty: none." }),
    ),
    ackReactionScope: Type.Enum(["all", "group-mentions", "direct", "group-all", "off"], {
      default: "all",
      ...chatWritable,
      description: "Which messages are acknowledged.",
    }),
    removeAckAfterReply: Type.Boolean({
      default: false,
      ...chatWritable,
      description: "Whether the acknowledgement is removed after the turn.",
    }),
    inbound: Type.Object(
      {
        debounceMs: Type.Integer({
          minimum: 0,
          maximum: 60_000,
          default: 0,
          ...chatWritable,
          description: "Quick messages of one sender within this time become one, joined by newlines; 0 joins none.",
        }),
      },
      { default: {}, description: "Incoming messages." },
    ),
  },
  { default: {}, description: "Messages, for every channel." },
);

export const commandsSchema = Type.Object(
  {
    native: Type.Union([Type.Literal("auto"), Type.Boolean()], {
      default: "auto",
      description: "Whether the built-in commands exist in chats; false: neither in menus nor when typed.",
    }),
    abortWords: Type.Array(Type.String({ minLength: 1, maxLength: 50 }), {
      default: ["stop"],
      description: "Texts that mean /stop when they are the whole message, in upper or lower case; empty: none.",
    }),
    config: Type.Boolean({ default: false, description: "Whether the owner may use /config in a chat." }),
    ownerAllowFrom: Type.Optional(
      Type.Array(
        Type.Union([Type.String({ minLength: 1 }), Type.Integer()]),
        annotate(
          { fallback: [] },
          {
            description:
              "Sender ids of all owners. Absent: the ids of the account's allowFrom, and owners approved by pairing.",
          },
        ),
      ),
    ),
  },
  { default: {}, description: "Chat commands." },
);
