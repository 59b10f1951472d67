/** The files of a directory, for a backup. Links and special files are left out: a link may lead anywhere. */
import { constants, type Dirent } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { NewEntry } from "../archives/index.ts";
import type { Tree } from "./plan.ts";

export interface FoundFile {
  readonly name: string;
  readonly path: string;
}

/** `onSkipped` receives the path of each link and special file. */
export async function* filesIn(tree: Tree, onSkipped: (path: string) => void): AsyncGenerator<FoundFile> {
  const excluded = new Set(tree.excluded.map((path) => resolve(path)));
  yield* walk({ name: tree.name, path: resolve(tree.path) }, 0);

  async function* walk({ name, path }: FoundFile, depth: number): AsyncGenerator<FoundFile> {
    for (const entry of await entriesOf(path)) {
      const found = { name: `${name}/${entry.name}`, path: join(path, entry.name) };
      if (excluded.has(found.path)) continue;
      if (entry.isDirectory()) {
        if (depth === 0 || tree.without?.includes(entry.name) !== true) yield* walk(found, depth + 1);
      } else if (entry.isFile()) yield found;
      else onSkipped(found.path);
    }
  }
}

async function entriesOf(path: string): Promise<readonly Dirent[]> {
  try {
    return (await readdir(path, { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    // Removed meanwhile, or never made.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

export interface OpenedFile {
  readonly entry: NewEntry;
  readonly content: AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

const pieceBytes = 262_144;
const executable = 0o111;

/** `undefined` if the file has been removed or replaced by a link meanwhile. */
export async function openFile({ name, path }: FoundFile): Promise<OpenedFile | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (["ENOENT", "ELOOP"].includes(String((error as NodeJS.ErrnoException).code))) return undefined;
    throw error;
  }
  const stat = await handle.stat();
  if (!stat.isFile()) {
    await handle.close();
    return undefined;
  }
  const mode = (stat.mode & executable) === 0 ? 0o600 : 0o700;
  return {
    entry: { name, size: stat.size, mode, modifiedAt: stat.mtime },
    content: pieces(handle),
    close: () => handle.close(),
  };
}

async function* pieces(handle: FileHandle): AsyncGenerator<Uint8Array> {
  for (;;) {
    // Each piece is handed on, so it needs a buffer of its own.
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(pieceBytes), 0, pieceBytes);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}
