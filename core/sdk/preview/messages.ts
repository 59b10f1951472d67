/** The messages of a live preview: what they show, and the next call that brings them closer to the newest text. */

/** How many characters at the end of a growing text may be replaced by others. */
const mostFlicker = 120;

/** Fewer characters are not worth a notification. */
export const leastChars = 30;

/**
 * What a preview does on a platform: how a text is rendered, and the calls. Each rejects with a `ChannelError`, such as
 * those of `refusedCall` and `unansweredCall`. Three reasons have a meaning here: `flood_wait` (the platform asks to
 * wait), `message_not_modified` (the message shows this already) and `message_gone` (what is to be removed is gone).
 *
 * @example
 * const calls: PreviewCalls<MarkupMessage> = {
 *   messagesOf: growingMarkdown({ dialect: "discord", limit: 2_000 }),
 *   textOf: ({ markup }) => markup,
 *   post: (message, _index, signal) => api.post(chat, message.markup, signal),
 *   edit: (id, message, signal) => api.edit(chat, id, message.markup, signal),
 *   remove: (id, signal) => api.remove(chat, id, signal),
 * };
 */
export interface PreviewCalls<M> {
  /** The messages of the whole text so far. `growingMarkdown` makes such a function. */
  messagesOf(text: string): readonly M[];
  /** What a message shows. Messages with the same text are the same. */
  textOf(message: M): string;
  /**
   * Sends the message that is at `index`, and resolves with its id. Only the first one should make a sound. `key`: at
   * most 25 letters, digits and full stops, if `key` of the options is given; pass it to a platform that recognises
   * keys.
   */
  post(message: M, index: number, signal: AbortSignal, key: string | undefined): Promise<string>;
  edit(messageId: string, message: M, signal: AbortSignal): Promise<void>;
  remove(messageId: string, signal: AbortSignal): Promise<void>;
}

export interface Change<M> {
  /** The first message that does not show what it should. */
  readonly index: number;
  /** What it should show; `null`: the message is removed, because the text starts over. */
  readonly message: M | null;
}

export interface PreviewMessages<M> {
  /**
   * The first difference between the text and what is shown. `undefined`: everything is shown, or there is too little
   * to begin with.
   */
  next(text: string): Change<M> | undefined;
  /** Whether the change sends a message rather than editing one. */
  sends(change: Change<M>): boolean;
  /** Makes the call. Until it has resolved, it is unknown what the message shows. */
  apply(change: Change<M>, signal: AbortSignal): Promise<void>;
  /** The platform reported that the message already shows it. */
  confirm(change: Change<M>): void;
  /** Removes what an earlier text has left behind its first message, at the end of a text that started over. */
  clear(text: string, signal: AbortSignal): Promise<void>;
  /** The messages in order, with what each shows as far as this process knows. */
  shown(): readonly { readonly messageId: string; readonly message: M | undefined }[];
}

export function createPreviewMessages<M>(
  calls: PreviewCalls<M>,
  {
    resume,
    key,
    onMessage,
  }: { readonly resume: readonly string[]; readonly key?: string; onMessage(messageIds: readonly string[]): void },
): PreviewMessages<M> {
  const ids = [...resume];
  /** How often the message at each place was sent: one that was removed must not be taken for a new one. */
  const posts: number[] = [];
  const keyOf = (index: number): string | undefined => {
    const count = posts[index] ?? 0;
    posts[index] = count + 1;
    return key === undefined ? undefined : `${key}${index}.${count}`;
  };
  /** What each message shows, as far as this process knows. */
  const shown: (M | undefined)[] = ids.map(() => undefined);
  /**
   * What the first message was last asked to show. Unlike `shown`, it is known after a failed edit: both texts begin
   * alike.
   */
  let begun: string | undefined;
  /** The text that is completely shown. */
  let whole: string | undefined;

  /**
   * Whether a message shows what the first one has begun. The end of a growing text may change, such as by the tag that
   * follows.
   */
  function continues(message: M | undefined, before: string): boolean {
    if (message === undefined) return true;
    const now = calls.textOf(message);
    return now.startsWith(before.slice(0, Math.min(now.length, before.length) - mostFlicker));
  }

  /**
   * A text that starts over keeps the first message only. The others are removed first, so that two texts are never
   * read as one.
   */
  function surplus(messages: readonly M[]): Change<M> | undefined {
    const isAnew = messages.length > 0 && begun !== undefined && !continues(messages[0], begun);
    return isAnew && ids.length > 1 ? { index: ids.length - 1, message: null } : undefined;
  }

  async function remove(index: number, signal: AbortSignal): Promise<void> {
    const messageId = ids[index];
    if (messageId !== undefined) await calls.remove(messageId, signal);
    forget(index);
  }

  function forget(index: number): void {
    ids.splice(index, 1);
    shown.splice(index, 1);
    onMessage([...ids]);
  }

  const isShown = (index: number, message: M) => {
    const there = shown[index];
    return there !== undefined && calls.textOf(there) === calls.textOf(message);
  };

  return {
    next(text) {
      if (text === whole) return undefined;
      whole = undefined;
      if (text.trim().length < leastChars && ids.length === 0) return undefined;
      const messages = calls.messagesOf(text);
      const left = surplus(messages);
      if (left !== undefined) return left;
      for (const [index, message] of messages.entries()) if (!isShown(index, message)) return { index, message };
      whole = text;
      return undefined;
    },
    sends: ({ index }) => ids[index] === undefined,
    async apply({ index, message }, signal) {
      if (message === null) return await remove(index, signal);
      const existing = ids[index];
      shown[index] = undefined;
      if (index === 0) begun = calls.textOf(message);
      if (existing !== undefined) await calls.edit(existing, message, signal);
      else {
        ids.push(await calls.post(message, index, signal, keyOf(index)));
        onMessage([...ids]);
      }
      shown[index] = message;
    },
    confirm({ index, message }) {
      if (message === null) forget(index);
      else shown[index] = message;
    },
    async clear(text, signal) {
      if (ids.length < 2 || text === "") return;
      const messages = calls.messagesOf(text);
      for (let left = surplus(messages); left !== undefined; left = surplus(messages)) await remove(left.index, signal);
    },
    shown: () => ids.map((messageId, index) => ({ messageId, message: shown[index] })),
  };
}
