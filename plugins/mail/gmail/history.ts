/** Selects the new mails to run from a history, and where the next look begins. */
import type { HistoryRecord, Named } from "./api.ts";

export interface Wanted {
  /** Id of the watched label. */
  readonly label: string;
  readonly includeOwn: boolean;
}

export interface Candidate {
  readonly id: string;
  /** The newest record that names it. */
  readonly record: string;
}

/** Where reading continues. Ids of history records are 64-bit numbers as text. */
export interface Place {
  /** The next look lists what came after this record. */
  readonly start: string;
  /**
   * Becomes `start` with the first look at or after `due` (epoch milliseconds). `quiet`: the list was empty, and this
   * is its end.
   */
  readonly mark?: { readonly record: string; readonly due: number; readonly quiet: boolean };
}

/** A record may be listed late, after a newer one. */
const lateMs = 600_000;
/** In a quiet mailbox the start advances before Google drops it. */
const quietMs = 86_400_000;

/** Mail that the user sent to themselves has the inbox label too. */
export function isWanted(labels: readonly string[], { includeOwn }: Wanted): boolean {
  const has = (label: string) => labels.includes(label);
  if (has("SPAM") || has("TRASH") || has("DRAFT")) return false;
  return !has("SENT") || (includeOwn && has("INBOX"));
}

/** Oldest first, without duplicates. */
export function candidatesIn(records: readonly HistoryRecord[], wanted: Wanted): readonly Candidate[] {
  const newest = new Map<string, string>();
  const add = (record: string, { id, labelIds }: Named, isLabelled: boolean) => {
    if (!isLabelled || (labelIds !== undefined && !isWanted(labelIds, wanted))) return;
    const known = newest.get(id);
    if (known === undefined || isNewer(record, known)) newest.set(id, record);
  };
  for (const { id, messagesAdded = [], labelsAdded = [] } of records) {
    for (const { message } of messagesAdded) add(id, message, message.labelIds?.includes(wanted.label) !== false);
    for (const { message, labelIds = [] } of labelsAdded) add(id, message, labelIds.includes(wanted.label));
  }
  return [...newest].map(([id, record]) => ({ id, record })).sort((a, b) => (isNewer(a.record, b.record) ? 1 : -1));
}

/**
 * The place after a look that began at `began`. A record becomes the start only ten minutes after it was listed, with a
 * look that lists everything after the old start once more. Until then a late record, whose id is lower, is still
 * found.
 */
export function placeAfter(
  { start, mark }: Place,
  {
    records,
    historyId,
    began,
  }: { readonly records: readonly HistoryRecord[]; readonly historyId: string; readonly began: number },
): Place {
  if (mark !== undefined && began >= mark.due) return { start: mark.record };
  const newest = records.reduce((best, { id }) => (isNewer(id, best) ? id : best), start);
  if (isNewer(newest, start)) {
    // A later record would postpone the end of the wait again and again.
    return mark !== undefined && !mark.quiet
      ? { start, mark }
      : { start, mark: { record: newest, due: began + lateMs, quiet: false } };
  }
  return { start, mark: mark ?? { record: historyId, due: began + quietMs, quiet: true } };
}

export function isNewer(a: string, b: string): boolean {
  return BigInt(a) > BigInt(b);
}
