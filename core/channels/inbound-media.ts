/**
 * Fetches the files of an admitted message through its channel, or marks them with the reason why not. The text is kept
 * in any case.
 */
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ChannelError, type Inbound, type InboundMedia } from "../contract/index.ts";
import type { ChannelConnection } from "../sdk/contract.ts";
import type { LiveAccount } from "./live-account.ts";

type FetchMedia = NonNullable<ChannelConnection["fetchMedia"]>;
type Describe = NonNullable<Parameters<FetchMedia>[1]["describe"]>;

/** Used if the account does not set a limit. */
const defaultMaxMb = 5;
/**
 * Time limit for all files of one message, and of the message it replies to. The reply is written without files that
 * take longer.
 */
const patienceMs = 5 * 60_000;
const atOnce = 4;
const keepMediaMs = 7 * 24 * 60 * 60_000;
/** Limit for the files of one account: a sender may send files all day, and a full disk stops everything. */
const mostBytes = 2 * 1_024 ** 3;
const keepNewestMs = 60 * 60_000;

function maxBytes({ mediaMaxMb }: Readonly<Record<string, unknown>>, usualMaxMb: number): number {
  return Math.floor((typeof mediaMaxMb === "number" && mediaMaxMb > 0 ? mediaMaxMb : usualMaxMb) * 1_048_576);
}

/** One line for the agent. A channel's own detail is fit for it; other errors are for the operator. */
function whyNot(thrown: unknown, late: boolean): string {
  if (late) return "it did not arrive in time";
  if (!(thrown instanceof ChannelError)) return "it could not be fetched";
  const words = thrown.message.replace(/\s+/g, " ").trim();
  return words.length > 200 ? `${words.slice(0, 199)}…` : words;
}

/**
 * A failed file does not affect the others or the text. Never rejects. `onUnavailable` reports what the operator should
 * know.
 */
export async function completeMedia(
  inbound: Inbound,
  options: {
    readonly account: LiveAccount | undefined;
    readonly signal: AbortSignal;
    /** Size limit of a file in MB if the account does not set one. */
    readonly usualMaxMb?: number;
    readonly describe?: Describe;
    readonly onUnavailable?: (media: InboundMedia, error: unknown) => void;
  },
): Promise<Inbound> {
  const { account, describe, usualMaxMb = defaultMaxMb } = options;
  const fetchMedia = account?.connection.fetchMedia;
  const { replyTo } = inbound;
  const answered = replyTo?.media ?? [];
  if (account === undefined || fetchMedia === undefined) return inbound;
  const patience = AbortSignal.timeout(patienceMs);
  const signal = AbortSignal.any([options.signal, patience]);
  const how = { maxBytes: maxBytes(account.options, usualMaxMb), signal, describe };

  async function complete(media: InboundMedia): Promise<InboundMedia> {
    // Animated stickers are described by their emoji; a file that the channel has already fetched is not fetched again.
    if (media.sticker?.animated === true || media.path !== undefined) return media;
    try {
      return { ...media, ...(await fetchMedia?.call(account?.connection, media, how)) };
    } catch (thrown) {
      // `/stop` arrived, or the gateway is closing: nothing is wrong with the file.
      if (!options.signal.aborted) options.onUnavailable?.(media, thrown);
      return { ...media, unavailable: whyNot(thrown, patience.aborted) };
    }
  }

  const media = [...inbound.media, ...answered];
  const waiting = media.entries();
  const work = async () => {
    for (const [index, each] of waiting) media[index] = await complete(each);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, media.length) }, work));
  const [own, ofAnswered] = [media.slice(0, inbound.media.length), media.slice(inbound.media.length)];
  return { ...inbound, media: own, ...(answered.length > 0 && { replyTo: { ...replyTo, media: ofAnswered } }) };
}

interface StoredFile {
  readonly path: string;
  readonly at: number;
  readonly bytes: number;
}

/**
 * Removes files that channels fetched more than seven days ago, and the oldest files of an account with more than 2
 * GiB. Covers the folder `media` of each account, including accounts that are no longer configured.
 */
export async function removeOldMedia(options: {
  readonly stateDirectory: string;
  readonly channels: readonly string[];
  readonly now: number;
}): Promise<number> {
  let removed = 0;
  for (const channel of options.channels) {
    const accounts = await readdir(join(options.stateDirectory, channel), { withFileTypes: true }).catch(() => []);
    for (const account of accounts) {
      if (!account.isDirectory()) continue;
      const files = await filesOf(join(options.stateDirectory, channel, account.name, "media"));
      for (const { path } of tooMany(files, options.now)) {
        await rm(path, { force: true }).then(
          () => (removed += 1),
          () => {},
        );
      }
    }
  }
  return removed;
}

async function filesOf(folder: string): Promise<readonly StoredFile[]> {
  const files: StoredFile[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const found = await lstat(path).catch(() => undefined);
    if (found?.isFile() === true) files.push({ path, at: found.mtimeMs, bytes: found.size });
  }
  return files;
}

/**
 * Files that are too old, or that exceed the limit. New files are kept whatever their size, because they are about to
 * be read.
 */
function tooMany(files: readonly StoredFile[], now: number): readonly StoredFile[] {
  let left = mostBytes;
  return files
    .toSorted((a, b) => b.at - a.at)
    .filter(({ at, bytes }) => {
      left -= bytes;
      return at <= now - keepMediaMs || (left < 0 && at <= now - keepNewestMs);
    });
}
