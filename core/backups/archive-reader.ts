/** Reads a backup as a stranger could have made it: every entry is judged before anything is done with it. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { gt, valid } from "semver";
import { type ArchiveEntry, faultOf, readArchive, shownName, UnsafeArchive } from "../archives/index.ts";
import { isRecord, parseJsonText } from "../config/index.ts";
import { HostError, product, reasonOf } from "../contract/index.ts";
import type { Checksum } from "./archive-writer.ts";
import { nameProblem } from "./entry-name.ts";
import { checksumsName, knownFormat, type Manifest, manifestName, parseManifest } from "./manifest.ts";

export type ReadEntry = Omit<ArchiveEntry, "content">;

/** What this program can open. */
export interface Known {
  readonly version: string;
  /** Version of the tables of the embedded database. */
  readonly schema: number;
}

export interface ReadBackup {
  readonly manifest: Manifest;
  /** Without the manifest and the checksums. */
  readonly entries: readonly ReadEntry[];
  /** Size of the files, in bytes. */
  readonly bytes: number;
}

interface ReadOptions {
  readonly known: Known;
  /** Receives each entry except manifest and checksums, after it was judged; it need not read the content. */
  readonly onEntry?: (entry: ReadEntry, content: AsyncIterable<Uint8Array>) => Promise<void>;
  readonly onProgress?: (done: number, total: number) => void;
}

const maxManifestBytes = 1_048_576;
const maxChecksumBytes = 268_435_456;
const maxEntries = 1_000_000;

const damaged = (file: string, reason: string, cause?: unknown) =>
  new HostError("backup_damaged", { file, reason }, { cause });
const unsafe = (file: string, reason: string) => new HostError("backup_unsafe", { file, reason });

/**
 * Reads all of a backup and compares it with its checksums. Throws `backup_damaged` for one that was cut off or
 * changed, `backup_newer` for one of a newer version, `backup_unsafe` for one that this program did not make.
 */
export async function readBackup(file: string, options: ReadOptions): Promise<ReadBackup> {
  const reading = createReading(file, options);
  try {
    for await (const entry of await entriesOf(file, options.onProgress)) await reading.next(entry);
  } catch (error) {
    if (error instanceof HostError) throw error;
    if (error instanceof UnsafeArchive) throw unsafe(file, error.message);
    throw damaged(file, faultOf(error), error);
  }
  return reading.end();
}

async function entriesOf(file: string, onProgress?: ReadOptions["onProgress"]): Promise<AsyncGenerator<ArchiveEntry>> {
  const { size } = await isGzip(file);
  const source = createReadStream(file, { highWaterMark: 262_144 });
  async function* counted() {
    for await (const chunk of source as AsyncIterable<Uint8Array>) {
      onProgress?.(source.bytesRead, size);
      yield chunk;
    }
  }
  return readArchive(counted(), { entries: maxEntries });
}

async function isGzip(file: string): Promise<{ readonly size: number }> {
  const handle = await open(file, "r").catch((error: unknown) => {
    throw new HostError("backup_unreadable", { file, reason: reasonOf(error) }, { cause: error });
  });
  try {
    const [stat, { buffer, bytesRead }] = await Promise.all([handle.stat(), handle.read(Buffer.alloc(2), 0, 2, 0)]);
    if (!stat.isFile()) throw unsafe(file, "it is not a file");
    if (stat.size === 0) throw damaged(file, "it is empty");
    if (bytesRead < 2 || buffer.readUInt16BE(0) !== 0x1f8b) throw unsafe(file, "it is not a tar file in gzip");
    return { size: stat.size };
  } finally {
    await handle.close();
  }
}

function createReading(file: string, { known, onEntry }: ReadOptions) {
  let manifest: Manifest | undefined;
  let checksums: Readonly<Record<string, Checksum>> | undefined;
  const found = new Map<string, Checksum>();
  const entries: ReadEntry[] = [];
  let bytes = 0;

  function judge(name: string): void {
    if (checksums !== undefined) throw unsafe(file, `something follows the checksums: ${shownName(name)}`);
    const problem = nameProblem(name);
    if (problem !== undefined) throw unsafe(file, `${shownName(name)}: ${problem}`);
    if (manifest === undefined && name !== manifestName) throw unsafe(file, `it does not begin with ${manifestName}`);
  }

  async function next({ content: body, ...entry }: ArchiveEntry): Promise<void> {
    const { name, size, isDirectory } = entry;
    judge(name);
    const hash = createHash("sha256");
    if (name === manifestName) {
      const text = await textOf(body, hash, maxManifestBytes);
      manifest = parseManifest(text);
      if (manifest === undefined) throw unsafe(file, `its ${manifestName} is not that of a backup`);
      refuseNewer(file, manifest, known);
    } else if (name === checksumsName) {
      checksums = parseChecksums(await textOf(body, hash, maxChecksumBytes));
      if (checksums === undefined) throw damaged(file, `its ${checksumsName} cannot be read`);
      return;
    } else {
      const content = hashed(body, hash);
      await onEntry?.(entry, content);
      for await (const _ of content);
      entries.push(entry);
      bytes += size;
      if (isDirectory) return;
    }
    found.set(name, { size, sha256: hash.digest("hex") });
  }

  return {
    next,
    end(): ReadBackup {
      if (manifest === undefined) throw damaged(file, "it contains nothing");
      if (checksums === undefined) throw damaged(file, `it was cut off: ${checksumsName} is missing`);
      for (const [name, { size, sha256 }] of found)
        if (checksums[name]?.size !== size || checksums[name].sha256 !== sha256)
          throw damaged(file, `${shownName(name)} differs from its checksum`);
      const missing = Object.keys(checksums).find((name) => !found.has(name));
      if (missing !== undefined) throw damaged(file, `${shownName(missing)} is missing`);
      return { manifest, entries, bytes };
    },
  };
}

function refuseNewer(file: string, { format, schema = 0, version }: Manifest, known: Known): void {
  const isNewer = format > knownFormat || schema > known.schema || isLater(version, known.version);
  if (isNewer)
    throw new HostError("backup_newer", { file, found: version, known: known.version, package: product.packageName });
}

const isLater = (one: string, other: string): boolean => valid(one) !== null && valid(other) !== null && gt(one, other);

async function* hashed(
  body: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    hash.update(chunk);
    yield chunk;
  }
}

async function textOf(
  body: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
  most: number,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of hashed(body, hash)) {
    size += chunk.length;
    if (size > most) throw new Error("its description is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseChecksums(text: string): Readonly<Record<string, Checksum>> | undefined {
  const value = parseJsonText(text);
  if (!isRecord(value)) return undefined;
  const isSound = Object.values(value).every(
    (one) => isRecord(one) && typeof one.size === "number" && typeof one.sha256 === "string",
  );
  return isSound ? Object.assign(Object.create(null), value) : undefined;
}

/** The manifest alone, for a look at a file that is not read further; `undefined` if it is not a backup. */
export async function readManifest(file: string): Promise<Manifest | undefined> {
  try {
    for await (const { name, content } of await entriesOf(file)) {
      if (name !== manifestName) return undefined;
      return parseManifest(await textOf(content, createHash("sha256"), maxManifestBytes));
    }
  } catch {
    return undefined;
  }
  return undefined;
}
