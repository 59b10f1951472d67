/**
 * The names and parameters of the actions, as data. Each has a short name; three also have a second name with different
 * spellings.
 */
import type { Button, Json } from "../contract/index.ts";

export type ActionName = "send" | "edit" | "delete" | "react" | "sticker" | "sticker-search";

/** One parsed call. The action's schema says which fields it has and which are required. */
export interface ActionCall {
  readonly action: ActionName;
  readonly channel?: string;
  readonly account?: string;
  /** A chat, optionally with a topic. */
  readonly to?: string;
  readonly thread?: string;
  readonly messageId?: string;
  readonly text?: string;
  /** A URL or the path of a file. */
  readonly media?: string;
  readonly fileName?: string;
  /** An empty list removes the buttons. */
  readonly buttons?: readonly (readonly Button[])[];
  readonly replyTo?: string;
  readonly silent?: boolean;
  /** Fields of the platform's own, by channel. */
  readonly platform?: { readonly [channel: string]: Json };
  readonly asVoice?: boolean;
  readonly asVideoNote?: boolean;
  readonly emoji?: string;
  readonly fileId?: string;
  readonly query?: string;
  readonly limit?: number;
}

export type FieldKey = Exclude<keyof ActionCall, "action">;
export type FieldKind = "id" | "text" | "flag" | "count" | "buttons" | "object";

export interface Field {
  readonly key: FieldKey;
  readonly kind: FieldKind;
  /**
   * The spellings: that of the short name, then that of the second name if it differs. Further ones are accepted but
   * not shown.
   */
  readonly names: readonly string[];
  readonly description: string;
}

export interface ActionSchema {
  readonly name: ActionName;
  /** The second name. */
  readonly also?: string;
  readonly description: string;
  readonly fields: readonly Field[];
  /** Groups of fields. At least one field of each group is required. */
  readonly needs: readonly (readonly FieldKey[])[];
}

const channel: Field = {
  key: "channel",
  kind: "id",
  names: ["channel"],
  description: "Chat platform. Default: the current one.",
};
const account: Field = {
  key: "account",
  kind: "id",
  names: ["account", "accountId"],
  description: "Account of the channel.",
};
const to: Field = {
  key: "to",
  kind: "id",
  names: ["to", "to", "chatId", "target"],
  description: "Chat id, or <chat>:topic:<id>. Default: the current chat.",
};
const chat: Field = {
  ...to,
  names: ["chatId", "chatId", "to", "target"],
  description: "Chat id. Default: the current chat.",
};
const thread: Field = {
  key: "thread",
  kind: "id",
  names: ["threadId", "messageThreadId", "thread"],
  description: "Topic of the chat. Default: the current topic, in the current chat.",
};
const messageId: Field = {
  key: "messageId",
  kind: "id",
  names: ["messageId", "messageId", "message_id"],
  description: "Message id. Default: the current message.",
};
const text = (description: string): Field => ({
  key: "text",
  kind: "text",
  names: ["message", "content", "text", "caption"],
  description,
});
const buttons = (description: string): Field => ({ key: "buttons", kind: "buttons", names: ["buttons"], description });
const replyTo: Field = {
  key: "replyTo",
  kind: "id",
  names: ["replyTo", "replyToMessageId"],
  description: "Id of the message to reply to.",
};
const silent: Field = {
  key: "silent",
  kind: "flag",
  names: ["silent"],
  description: "True sends it without a notification sound.",
};

export const actionSchemas: readonly ActionSchema[] = [
  {
    name: "send",
    also: "sendMessage",
    description: "Sends a message to a chat: text, a file, buttons.",
    fields: [
      channel,
      account,
      to,
      text("The text, as Markdown."),
      {
        key: "media",
        kind: "text",
        names: ["media", "mediaUrl"],
        description: "A file: a public http(s) address, or a path in the workspace.",
      },
      { key: "fileName", kind: "id", names: ["fileName"], description: "File name that people see." },
      buttons("Rows of buttons below the message. A press arrives as `callback_data: <value>`."),
      { key: "asVoice", kind: "flag", names: ["asVoice"], description: "True sends audio as a voice note." },
      {
        key: "asVideoNote",
        kind: "flag",
        names: ["asVideoNote"],
        description: "True sends a video as a round video note.",
      },
      replyTo,
      thread,
      silent,
      {
        key: "platform",
        kind: "object",
        names: ["platform"],
        description: "Fields of the platform's own, by channel.",
      },
    ],
    needs: [["text", "media"]],
  },
  {
    name: "edit",
    also: "editMessage",
    description: "Changes the text of a message that you sent.",
    fields: [
      channel,
      account,
      chat,
      messageId,
      text("The new text, as Markdown."),
      buttons("New rows of buttons. Absent: unchanged. []: none."),
    ],
    needs: [["text"]],
  },
  {
    name: "delete",
    also: "deleteMessage",
    description: "Deletes a message.",
    fields: [channel, account, chat, messageId],
    needs: [],
  },
  {
    name: "react",
    description: "Sets your reaction on a message.",
    fields: [
      channel,
      account,
      chat,
      messageId,
      { key: "emoji", kind: "text", names: ["emoji"], description: "One emoji. An empty text removes the reaction." },
    ],
    needs: [["emoji"]],
  },
  {
    name: "sticker",
    description: "Sends a sticker by its file id. Find file ids with sticker-search.",
    fields: [
      channel,
      account,
      to,
      { key: "fileId", kind: "id", names: ["fileId", "fileId", "stickerId"], description: "File id of the sticker." },
      replyTo,
      thread,
      silent,
    ],
    needs: [["fileId"]],
  },
  {
    name: "sticker-search",
    description: "Finds stickers that you have seen, by words or by emoji.",
    fields: [
      channel,
      account,
      { key: "query", kind: "text", names: ["query"], description: "What the sticker should show." },
      { key: "limit", kind: "count", names: ["limit"], description: "Maximum number of results. Default: 5." },
    ],
    needs: [["query"]],
  },
];

/** Every name of an action: each short name, followed by its second name. */
export const actionNames: readonly string[] = actionSchemas.flatMap(({ name, also }) =>
  also === undefined ? [name] : [name, also],
);

export function schemaOf(name: string): ActionSchema | undefined {
  return actionSchemas.find((schema) => schema.name === name || schema.also === name);
}

export const shownName = ({ names: [first = "", second = first] }: Field, long = false): string =>
  long ? second : first;

/** JSON Schema of rows of buttons. */
export const buttonRows: Json = {
  type: "array",
  items: {
    type: "array",
    items: {
      type: "object",
      properties: { text: { type: "string" }, callback_data: { type: "string", description: "At most 64 bytes." } },
      required: ["text", "callback_data"],
      additionalProperties: false,
    },
  },
};

const types: Readonly<Record<FieldKind, Json>> = {
  id: { type: "string" },
  text: { type: "string" },
  flag: { type: "boolean" },
  count: { type: "integer", minimum: 1, maximum: 50 },
  buttons: buttonRows,
  object: { type: "object" },
};

/** JSON Schema of the arguments, with the spellings of the short name. */
export function parametersOf(schema: ActionSchema): Json {
  // The model does not choose the account, and the fields of a platform would cost tokens in every turn.
  const fields = schema.fields.filter(({ key }) => key !== "account" && key !== "platform");
  const needed = schema.needs.flatMap((keys) => (keys.length === 1 ? fields.filter(({ key }) => key === keys[0]) : []));
  return {
    type: "object",
    properties: Object.fromEntries(
      fields.map((field) => [
        shownName(field),
        { ...(types[field.kind] as object), description: field.description } as Json,
      ]),
    ),
    required: needed.map((field) => shownName(field)),
    additionalProperties: false,
  };
}
