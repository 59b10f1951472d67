/** Queues: events of one session that wait for its next turn, and which gather keys they have. */

export interface Queue {
  readonly lane: string;
  readonly key: string;
}

/**
 * Gather keys that begin so are queues: at most 1,000 events wait under one, for at most seven days. A unit takes the newest (50, or 20,000
 * characters of their texts, those that are due first), and what is older ends `silent(left_out)`.
 */
export const queuePrefix = "heartbeat:";

export function isQueueKey(key: string | null | undefined): key is string {
  return key?.startsWith(queuePrefix) === true;
}
