/** A recipient as people write it: a chat, alone or with one of its topics. */

export interface Target {
  readonly chat: string;
  readonly thread?: string;
}

/** Any chat, for the word says what follows it. Topics are numbered from 1 on: a 0 would be sent as no topic at all. */
const worded = /^(.+):topic:(0*[1-9]\d{0,19})$/is;
/** A number or a name of a chat, perhaps behind a prefix such as `tg:`: only then a second number can be nothing but a topic. */
const short = /^((?:[a-z]+:)*(?:-?\d{1,20}|@\w+)):(0*[1-9]\d{0,19})$/i;

/** `<chat>`, `<chat>:topic:<n>` or `<chat>:<n>`. Where a channel has no topics, the whole text is the chat. */
export function parseTarget(text: string, { threads }: { readonly threads: boolean }): Target {
  const trimmed = text.trim();
  const found = threads ? (worded.exec(trimmed) ?? short.exec(trimmed)) : null;
  const [, chat, thread] = found ?? [];
  return chat === undefined || thread === undefined ? { chat: trimmed } : { chat, thread: String(BigInt(thread)) };
}
