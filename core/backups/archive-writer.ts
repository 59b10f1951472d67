/** Writes the archive of a backup: each entry has its size and its digest in the last one. */
import { createHash } from "node:crypto";
import { type ArchiveWriter, createArchive, type NewEntry } from "../archives/index.ts";
import { checksumsName } from "./manifest.ts";

export interface Checksum {
  readonly size: number;
  readonly sha256: string;
}

export interface BackupWriter extends Pick<ArchiveWriter, "addDirectory" | "finish" | "abort"> {
  /** Adds a file. What it has less than `size` is filled with zeros; resolves with `false` then. */
  add(entry: NewEntry, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<boolean>;
  addText(name: string, text: string): Promise<void>;
}

const zeros = new Uint8Array(65_536);

export function createBackupArchive(file: string): BackupWriter {
  const archive = createArchive(file);
  const checksums: Record<string, Checksum> = {};

  async function add(entry: NewEntry, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<boolean> {
    const hash = createHash("sha256");
    let left = entry.size;
    const take = (chunk: Uint8Array) => {
      const piece = chunk.length > left ? chunk.subarray(0, left) : chunk;
      left -= piece.length;
      hash.update(piece);
      return piece;
    };
    let isWhole = false;
    async function* exact(): AsyncGenerator<Uint8Array> {
      for await (const chunk of content) {
        yield take(chunk);
        if (left === 0) break;
      }
      isWhole = left === 0;
      while (left > 0) yield take(zeros);
    }
    await archive.add(entry, exact());
    checksums[entry.name] = { size: entry.size, sha256: hash.digest("hex") };
    return isWhole;
  }

  async function addText(name: string, text: string): Promise<void> {
    const bytes = Buffer.from(text);
    await add({ name, size: bytes.length }, [bytes]);
  }

  return {
    add,
    addText,
    addDirectory: archive.addDirectory,
    async finish() {
      await addText(checksumsName, `${JSON.stringify(checksums)}\n`);
      await archive.finish();
    },
    abort: archive.abort,
  };
}
