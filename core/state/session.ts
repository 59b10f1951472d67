/** Conversations as the store represents them. */
import type { Address, Json } from "../contract/index.ts";

/** A message of a transcript. */
export interface SessionMessage {
  readonly role: "user" | "assistant" | "system";
  /** A text, or parts in a format that the engine understands. */
  readonly content: Json;
  readonly at: number;
  /** The unit that wrote the message. A unit that runs again replaces its own messages. */
  readonly unitId?: string;
}

/** A message with its place in the transcript. */
export interface PlacedMessage extends SessionMessage {
  readonly id: number;
}

/** What a model reads in place of the older messages of a conversation, which stay stored. */
export interface SessionSummary {
  readonly id: number;
  /** The newest message that it covers; it covers all older ones, too. */
  readonly until: number;
  /** How many messages it covers. */
  readonly messages: number;
  readonly text: string;
  /** `provider/model` that wrote it. */
  readonly model: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** What of a conversation is not covered by its newest summary. */
export interface Conversation {
  readonly summary: SessionSummary | null;
  /** How many summaries there are, the newest one included. */
  readonly summaries: number;
  /** Oldest first. */
  readonly messages: readonly PlacedMessage[];
}

/** The address of a direct message, and its sender. */
export interface LastRecipient extends Address {
  /** Absent in a record that an earlier version wrote. */
  readonly senderId?: string;
}

/** A session and its settings. */
export interface SessionRecord {
  readonly key: string;
  readonly agentId: string;
  /** Incremented by `/new` and `/reset`. Older transcripts remain stored. */
  readonly generation: number;
  /** The address of the last direct message. */
  readonly lastRecipient?: LastRecipient;
  /** Settings made by commands, such as model, thinking and reasoning. */
  readonly settings: { readonly [key: string]: Json };
  readonly updatedAt: number;
}
