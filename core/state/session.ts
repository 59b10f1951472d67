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
