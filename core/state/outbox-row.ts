/** The outbox as the core sees it: the parts of replies that are sent in order. */
import type { Address, Decision, Part } from "../contract/index.ts";

/** The progress of a row of the outbox; `failed` is final. */
export type OutboxState = "waiting" | "sending" | "sent" | "failed";

/** What is left of a part whose content is removed. */
export const forgottenPart: Part = { kind: "deleted", chars: 0, body: null };

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
  /**
   * Milliseconds since the first attempt that is not known to have had no effect began; absent if there was none.
   */
  readonly sendingForMs?: number;
  readonly messageId?: string;
  /**
   * Attempts with unknown result, each recorded in the decisions. The recipient may see this many extra copies of the
   * message.
   */
  readonly doubts: number;
}

/** What becomes known of a sent message after its unit has ended. */
export interface AfterReceipt {
  /**
   * The chats in which an account sent a message with this id in the last 30 days, with the unit that sent it. More
   * than one where a platform numbers the messages of each chat.
   */
  sentMessages(where: {
    readonly channel: string;
    readonly account: string;
    readonly messageId: string;
  }): Promise<readonly { readonly chat: string; readonly thread?: string; readonly unitId: string }[]>;
  /**
   * Durable. Adds to the decisions of a unit, also after its end; its outcome stays. Resolves with `false` if the unit
   * is no longer stored, or already has a decision with such a station, code and detail.
   */
  addDecision(unitId: string, decision: Decision): Promise<boolean>;
}
