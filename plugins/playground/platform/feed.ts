/** The updates of one bot, stored until they are confirmed and delivered by long polling. */
import { badRequest, conflict } from "./errors.ts";
import type { Update, UpdateKind } from "./wire.ts";

/** The kinds that the platform sends by default. Reactions must be requested. */
const defaultKinds: ReadonlySet<string> = new Set([
  "message",
  "edited_message",
  "channel_post",
  "callback_query",
  "my_chat_member",
]);
/** Older updates are dropped. The real platform drops them by age (24 hours). */
const maxPending = 100_000;

interface Poll {
  readonly limit: number;
  readonly timer: NodeJS.Timeout;
  finish(updates: readonly Update[]): void;
  fail(error: Error): void;
}

export interface PollOptions {
  readonly offset: number | undefined;
  readonly limit: number | undefined;
  readonly timeoutSeconds: number | undefined;
  /** Registers a function to call when the client disconnects. */
  onGone(leave: () => void): void;
}

export interface Feed {
  push(kind: UpdateKind, body: unknown): void;
  poll(options: PollOptions): Promise<readonly Update[]> | readonly Update[];
  /** Ends a waiting poll with 409. */
  interrupt(by: string): void;
  allow(kinds: readonly string[] | undefined): void;
  allowed(): readonly string[] | undefined;
  pending(): number;
  clear(): void;
  /** The oldest updates, for the webhook. */
  waiting(): Iterable<Update>;
  confirm(updateId: number): void;
  onPush(listener: () => void): void;
  close(): void;
}

/**
 * The first update id of a platform that starts now. The platform stores nothing, but the gateway ignores ids that it
 * has handled within the last days, so no id may be one of an earlier run. This holds for up to a hundred updates a
 * second.
 */
export const firstUpdateIdAt = (now: () => number = Date.now): number => Math.floor(now() / 10);

export function createFeed(firstUpdateId: number): Feed {
  const queue = new Map<number, Update>();
  let nextId = firstUpdateId;
  let kinds: readonly string[] | undefined;
  let poll: Poll | undefined;
  let listener: (() => void) | undefined;

  function take(limit: number): readonly Update[] {
    const updates: Update[] = [];
    for (const update of queue.values()) {
      if (updates.length === limit) break;
      updates.push(update);
    }
    return updates;
  }

  function settle(): Poll | undefined {
    const waiting = poll;
    if (waiting !== undefined) clearTimeout(waiting.timer);
    poll = undefined;
    return waiting;
  }

  function confirmBelow(offset: number): void {
    for (const id of queue.keys()) {
      if (id >= offset) return;
      queue.delete(id);
    }
  }

  return {
    push(kind, body) {
      if (kinds === undefined ? !defaultKinds.has(kind) : !kinds.includes(kind)) return;
      const update: Update = { update_id: nextId++, [kind]: body };
      queue.set(update.update_id, update);
      if (queue.size > maxPending) queue.delete(queue.keys().next().value as number);
      listener?.();
      const waiting = settle();
      waiting?.finish(take(waiting.limit));
    },
    poll({ offset, limit, timeoutSeconds, onGone }) {
      if (offset !== undefined) confirmBelow(offset < 0 ? nextId + offset : offset);
      settle()?.fail(
        conflict("terminated by other getUpdates request; make sure that only one bot instance is running"),
      );
      const most = Math.min(Math.max(limit ?? 100, 1), 100);
      const seconds = Math.min(Math.max(timeoutSeconds ?? 0, 0), 50);
      if (queue.size > 0 || seconds === 0) return take(most);
      return new Promise((resolve, reject) => {
        const mine: Poll = {
          limit: most,
          timer: setTimeout(() => settle()?.finish([]), seconds * 1000),
          finish: resolve,
          fail: reject,
        };
        poll = mine;
        onGone(() => {
          if (poll === mine) settle()?.finish([]);
        });
      });
    },
    interrupt: (by) => settle()?.fail(conflict(`terminated by ${by} request`)),
    allow(next) {
      if (next !== undefined) kinds = next.length === 0 ? undefined : next;
    },
    allowed: () => kinds,
    pending: () => queue.size,
    clear: () => queue.clear(),
    waiting: () => queue.values(),
    confirm: (updateId) => queue.delete(updateId),
    onPush(next) {
      listener = next;
    },
    close: () => settle()?.finish([]),
  };
}

export function allowedKinds(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || !value.every((kind) => typeof kind === "string")) {
    throw badRequest("can't parse allowed updates: expected an Array of String");
  }
  return value;
}
