/** Queues: events of one session that wait for its next turn, identified by their gather key. */

export interface Queue {
  readonly lane: string;
  readonly key: string;
}

/**
 * Gather keys with this prefix are queues. At most 1,000 events wait in one, for at most seven days. A unit takes the newest events (50, or
 * 20,000 characters of text, those that are due first). Older ones end `silent(left_out)`.
 */
export const queuePrefix = "heartbeat:";

export function isQueueKey(key: string | null | undefined): key is string {
  return key?.startsWith(queuePrefix) === true;
}
