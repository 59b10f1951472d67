/** The outbox as the core sees it: the parts of replies that are sent in order. */
import type { Address, Part } from "../contract/index.ts";

/** The progress of a row of the outbox; `failed` is final. */
export type OutboxState = "waiting" | "sending" | "sent" | "failed";

/** A part of a reply in the outbox, or the removal of a message. */
export interface OutboxRow {
  readonly id: number;
  readonly unitId: string;
  readonly index: number;
  readonly address: Address;
  /** `send` the part, or `remove` the message that `part.replaces` names. */
  readonly operation: "send" | "remove";
  readonly part: Part;
  readonly state: OutboxState;
  readonly attempts: number;
  readonly messageId?: string;
  /**
   * Attempts with unknown result, each recorded in the decisions. The recipient may see this many extra copies of the
   * message.
   */
  readonly doubts: number;
}
