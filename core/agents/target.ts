/** A recipient as people write it: a chat, optionally with a topic. */
import type { ChannelCapabilities } from "../sdk/contract.ts";

export interface Target {
  readonly chat: string;
  readonly thread?: string;
}

/** Accepts any chat and any topic that the channel can have, because the word `topic` makes the meaning clear. */
const worded = /^(.+):topic:(.*)$/is;
/**
 * The short form requires a numeric id or a username, perhaps with a prefix such as `tg:`. Only then must a second
 * number be a topic.
 */
const short = /^((?:[a-z]+:)*(?:-?\d{1,20}|@\w+)):(0*[1-9]\d{0,19})$/i;

/** A topic as the channel writes it; `undefined` if the channel cannot have it. Platforms treat 0 as no topic. */
function topicOf(text: string, messageIds: ChannelCapabilities["messageIds"]): string | undefined {
  if (/^0*$/.test(text)) return undefined;
  if (messageIds === undefined) return text;
  const whole = new RegExp(`^(?:${messageIds.pattern})$`, "u");
  const plain = /^\d{1,20}$/.test(text) ? String(BigInt(text)) : text;
  return [text, plain].find((id) => whole.test(id));
}

/**
 * Parses `<chat>`, `<chat>:topic:<id>` or `<chat>:<number>`. If the channel has no topics, the whole text is the chat.
 */
export function parseTarget(
  text: string,
  { threads, messageIds }: Pick<ChannelCapabilities, "threads" | "messageIds">,
): Target {
  const trimmed = text.trim();
  const found = threads === true ? (worded.exec(trimmed) ?? short.exec(trimmed)) : null;
  const [, chat, named] = found ?? [];
  const thread = named === undefined ? undefined : topicOf(named.trim(), messageIds);
  return chat === undefined || thread === undefined ? { chat: trimmed } : { chat, thread };
}

/** The topic that a recipient names although the channel cannot have it, such as `x` where topics are numbered. */
export function impossibleTopic(
  { chat, thread }: Target,
  { threads }: Pick<ChannelCapabilities, "threads">,
): string | undefined {
  return threads === true && thread === undefined ? worded.exec(chat)?.[2] : undefined;
}
