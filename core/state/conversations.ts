/** What was said in sessions, and the summaries of that. */
import type { Conversation, SessionMessage, SessionSummary } from "./session.ts";

/** The part of a store that keeps transcripts. Turns write them with `say`. */
export interface Conversations {
  /** Messages of the current generation, oldest first; only the last `userTurns` user turns if given. */
  transcript(
    key: string,
    options?: { readonly userTurns?: number; readonly generation?: number },
  ): Promise<readonly SessionMessage[]>;
  /**
   * The newest summary of a generation, and the messages that it does not cover; only the last `userTurns` user turns
   * of these if given.
   */
  conversation(
    key: string,
    options?: { readonly userTurns?: number; readonly generation?: number },
  ): Promise<Conversation>;
  /** The summaries of a generation, oldest first. */
  summaries(key: string, options?: { readonly generation?: number }): Promise<readonly SessionSummary[]>;
  /**
   * Durable. Adds a summary to a generation. Resolves with `false`, and stores nothing, if `after` is not its newest
   * summary (`null`: it has none), or the message `until` is not stored there or is covered already. A summary does not
   * outlive a message that it covers, and `editTranscript` removes all summaries of its transcript: they may contain
   * what was edited.
   */
  addSummary(
    key: string,
    summary: Omit<SessionSummary, "id"> & { readonly generation: number; readonly after: number | null },
  ): Promise<boolean>;
}
