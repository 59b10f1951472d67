/**
 * Prepares the files of a reply for a channel: fetches or copies each to a place where it cannot change, and detects
 * its type from the content.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { type Address, ChannelError, type OutboundMedia, type Reply, type Route, reasonOf } from "../contract/index.ts";
import { type GuardedFetch, headBytes, tooLarge, usualLimits } from "./guarded-fetch.ts";
import { imageSize } from "./image-size.ts";
import { openAllowed, type Roots } from "./local-file.ts";
import { sniff } from "./sniff.ts";

export interface OutboundOptions {
  readonly fetch: GuardedFetch;
  readonly stateDirectory: string;
  readonly roots: (agentId: string) => Omit<Roots, "stateDirectory">;
  /** Size limit for one file. */
  readonly maxBytes: (to: Address) => number;
}

export interface Completed {
  readonly reply: Reply;
  /** Files that could not be prepared, each with a sentence for the operator. */
  readonly problems: readonly string[];
  /** The same files, for others than the operator. */
  readonly refused: readonly Refused[];
}

/** A file that could not be prepared. */
export interface Refused {
  /** Such as `media_missing`. */
  readonly code: string;
  /** A sentence for the agent. It contains no addresses of the machine's network. */
  readonly reason: string;
  /** What users read in place of the file. */
  readonly note: string;
}

export type Outbound = (reply: Reply, route: Route, signal: AbortSignal) => Promise<Completed>;

/** Usual platform limit, unless the account sets another. */
const usualMb = 50;

/** The size limit for outgoing files in bytes, from the account's `mediaMaxMb`. */
export function mostBytesOut(mediaMaxMb: unknown): number {
  return Math.floor((typeof mediaMaxMb === "number" && mediaMaxMb > 0 ? mediaMaxMb : usualMb) * 1_048_576);
}

const mostFiles = 20;
const atOnce = 4;
/** Time limit for all files of one reply, in milliseconds. After that, the reply is better sent without them. */
const patienceMs = 2 * 60_000;
/** The most that `data` of a file may have, in bytes. */
export const mostDataBytes = 1_048_576;

/** Short texts for users. The full sentence may contain internal addresses, which only the operator may see. */
const shortly: Readonly<Record<string, string>> = {
  address_not_public: "its address is not public",
  media_missing: "there is no such file",
  media_refused: "it may not be sent",
  too_large: "it is too large",
  no_room: "there is no room for it",
};

const mediaEnding =
  /\.(?:png|jpe?g|gif|webp|bmp|tiff?|heic|avif|mp4|m4[abv]|mov|webm|mkv|avi|mpe?g|wav|og[gav]|opus|flac|mp3|aac|amr)$/i;

/** A copy of a file that is about to be sent. */
interface Laid {
  readonly path: string;
  readonly name: string;
  readonly declaredType?: string;
}

interface Laying {
  readonly route: Route;
  /** Size limit in bytes. */
  readonly most: number;
  readonly signal: AbortSignal;
}

function nameOf({ fileName, path, url }: OutboundMedia): string {
  if (fileName !== undefined) return fileName;
  if (path !== undefined) return basename(path);
  const last =
    URL.parse(url ?? "")
      ?.pathname.split("/")
      .at(-1) ?? "";
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/**
 * Whether the name lacks a suitable extension. The name in a URL may end in a script such as `song.php`, which no
 * player opens.
 */
function isEndingMissing({ url, fileName }: OutboundMedia, name: string, mimeType: string): boolean {
  if (extname(name) === "") return true;
  return (
    url !== undefined && fileName === undefined && /^(?:image|audio|video)\//.test(mimeType) && !mediaEnding.test(name)
  );
}

function shortReason(thrown: unknown): string {
  return (thrown instanceof ChannelError ? shortly[thrown.reason] : undefined) ?? "it could not be fetched";
}

function unavailable(media: OutboundMedia, thrown: unknown): string {
  const why = shortReason(thrown);
  const name = nameOf(media)
    .replace(/[\p{Cc}[\]`*_<>]/gu, " ")
    .trim()
    .slice(0, 60);
  return `[media unavailable: ${name === "" ? why : `${name}, ${why}`}]`;
}

function create(path: string): Promise<FileHandle> {
  return open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0), 0o600);
}

/** Copies at most `most` bytes, because another process may be appending to the file. */
async function copy(from: FileHandle, to: string, { most, signal }: Pick<Laying, "most" | "signal">): Promise<void> {
  const file = await create(to);
  try {
    const buffer = Buffer.alloc(262_144);
    for (let size = 0; ; ) {
      const { bytesRead } = await from.read(buffer, 0, buffer.length, size);
      if (bytesRead === 0) return;
      if (signal.aborted) throw new ChannelError("aborted", { detail: "the copy was stopped" });
      size += bytesRead;
      if (size > most) throw tooLarge(most);
      await file.writeFile(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

function decode(data: string): Buffer {
  if (data.length > (mostDataBytes * 4) / 3 + 4) throw tooLarge(mostDataBytes);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data))
    throw new ChannelError("media_refused", { detail: "the data of a file is not base64" });
  return Buffer.from(data, "base64");
}

/**
 * Detects the type from the content. For audio it also detects the codec, which decides whether the file can be a voice
 * message.
 */
async function look(
  media: OutboundMedia,
  { path, name, declaredType }: Laid,
): Promise<OutboundMedia & { readonly extension: string }> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    const read = async (position: number, length: number) => {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
      return buffer.subarray(0, bytesRead);
    };
    const head = await read(0, headBytes);
    const { size } = await file.stat();
    if (size === 0) throw new ChannelError("media_refused", { detail: `the file ${name} is empty` });
    const { mimeType, extension } = sniff(head, media.mimeType ?? declaredType);
    const codec =
      mimeType === "audio/ogg"
        ? ["opus", "vorbis", "speex"].find((each) => head.toString("latin1").toLowerCase().includes(each))
        : undefined;
    const sides = mimeType.startsWith("image/") ? await imageSize(mimeType, read) : undefined;
    return {
      path,
      mimeType: codec === undefined ? mimeType : `${mimeType}; codecs=${codec}`,
      fileName: isEndingMissing(media, name, mimeType) ? `${name === "" ? "file" : name}.${extension}` : name,
      size,
      ...sides,
      ...(media.as === undefined ? {} : { as: media.as }),
      extension,
    };
  } finally {
    await file.close();
  }
}

export function createOutbound({ fetch, stateDirectory, roots, maxBytes }: OutboundOptions): Outbound {
  async function lay(media: OutboundMedia, path: string, { route, most, signal }: Laying): Promise<Laid> {
    const name = nameOf(media);
    if (media.url !== undefined) {
      const { declaredType } = await fetch(media.url, { path, limits: { maxBytes: most, ...usualLimits }, signal });
      return { path, name, declaredType };
    }
    if (media.data !== undefined) {
      const bytes = decode(media.data);
      const file = await create(path);
      await file.writeFile(bytes).finally(() => file.close());
      return { path, name };
    }
    const local = await openAllowed(media.path ?? "", { ...roots(route.agentId), stateDirectory });
    try {
      if (local.size > most) throw tooLarge(most);
      if (local.isInbound) return { path: local.path, name };
      await copy(local.handle, path, { most, signal });
      return { path, name };
    } finally {
      await local.handle.close();
    }
  }

  async function complete(
    media: OutboundMedia,
    to: Address,
    about: { readonly route: Route; readonly signal: AbortSignal },
  ): Promise<OutboundMedia> {
    if (media.ref !== undefined) return media;
    const folder = join(stateDirectory, to.channel, to.account, "media");
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const place = join(folder, randomBytes(16).toString("hex"));
    const part = `${place}.part`;
    try {
      const laid = await lay(media, part, { ...about, most: maxBytes(to) });
      const { extension, ...seen } = await look(media, laid);
      if (laid.path !== part) return seen;
      await rename(part, `${place}.${extension}`);
      return { ...seen, path: `${place}.${extension}` };
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
  }

  return async (reply, route, closing) => {
    const { to } = route;
    if (to === null || reply.media.length === 0) return { reply, problems: [], refused: [] };
    const patience = AbortSignal.timeout(patienceMs);
    const signal = AbortSignal.any([closing, patience]);
    const found: (OutboundMedia | undefined)[] = [];
    const problems: string[] = [];
    const refused: Refused[] = [];
    const waiting = reply.media.entries();
    const work = async () => {
      for (const [index, media] of waiting) {
        try {
          if (index >= mostFiles)
            throw new ChannelError("media_refused", { detail: `a reply has at most ${mostFiles} files` });
          found[index] = await complete(media, to, { route, signal });
        } catch (error) {
          problems.push(problemOf(media, error));
          refused.push(refusedFile(media, error));
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, reply.media.length) }, work));
    const notes = refused.map(({ note }) => note);
    const text =
      notes.length === 0 ? reply.text : [reply.text.trimEnd(), ...notes].filter((each) => each !== "").join("\n\n");
    return { reply: { ...reply, text, media: found.filter((media) => media !== undefined) }, problems, refused };
  };
}

function refusedFile(media: OutboundMedia, error: unknown): Refused {
  const code = error instanceof ChannelError ? error.reason : "media_unreachable";
  const isLocal = media.url === undefined && error instanceof ChannelError;
  const reason = isLocal ? error.message : `The file at that address cannot be sent: ${shortReason(error)}`;
  return { code, reason: `${reason}.`, note: unavailable(media, error) };
}

/** Describes a failure for the operator. Only the host of an address is mentioned, because the rest may be secret. */
function problemOf(media: OutboundMedia, error: unknown): string {
  const name = (media.url === undefined ? nameOf(media) : URL.parse(media.url)?.hostname) || "a file";
  const reason = reasonOf(error);
  return reason.startsWith(name) ? reason : `${name}: ${reason}`;
}
