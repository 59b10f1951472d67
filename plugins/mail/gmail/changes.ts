/** Finds new mail in a Gmail mailbox: by its history or, if records are missing, by time. */
import type { Changes, Cursor, LastRead } from "../source.ts";
import type { Api } from "./api.ts";
import { candidatesIn, type Place, placeAfter, type Wanted } from "./history.ts";
import { ApiError } from "./request.ts";

/** What was read of which mailbox, and where reading continues. */
export interface GmailCursor extends Place {
  readonly address: string;
  readonly label: string;
  /** When reading began, in epoch milliseconds. */
  readonly began: number;
  /**
   * After a gap in the history, and for a start in the past, mails are also listed by time. Such a list may lag too.
   */
  readonly relist?: { readonly from: number; readonly until: number };
}

export interface ChangeReader {
  /** Reads what came after a cursor. `hasNew`: a mail appeared that was not listed before. */
  read(
    cursor: GmailCursor,
    before: LastRead,
    wanted: Wanted,
  ): Promise<Omit<Changes, "again"> & { readonly hasNew: boolean }>;
  /** The newest record of a listed mail; empty if there is none. */
  recordOf(id: string): string;
  /** A mail is gone or no longer wanted: it is not listed again unless a newer record names it. */
  leaveOut(id: string): void;
}

const hourMs = 3_600_000;
/** How long a list by time is repeated, because it may lag. */
export const lateMs = 600_000;

export function createChangeReader({ api, now }: { readonly api: Api; readonly now: () => number }): ChangeReader {
  /** The newest record of each listed mail. */
  let listed = new Map<string, string>();
  /** Mails that are gone or no longer wanted, by the record that showed it. */
  let unwanted = new Map<string, string>();

  /** Oldest first. */
  async function listByTime(from: number, wanted: Wanted): Promise<readonly { readonly id: string }[]> {
    return [...(await api.messages(wanted.label, Math.floor(from / 1_000)))].reverse();
  }

  /** The history is gone. Its current end is requested first, so that no mail is missed in between. */
  async function afterGap(cursor: GmailCursor, { lastSync }: LastRead): Promise<GmailCursor> {
    const { historyId } = await api.profile();
    const { address, label, began } = cursor;
    return {
      address,
      label,
      began,
      start: historyId,
      relist: { from: Math.max(began, lastSync - hourMs), until: now() + lateMs },
    };
  }

  return {
    recordOf: (id) => listed.get(id) ?? "",
    leaveOut: (id) => void unwanted.set(id, listed.get(id) ?? ""),
    async read(cursor, before, wanted) {
      const began = now();
      let place = cursor;
      let history = await historyFrom(api, cursor.start, wanted.label);
      if (history === undefined) {
        place = await afterGap(cursor, before);
        history = { records: [], historyId: place.start };
      }
      const { relist, address, label } = place;
      const candidates = candidatesIn(history.records, wanted);
      const older = relist === undefined ? [] : await listByTime(relist.from, wanted);
      const ids = [...new Set([...older, ...candidates].map(({ id }) => id))];
      const records = new Map(candidates.map(({ id, record }) => [id, record]));
      const hasNew = ids.some((id) => !listed.has(id));
      listed = new Map(ids.map((id) => [id, records.get(id) ?? place.start]));
      unwanted = new Map([...unwanted].filter(([id, record]) => listed.get(id) === record));
      const next = {
        ...{ address, label, began: place.began, ...placeAfter(place, { ...history, began }) },
        ...(relist === undefined || began >= relist.until ? {} : { relist }),
      };
      return {
        found: ids.filter((id) => !unwanted.has(id)).map((id) => ({ id, renumbered: false })),
        next: next as unknown as Cursor,
        hasNew,
      };
    },
  };
}

/** `undefined` if the history no longer goes back that far. */
async function historyFrom(
  api: Api,
  start: string,
  label: string,
): Promise<Awaited<ReturnType<Api["history"]>> | undefined> {
  try {
    return await api.history(start, label);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
