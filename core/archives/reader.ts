/** Reads an archive as a stranger could have made it: each entry is judged before its content is handed on. */
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { createTarDecoder, type ParsedTarEntry } from "modern-tar";
import { reasonOf } from "../contract/index.ts";
import { pathProblem, sameName } from "./entry-path.ts";

export interface ArchiveEntry {
  /** A path with slashes; that of a directory ends with one. */
  readonly name: string;
  readonly size: number;
  readonly isDirectory: boolean;
  readonly isExecutable: boolean;
  readonly modifiedAt: Date | undefined;
  /** What is not read of it is passed over. */
  readonly content: ReadableStream<Uint8Array>;
}

interface Limits {
  /** Of the whole archive, without gzip. */
  readonly bytes?: number;
  readonly entries: number;
}

/** Nothing that makes archives honestly has made this one. The message is a reason without a full stop. */
export class UnsafeArchive extends Error {}

const mebibyte = 1_024 * 1_024;
const ownerExecutes = 0o100;

/**
 * The files and directories of a tar archive in gzip, in bounded memory. Throws `UnsafeArchive` for a link, a device, a
 * path that leads elsewhere, a name that occurs twice, and what is over the limits; another error for an archive that
 * was cut off or changed, or that goes on after its end. The decoder takes entries of unknown type for files.
 */
export async function* readArchive(
  packed: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  limits: Limits,
): AsyncGenerator<ArchiveEntry> {
  const names = new Set<string>();
  for await (const { header, body } of decoded(packed, limits)) {
    const { name, size, type, mode = 0, mtime } = header;
    refuseUnsafe(header, limits);
    if (names.has(sameName(name))) throw new UnsafeArchive(`it contains ${shownName(name)} twice`);
    names.add(sameName(name));
    if (names.size > limits.entries) throw new UnsafeArchive(`it contains more than ${limits.entries} files`);
    const isDirectory = type === "directory";
    const isExecutable = (mode & ownerExecutes) !== 0 && !isDirectory;
    yield { name, size, isDirectory, isExecutable, modifiedAt: mtime, content: body };
    if (!body.locked) await body.cancel();
  }
}

function refuseUnsafe({ name, size, type = "file", pax = {} }: ParsedTarEntry["header"], { bytes }: Limits): void {
  if (type !== "file" && type !== "directory")
    throw new UnsafeArchive(`${shownName(name)} is a ${type.replaceAll("-", " ")}, not a file`);
  if (Object.keys(pax).some((key) => key.startsWith("GNU.sparse.")))
    throw new UnsafeArchive(`${shownName(name)} is a sparse file`);
  const problem = pathProblem(name);
  if (problem !== undefined) throw new UnsafeArchive(`${shownName(name)}: ${problem}`);
  if (bytes !== undefined && size > bytes) throw tooLarge(bytes);
}

const tooLarge = (bytes: number) => new UnsafeArchive(`it unpacks to more than ${bytes / mebibyte} MiB`);

function decoded(
  packed: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { bytes: most = Number.POSITIVE_INFINITY }: Limits,
): ReadableStream<ParsedTarEntry> {
  const unzipped = createGunzip();
  // An error of either stream ends the loop below.
  pipeline(packed, unzipped, () => {});
  async function* bounded(): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const chunk of unzipped as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > most) throw tooLarge(most);
      yield chunk;
    }
  }
  return ReadableStream.from(bounded()).pipeThrough<ParsedTarEntry>(createTarDecoder({ strict: true }) as never);
}

export const shownName = (name: string): string => JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name);

/** What zlib and the tar decoder call a file that ends too early. */
const cut = /unexpected end|truncated/i;

/** What is wrong with an archive that cannot be read, without a full stop. */
export const faultOf = (error: unknown): string =>
  cut.test(reasonOf(error)) ? "it was cut off" : reasonOf(error).replace(/\.$/, "");
