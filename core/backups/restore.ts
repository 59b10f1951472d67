/** Restores a backup into an empty directory. Everything is read and judged before the first file is written. */
import { createWriteStream, existsSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from "node:fs";
import { statfs, utimes } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { expandPath } from "../config/index.ts";
import { HostError, reasonOf } from "../contract/index.ts";
import { lockHolder, makeDirectory, ownLike } from "../state/index.ts";
import { type Known, type ReadBackup, type ReadEntry, readBackup } from "./archive-reader.ts";
import { environmentName, targetOf } from "./entry-name.ts";
import { configName } from "./manifest.ts";

const stagingName = ".restoring";
/** What an empty disk contains. */
const ofNoUser: readonly string[] = ["lost+found", stagingName];

export interface RestoreOptions {
  readonly file: string;
  readonly directory: string;
  readonly known: Known;
  readonly onProgress?: (phase: "check" | "files", done: number, total: number) => void;
}

/**
 * Reads the whole backup without writing anything. Throws `restore_refused` if the directory is not empty, and
 * `state_locked` if a gateway uses it.
 */
export async function examineBackup({ file, directory, known, onProgress }: RestoreOptions): Promise<ReadBackup> {
  requireEmpty(directory);
  const room = await roomOn(directory);
  let bytes = 0;
  return await readBackup(file, {
    known,
    onProgress: (done, total) => onProgress?.("check", done, total),
    async onEntry({ size }) {
      bytes += size;
      if (bytes > room) throw refused(directory, "its disk has less room than the backup needs", "Free some space.");
    },
  });
}

/** Writes what `examineBackup` has read. A file that was replaced meanwhile is refused, and nothing remains of it. */
export async function restoreBackup(options: RestoreOptions & { readonly examined: ReadBackup }): Promise<void> {
  const { file, directory, known, examined, onProgress } = options;
  const staging = join(directory, stagingName);
  try {
    makeDirectory(directory);
    requireEmpty(directory);
    rmSync(staging, { recursive: true, force: true });
    makeDirectory(staging);
    let files = 0;
    const again = await readBackup(file, {
      known,
      async onEntry(entry, content) {
        await writeEntry(staging, entry, content);
        files += 1;
        onProgress?.("files", files, examined.entries.length);
      },
    });
    if (JSON.stringify(again.manifest) !== JSON.stringify(examined.manifest))
      throw new HostError("backup_damaged", { file, reason: "it was replaced while it was read" });
    // A gateway may have been started there meanwhile; its database would be replaced.
    requireEmpty(directory);
    const names = readdirSync(staging);
    // The database comes last: without it, a gateway does not take what is there for a state.
    for (const name of names.toSorted((a, b) => Number(a === "state.db") - Number(b === "state.db")))
      renameSync(join(staging, name), join(directory, name));
    rmdirSync(staging);
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    if (error instanceof HostError) throw error;
    throw refused(directory, reasonOf(error), "Check its owner, its mode and the free space.", error);
  }
}

function refused(directory: string, reason: string, fix: string, cause?: unknown): HostError {
  return new HostError("restore_refused", { directory, reason, fix }, { cause });
}

function requireEmpty(directory: string): void {
  const stat = statSync(directory, { throwIfNoEntry: false });
  if (stat === undefined) return;
  const fix = "Name a directory that is empty or does not exist: --to DIRECTORY.";
  if (!stat.isDirectory()) throw refused(directory, "it is not a directory", fix);
  const pid = lockHolder(directory);
  if (pid !== undefined) throw new HostError("state_locked", { directory, pid });
  const found = readdirSync(directory).filter((name) => !ofNoUser.includes(name));
  if (found.length === 0) return;
  const shown = found.slice(0, 3).join(", ");
  throw refused(directory, `it is not empty: it contains ${shown}${found.length > 3 ? ", ..." : ""}`, fix);
}

async function roomOn(directory: string): Promise<number> {
  const existing = existsSync(directory) || dirname(directory) === directory ? directory : dirname(directory);
  if (!existsSync(existing)) return await roomOn(existing);
  const { bavail, bsize } = await statfs(existing);
  return bavail * bsize;
}

async function writeEntry(staging: string, entry: ReadEntry, content: AsyncIterable<Uint8Array>): Promise<void> {
  const { name, isDirectory, isExecutable, modifiedAt } = entry;
  const target = join(staging, targetOf(name));
  makeDirectory(isDirectory ? target : dirname(target));
  if (isDirectory) return;
  const mode = isExecutable ? 0o700 : 0o600;
  await pipeline(content, createWriteStream(target, { flags: "wx", mode, flush: true }));
  ownLike(target, statSync(dirname(target)));
  if (modifiedAt !== undefined && !Number.isNaN(modifiedAt.getTime())) await utimes(target, modifiedAt, modifiedAt);
}

/** What a gateway on the restored directory still lacks, one sentence each, by its path in the configuration. */
export function missingAfter(
  { manifest, entries }: ReadBackup,
  { directory, env }: { readonly directory: string; readonly env: Readonly<Record<string, string | undefined>> },
): readonly string[] {
  const contained = new Set(entries.map(({ name }) => targetOf(name)));
  return manifest.secrets.flatMap(({ path, variable, file, again }) => {
    if (again === true) return [`${path}: set the address again; its password is not in the backup`];
    if (variable !== undefined)
      return env[variable] === undefined || env[variable] === ""
        ? [`${path}: set the environment variable ${variable}${inEnvironment(contained, directory)}`]
        : [];
    if (file === undefined || contained.has(file)) return [];
    const full = isAbsolute(file) ? file : expandPath(file, directory);
    return isAbsolute(file) && existsSync(full) ? [] : [`${path}: write the secret to ${full}, with mode 0600`];
  });
}

const inEnvironment = (contained: ReadonlySet<string>, directory: string): string =>
  contained.has(environmentName) ? `, if ${join(directory, environmentName)} does not contain it` : "";

/** The files by the part of the backup that they belong to, for people. */
export function partsOf({ entries }: Pick<ReadBackup, "entries">): readonly {
  readonly part: string;
  readonly files: number;
  readonly bytes: number;
}[] {
  const files = entries.filter(({ isDirectory }) => !isDirectory);
  const groups = Map.groupBy(files, ({ name }) => targetOf(name).split("/")[0] ?? "");
  return [...groups].map(([part, group]) => ({
    part,
    files: group.length,
    bytes: group.reduce((sum, { size }) => sum + size, 0),
  }));
}

export const hasConfig = ({ entries }: Pick<ReadBackup, "entries">): boolean =>
  entries.some(({ name }) => name === configName);
