/** Limits on the age and amount of stored data. */

export interface PruneLimits {
  readonly now: number;
  readonly keepEventsMs: number;
  readonly keepEvents: number;
  readonly keepSentMs: number;
  /** Maximum number of dedupe keys; the oldest are removed first. Default: all that have not expired. */
  readonly keepDedupeKeys?: number;
  /**
   * An event that has been due for longer than this ends `failed(waited_too_long)`, in milliseconds. Default: never.
   */
  readonly keepWaitingMs?: number;
  /** Model calls older than this are removed from the ledger, in milliseconds. Default: never. */
  readonly keepCallsMs?: number;
  /** Transcript messages older than this are removed in whole turns, in milliseconds. Default: never. */
  readonly keepTranscriptsMs?: number;
}

/** The result of `prune`. */
export interface Pruned {
  readonly removed: number;
  /** Number of events that ended because they waited too long; absent if none did. */
  readonly ended?: number;
}
