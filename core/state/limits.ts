/** How long and how much a store keeps. */

export interface PruneLimits {
  readonly now: number;
  readonly keepEventsMs: number;
  readonly keepEvents: number;
  readonly keepSentMs: number;
  /** Dedupe keys to keep at most; the oldest go first. Default: all that have not expired. */
  readonly keepDedupeKeys?: number;
  /** An event that has been due for longer than this ends `failed(waited_too_long)`. Default: never. */
  readonly keepWaitingMs?: number;
  /** Messages of transcripts that are older go, in whole turns. Default: none. */
  readonly keepTranscriptsMs?: number;
}

export interface Pruned {
  readonly removed: number;
  /** Events that waited too long, where there were any. */
  readonly ended?: number;
}
