/** An event as it is stored: what the platform sent, and what it leaves out; and who caused it. */
import type { Json } from "service-gateway/sdk";
import type { InboundChat, InboundSender } from "service-gateway/sdk/channel";
import { type Fields, id, record, text } from "./fields.ts";

export interface StoredEvent {
  readonly type: string;
  readonly data: Fields;
  /** The bot's own id. */
  readonly bot: string;
  /** The bot's role in the server of the event. */
  readonly role?: string | undefined;
  readonly chat?: InboundChat | undefined;
  /** Of a deletion: who wrote the message. */
  readonly writer?: string | undefined;
}

export const asJson = (event: StoredEvent): Json => JSON.parse(JSON.stringify(event)) as Json;

export function readEvent(raw: Json): StoredEvent | undefined {
  const fields = record(raw);
  const [type, data, bot] = [text(fields?.type), record(fields?.data), id(fields?.bot)];
  if (type === undefined || data === undefined || bot === undefined) return undefined;
  return { type, data, bot, role: id(fields?.role), chat: chatOf(record(fields?.chat)), writer: id(fields?.writer) };
}

function chatOf(fields: Fields | undefined): InboundChat | undefined {
  const [chat, kind, title, thread] = [id(fields?.id), fields?.kind, text(fields?.title), id(fields?.thread)];
  if (chat === undefined || (kind !== "direct" && kind !== "group")) return undefined;
  return { id: chat, kind, ...(title !== undefined && { title }), ...(thread !== undefined && { thread }) };
}

/** The name that people see: the one in the server, the one of the person, the account's. */
export function senderOf(user: Fields | undefined, member?: Fields): InboundSender | undefined {
  const sender = id(user?.id);
  if (sender === undefined) return undefined;
  const [username, name] = [
    text(user?.username),
    [member?.nick, user?.global_name, user?.username].find((each) => typeof each === "string" && each !== ""),
  ];
  return {
    id: sender,
    ...(typeof name === "string" && { name }),
    ...(username !== undefined && username !== "" && { username }),
    ...(user?.bot === true && { isBot: true }),
  };
}
