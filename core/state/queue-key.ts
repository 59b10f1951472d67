/** Queues: events of one session that wait for its next turn, identified by their gather key. */

/** A queue: its lane, and the gather key of its events. */
export interface Queue {
  readonly lane: string;
  readonly key: string;
}

/**
 * Gather keys with this prefix are queues. At most 1,000 events wait in one, for at most seven days. A unit takes the
 * newest events (50, or 20,000 characters of text, those that are due first). Older ones end `silent(left_out)`.
 */
export const queuePrefix = "heartbeat:";

/**
 * Whether a gather key is that of a queue. A store applies the rules of queues to these keys and gathers the events of
 * all others.
 *
 * @example
 * if (isQueueKey(event.gather?.key)) limitQueue(event);
 */
export function isQueueKey(key: string | null | undefined): key is string {
  return key?.startsWith(queuePrefix) === true;
}
