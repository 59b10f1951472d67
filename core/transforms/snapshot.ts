/**
 * A private copy of the transforms root. Code is loaded from the copy only, so neither a symbolic link nor a file that
 * is swapped after the check matters; the copy is checked byte by byte while it is made.
 */
import { constants, type Dirent, type Stats } from "node:fs";
import { copyFile, link, lstat, mkdir, open, readdir, readlink, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { TransformError } from "./error.ts";
import { isInside } from "./root.ts";

export const maxFiles = 5_000;
const maxBytes = 64 * 1024 * 1024;

const atOnce = 8;

/** Nothing that a module imports lies in these. */
const leftOut: ReadonlySet<string> = new Set([".git", ".bin", ".cache", ".DS_Store"]);

/** What tells one state of a file from the next. */
export type FileMark = string;

export const markOf = ({ dev, ino, size, mtimeMs, ctimeMs }: Pick<Stats, "dev" | "ino" | "size" | "mtimeMs" | "ctimeMs">): FileMark =>
  `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;

export interface Snapshot {
  /** The copy, a real path. */
  readonly directory: string;
  /** The root that it was made of, a real path. */
  readonly realRoot: string;
  /** Relative path (`/` between folders) to the state of the file that was copied. */
  readonly marks: ReadonlyMap<string, FileMark>;
  /** Relative paths that were left out because they break a rule, with the rule. */
  readonly refused: ReadonlyMap<string, string>;
}

interface Copying extends Snapshot {
  readonly marks: Map<string, FileMark>;
  readonly refused: Map<string, string>;
  readonly previous: Snapshot | undefined;
  bytes: number;
  files: number;
}

/** Copies the tree below `realRoot` to the new directory `directory`; what did not change is linked from the copy before. */
export async function takeSnapshot(options: {
  readonly realRoot: string;
  readonly directory: string;
  readonly previous?: Snapshot | undefined;
}): Promise<Snapshot> {
  const { realRoot, directory, previous } = options;
  await mkdir(directory, { mode: 0o700 });
  const copying: Copying = { realRoot, directory, previous, marks: new Map(), refused: new Map(), bytes: 0, files: 0 };
  try {
    await copyDirectory(copying, "");
    // The format of a file that names none must not depend on what lies above the copy.
    if (!copying.marks.has("package.json")) await writeFile(join(directory, "package.json"), "{}\n", { mode: 0o600 });
  } catch (error) {
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    throw error;
  }
  return copying;
}

async function copyDirectory(copying: Copying, path: string): Promise<void> {
  const listed = await listDirectory(join(copying.realRoot, path)).catch((error: NodeJS.ErrnoException) => {
    // The root itself has to be there; a folder in it may go at any moment.
    if (path === "") throw error;
    return `cannot be read (${error.code})`;
  });
  if (typeof listed === "string") {
    copying.refused.set(path, listed);
    return;
  }
  const entries = listed.filter(({ name }) => !leftOut.has(name));
  // Before the first of them is read: one folder with a million files costs a listing.
  if (copying.marks.size + entries.length > maxFiles) throw tooLarge(copying);
  for (let at = 0; at < entries.length; at += atOnce) {
    await Promise.all(entries.slice(at, at + atOnce).map((entry) => copyEntry(copying, path, entry)));
  }
}

/** A folder that was swapped for a link since its parent was listed is not entered. */
async function listDirectory(source: string): Promise<readonly Dirent[] | string> {
  if ((await realpath(source)) !== source) return "was replaced by a symbolic link while it was read";
  return await readdir(source, { withFileTypes: true });
}

async function copyEntry(copying: Copying, folder: string, entry: Dirent): Promise<void> {
  const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
  if (entry.isSymbolicLink()) await copyLink(copying, path);
  else if (entry.isDirectory()) {
    await mkdir(join(copying.directory, path), { mode: 0o700 });
    await copyDirectory(copying, path);
  } else if (entry.isFile()) await copyRegular(copying, path);
  else copying.refused.set(path, "is no regular file");
}

/** A link that ends inside leads to the same place of the copy; one that ends outside has no place there. */
async function copyLink(copying: Copying, path: string): Promise<void> {
  const source = join(copying.realRoot, path);
  const target = await realpath(source).catch(() => undefined);
  if (target === undefined) {
    copying.refused.set(path, `is a symbolic link to nothing (${await readlink(source).catch(() => "gone")})`);
  } else if (!isInside(copying.realRoot, target)) {
    copying.refused.set(path, "is a symbolic link that ends outside the transforms root");
  } else {
    countFile(copying, 0);
    const place = join(copying.directory, path);
    await symlink(relative(dirname(place), join(copying.directory, relative(copying.realRoot, target))) || ".", place);
  }
}

async function copyRegular(copying: Copying, path: string): Promise<void> {
  const source = join(copying.realRoot, path);
  const place = join(copying.directory, path);
  const handle = await open(source, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)).catch(
    (error: NodeJS.ErrnoException) => error,
  );
  if (handle instanceof Error) {
    copying.refused.set(
      path,
      handle.code === "ELOOP" ? "was replaced by a symbolic link while it was read" : `cannot be read (${handle.code})`,
    );
    return;
  }
  try {
    const stats = await handle.stat();
    const mark = markOf(stats);
    countFile(copying, stats.size);
    if (copying.previous?.marks.get(path) === mark && (await linked(join(copying.previous.directory, path), place))) {
      copying.marks.set(path, mark);
      return;
    }
    const content = await handle.readFile();
    // What was opened is what lies there, by the path that was checked: a folder on the way may have been swapped.
    const now = await lstat(source).catch(() => undefined);
    if (!stats.isFile() || now === undefined || now.ino !== stats.ino || now.dev !== stats.dev || (await realpath(source)) !== source) {
      copying.refused.set(path, "was replaced while it was read");
      return;
    }
    await writeFile(place, content, { mode: 0o600, flag: "wx" });
    copying.marks.set(path, mark);
  } finally {
    await handle.close();
  }
}

/** The copy before is private and never written again, so it may be shared. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch {
    return await copyFile(from, to).then(
      () => true,
      () => false,
    );
  }
}

function countFile(copying: Copying, bytes: number): void {
  copying.bytes += bytes;
  copying.files += 1;
  if (copying.files > maxFiles || copying.bytes > maxBytes) throw tooLarge(copying);
}

function tooLarge({ realRoot }: Copying): TransformError {
  const limits = `at most ${maxFiles} files and ${maxBytes / 1_048_576} MB, packages included`;
  return new TransformError("refused", `The transforms root ${realRoot} is too large: ${limits}`);
}
