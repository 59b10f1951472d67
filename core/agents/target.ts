/** A recipient as people write it: a chat, optionally with a topic. */

export interface Target {
  readonly chat: string;
  readonly thread?: string;
}

/**
 * Accepts any chat, because the word `topic` makes the meaning clear. Topics are numbered from 1; platforms treat 0 as
 * no topic.
 */
const worded = /^(.+):topic:(0*[1-9]\d{0,19})$/is;
/**
 * The short form requires a numeric id or a username, perhaps with a prefix such as `tg:`. Only then must a second
 * number be a topic.
 */
const short = /^((?:[a-z]+:)*(?:-?\d{1,20}|@\w+)):(0*[1-9]\d{0,19})$/i;

/** Parses `<chat>`, `<chat>:topic:<n>` or `<chat>:<n>`. If the channel has no topics, the whole text is the chat. */
export function parseTarget(text: string, { threads }: { readonly threads: boolean }): Target {
  const trimmed = text.trim();
  const found = threads ? (worded.exec(trimmed) ?? short.exec(trimmed)) : null;
  const [, chat, thread] = found ?? [];
  return chat === undefined || thread === undefined ? { chat: trimmed } : { chat, thread: String(BigInt(thread)) };
}
