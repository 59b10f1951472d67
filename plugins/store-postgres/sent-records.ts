/** Records of sent messages on their way to the database. */
import type { Settlement } from "service-gateway/sdk/store";

/** Values for a row that was sent: its id, the ids of its messages, and when. */
export function packReceipt(
  sent: Settlement["sent"],
): readonly [number | null, readonly string[] | null, number | null] {
  if (sent === undefined) return [null, null, null];
  const { messageId, messageIds } = sent.receipt;
  return [sent.rowId, messageIds ?? [messageId], sent.at];
}

/** The writes under way that record sent messages: a platform shows a message before its record is committed. */
export interface SentRecords {
  during<Result>(write: Promise<Result>): Promise<Result>;
  /** Resolves with `false` at once if nothing is under way, otherwise with `true` when it is done. */
  done(): Promise<boolean>;
}

export function createSentRecords(): SentRecords {
  const writing = new Set<Promise<unknown>>();
  return {
    async during(write) {
      writing.add(write);
      try {
        return await write;
      } finally {
        writing.delete(write);
      }
    },
    async done() {
      if (writing.size === 0) return false;
      await Promise.allSettled(writing);
      return true;
    },
  };
}
