/** Conversations as the store keeps them. */
import type { Address, Json } from "../contract/index.ts";

export interface SessionMessage {
  readonly role: "user" | "assistant" | "system";
  /** Text, or parts that the engine understands. */
  readonly content: Json;
  readonly at: number;
  /** Unit that wrote it; a unit that is run again replaces its own messages. */
  readonly unitId?: string;
}

export interface SessionRecord {
  readonly key: string;
  readonly agentId: string;
  /** Grows with `/new` and `/reset`; older transcripts stay. */
  readonly generation: number;
  /** Last address a person wrote from; set by direct messages only. */
  readonly lastRecipient?: Address;
  /** Model, thinking, reasoning and the like, as commands set them. */
  readonly settings: { readonly [key: string]: Json };
  readonly updatedAt: number;
}
