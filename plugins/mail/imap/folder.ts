/** An open folder: which mails are new in it, and where reading continues. */
import type { ImapFlow, SearchObject } from "imapflow";
import { type Found, SourceError } from "../source.ts";
import { idOf, type Place } from "./place.ts";

export interface OpenFolder {
  readonly client: ImapFlow;
  readonly host: string;
  readonly account: string;
  readonly name: string;
  readonly validity: string;
  /** The UID that the next mail will have; not every server states it. */
  readonly next: number | undefined;
}

interface FolderChanges {
  readonly found: readonly Found[];
  /** Where reading continues in a folder that had no place before. */
  readonly end?: Place;
}

/** Only this folder cannot be read: the server does not have it. */
export class MissingFolder extends SourceError {
  readonly folder: string;

  constructor(host: string, folder: string) {
    super(
      "setup",
      `${host} has no folder ${JSON.stringify(folder)}.`,
      "Correct folders of the mailbox, or create the folder.",
    );
    this.folder = folder;
  }
}

/** The place in a folder that does not exist: if it is created, its mails are new. */
export const beforeFirst: Place = { validity: "", uid: 0 };

const dayMs = 86_400_000;
const windowSize = 10_000;
const maxWindows = 100;

/** Why a folder was not opened. A server that has the folder may have refused for a moment only. */
export async function refusalOf(
  error: unknown,
  { client, host, name }: Pick<OpenFolder, "client" | "host" | "name">,
): Promise<unknown> {
  if (!client.usable || (error as { readonly responseStatus?: string }).responseStatus !== "NO") return error;
  if (name.toUpperCase() === "INBOX" || (await client.list()).some(({ path }) => path === name)) return error;
  return new MissingFolder(host, name);
}

/** The place behind the last mail. */
export async function endOf(open: OpenFolder): Promise<Place> {
  const { validity, next } = open;
  if (next !== undefined) return { validity, uid: next - 1 };
  return { validity, uid: (await search(open, { uid: "*" })).at(-1) ?? 0 };
}

/**
 * A folder that was recreated is searched by time, beginning at `from` (epoch milliseconds), and so is each folder if
 * reading begins in the past. In a folder that was added to the configuration later, reading begins now.
 */
export async function changesIn(
  open: OpenFolder,
  place: Place | undefined,
  { from, isPast, suffix }: { readonly from: number; readonly isPast: boolean; readonly suffix: string },
): Promise<FolderChanges> {
  const { account, name, validity, next } = open;
  const end = place === undefined ? await endOf(open) : undefined;
  if (end !== undefined && !isPast) return { found: [], end };
  const renumbered = place === undefined || place.validity !== validity;
  const wanted = renumbered
    ? [{ since: new Date(from - dayMs) }]
    : windows(place.uid + 1, next).map((uid) => ({ uid }));
  const uids: number[] = [];
  for (const one of wanted) for (const uid of await search(open, one)) uids.push(uid);
  // A range to the end includes the last mail even if that is older.
  const fresh = uids.filter((uid) => renumbered || uid > place.uid).sort((a, b) => a - b);
  const foundAt = (place: Place): Found => ({
    id: idOf(account, name, place, suffix),
    next: { [name]: { ...place } },
    renumbered,
  });
  const found = fresh.map((uid) => foundAt({ validity, uid }));
  return { found, ...(end === undefined ? {} : { end: { validity, uid: Math.max(end.uid, ...fresh.slice(-1)) } }) };
}

/** When the last `count` of these mails arrived, in epoch milliseconds, newest first. */
export async function arrivals(
  { client }: OpenFolder,
  uids: readonly number[],
  count: number,
): Promise<readonly number[]> {
  const last = uids.slice(Math.max(0, uids.length - count));
  if (last.length === 0) return [];
  const times = new Map<number, number>();
  // The range may include mails that were handled before.
  const range = `${last[0]}:${last.at(-1)}`;
  for await (const { uid, internalDate } of client.fetch(range, { uid: true, internalDate: true }, { uid: true }))
    if (internalDate !== undefined) times.set(uid, new Date(internalDate).getTime());
  return last.map((uid) => times.get(uid) ?? 0).reverse();
}

/**
 * The newest mails of several folders. `arrivedIn` is not called for a single folder, whose last mails are the newest.
 */
export async function newestOf(
  byFolder: ReadonlyMap<string, readonly Found[]>,
  {
    count,
    arrivedIn,
  }: {
    readonly count: number;
    readonly arrivedIn: (folder: string, mails: readonly Found[]) => Promise<readonly number[]>;
  },
): Promise<readonly Found[]> {
  const arrived: { readonly folder: string; readonly at: number }[] = [];
  for (const [folder, mails] of byFolder) {
    const times = byFolder.size === 1 ? mails.map(() => 0) : await arrivedIn(folder, mails);
    for (const at of times) arrived.push({ folder, at });
  }
  const newest = Map.groupBy(arrived.sort((a, b) => b.at - a.at).slice(0, count), ({ folder }) => folder);
  // The cursor of a folder advances past every mail that is left out, so the first ones of each folder are left out.
  return [...byFolder].flatMap(([folder, mails]) => mails.slice(mails.length - (newest.get(folder)?.length ?? 0)));
}

/** A mail that was not sent is gone only if the server no longer lists it: some servers send nothing for a moment. */
export async function confirmGone(open: OpenFolder, uid: number): Promise<undefined> {
  // The server reports which mails were removed.
  await open.client.noop();
  const listed = await search(open, { uid: `${uid}:${uid}` });
  if (listed.includes(uid))
    throw new SourceError("outage", `${open.host} lists a mail and does not send it.`, "It is retried automatically.");
}

async function search({ client, host, name }: OpenFolder, wanted: SearchObject): Promise<readonly number[]> {
  const found = await client.search(wanted, { uid: true });
  if (!found)
    throw new SourceError("outage", `${host} could not search the folder ${name}.`, "It is retried automatically.");
  return found;
}

/**
 * Splits a range of numbers so that each answer stays below the limits of a response. The last part has no upper end.
 */
function windows(first: number, next: number | undefined): readonly string[] {
  const count = next === undefined ? 1 : Math.ceil((next - first) / windowSize);
  // Numbers with gaps that wide are not requested one by one.
  if (count <= 1 || count > maxWindows) return [`${first}:*`];
  return Array.from({ length: count }, (_, at) => {
    const from = first + at * windowSize;
    return `${from}:${at === count - 1 ? "*" : from + windowSize - 1}`;
  });
}
