/** Makes a backup: one file, complete and read back before it gets its name. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pathProblem, sameName } from "../archives/index.ts";
import { HostError, reasonOf } from "../contract/index.ts";
import { flushDirectory, makeDirectory, ownLike } from "../state/index.ts";
import { knownSchema, snapshotDatabase } from "../state/sqlite/snapshot.ts";
import { readBackup } from "./archive-reader.ts";
import { type BackupWriter, createBackupArchive } from "./archive-writer.ts";
import { nameProblem, stateFolder } from "./entry-name.ts";
import { configName, type Manifest, manifestName } from "./manifest.ts";
import type { BackupPlan } from "./plan.ts";
import { type FoundFile, filesIn, openFile } from "./tree.ts";

/** A session of a browser that was ended after the backup must not begin again with it. */
const leftOut = ["browser-sessions"];

export interface BackupProgress {
  readonly phase: "database" | "files" | "check";
  /** Pages of the database, files, or bytes of the backup. */
  readonly done: number;
  /** Unknown while files are added. */
  readonly total?: number;
}

export interface CreatedBackup {
  readonly file: string;
  readonly bytes: number;
  readonly files: number;
  readonly createdAt: string;
  /** Links and special files that were left out. */
  readonly skipped: number;
  /** Files that were left out, because a restore refuses their names: they are not safe on every system. */
  readonly unsafeNames: readonly string[];
  /** Files that became shorter while they were read. */
  readonly torn: readonly string[];
  readonly leftOut: readonly string[];
}

export interface CreateOptions {
  /** The new file. */
  readonly file: string;
  /** Replace an existing file. */
  readonly force?: boolean;
  readonly now: () => number;
  readonly onProgress?: (progress: BackupProgress) => void;
}

/** Throws `backup_not_written`, or an error of the state. Nothing remains of a backup that failed. */
export async function createBackup(plan: BackupPlan, options: CreateOptions): Promise<CreatedBackup> {
  const { file, force = false } = options;
  refuseExisting(file, force);
  const folder = dirname(file);
  const temporary = temporaryOf(file);
  try {
    makeDirectory(folder);
    removeLeftovers(folder, basename(file));
    await requireRoom(plan, folder);
    mkdirSync(temporary, { mode: 0o700 });
    const archive = join(temporary, "archive");
    // The target may be in a workspace, which must not contain a copy of the database then.
    const trees = plan.trees.map((tree) => ({ ...tree, excluded: [...tree.excluded, temporary] }));
    const { manifest, ...written } = await writeArchive({ ...plan, trees }, { ...options, archive, temporary });
    const bytes = statSync(archive).size;
    await readBackup(archive, {
      known: { version: manifest.version, schema: knownSchema },
      onProgress: (done, total) => options.onProgress?.({ phase: "check", done, total }),
    });
    refuseExisting(file, force);
    ownLike(archive, statSync(folder));
    renameSync(archive, file);
    flushDirectory(folder);
    return { ...{ file, bytes, createdAt: manifest.createdAt, leftOut: manifest.leftOut }, ...written };
  } catch (error) {
    if (error instanceof HostError) throw error;
    throw new HostError("backup_not_written", { file, reason: reasonOf(error), fix: lookAtDisk }, { cause: error });
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

const lookAtDisk = "Check the directory, its owner and the free space.";

function refuseExisting(file: string, force: boolean): void {
  if (!existsSync(file)) return;
  const isFile = statSync(file).isFile();
  if (force && isFile) return;
  const reason = isFile ? "it exists already" : "there is something else by this name";
  const fix = isFile ? "Name another file, or replace it with --force." : "Name another file.";
  throw new HostError("backup_not_written", { file, reason, fix });
}

/** Its name says which process works on it, so that what a killed one left is removed later. */
const temporaryOf = (file: string): string => join(dirname(file), `.${basename(file)}.${process.pid}.new`);

/** Removes what killed processes have left of backups of this name, or of those whose names match. */
export function removeLeftovers(folder: string, name: string | RegExp): void {
  for (const entry of readdirSync(folder)) {
    const [, base, pid] = /^\.(.+)\.(\d+)\.new$/.exec(entry) ?? [];
    if (base === undefined || !(typeof name === "string" ? base === name : name.test(base))) continue;
    if (Number(pid) === process.pid || !isAlive(Number(pid)))
      rmSync(join(folder, entry), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The copy of the database needs its size, and the compressed one less. */
async function requireRoom({ database }: BackupPlan, folder: string): Promise<void> {
  const needed =
    database === undefined ? 0 : (statSync(join(database, "state.db"), { throwIfNoEntry: false })?.size ?? 0);
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < needed * 1.5)
    throw new Error(`the disk has ${Math.floor((bavail * bsize) / 1_048_576)} MB of room, and the copy needs more`);
}

type Added = Pick<CreatedBackup, "files" | "skipped" | "unsafeNames" | "torn">;
type Written = Added & { readonly manifest: Manifest };

async function writeArchive(
  plan: BackupPlan,
  {
    archive: file,
    temporary,
    now,
    onProgress,
  }: CreateOptions & { readonly archive: string; readonly temporary: string },
): Promise<Written> {
  const createdAt = new Date(now()).toISOString();
  const copy = join(temporary, "state.db");
  const snapshot =
    plan.database === undefined
      ? undefined
      : await snapshotDatabase({
          directory: plan.database,
          target: copy,
          leaveOut: leftOut,
          onProgress: (done, total) => onProgress?.({ phase: "database", done, total }),
        });
  const manifest = { ...plan.manifest, createdAt, ...snapshot };
  const archive = createBackupArchive(file);
  try {
    await archive.addText(manifestName, `${JSON.stringify(manifest, undefined, 2)}\n`);
    if (plan.config !== undefined) await archive.addText(configName, plan.config);
    const added = await addFiles(archive, plan, {
      copy: snapshot && copy,
      onFile: (done) => onProgress?.({ phase: "files", done }),
    });
    await archive.finish();
    return { ...added, manifest };
  } catch (error) {
    await archive.abort();
    throw error;
  }
}

async function addFiles(
  archive: BackupWriter,
  plan: BackupPlan,
  { copy, onFile }: { readonly copy: string | undefined; readonly onFile: (done: number) => void },
): Promise<Added> {
  let skipped = 0;
  let files = 0;
  const torn: string[] = [];
  const unsafeNames: string[] = [];
  const names = new Set<string>();
  // As the reader judges them: one odd name in a workspace must not make the whole backup fail.
  const isUnsafe = (name: string) =>
    pathProblem(name) !== undefined || nameProblem(name) !== undefined || names.has(sameName(name));
  const add = async (found: FoundFile) => {
    if (isUnsafe(found.name)) {
      unsafeNames.push(found.path);
      return;
    }
    const opened = await openFile(found);
    if (opened === undefined) return;
    names.add(sameName(found.name));
    try {
      if (!(await archive.add(opened.entry, opened.content))) torn.push(found.path);
    } finally {
      await opened.close();
    }
    files += 1;
    onFile(files);
  };
  if (copy !== undefined) await add({ name: `${stateFolder}/state.db`, path: copy });
  for (const file of plan.files) await add(file);
  for (const tree of plan.trees) {
    // An empty workspace is one, too.
    if (existsSync(tree.path)) await archive.addDirectory(tree.name);
    for await (const file of filesIn(tree, () => (skipped += 1))) await add(file);
  }
  return { files, skipped, unsafeNames, torn };
}
