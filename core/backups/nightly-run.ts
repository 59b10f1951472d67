/** Makes the backup of one night, if it is due. It is loaded only where the configuration asks for one. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expandPath, type LoadedConfig, type PluginSchemas } from "../config/index.ts";
import { reasonOf } from "../contract/index.ts";
import type { Log } from "../log/index.ts";
import type { Duties, Store } from "../state/index.ts";
import type { StatePlace } from "../stores/index.ts";
import { removeLeftovers } from "./create.ts";
import { nameFor, ownerOf, ownName, removeOld } from "./nightly-files.ts";
import { planBackup } from "./plan.ts";
import { type BackupRecord, lastDue, readRecord, writeRecord } from "./record.ts";
import { backUpInThread, type ThreadAnswer } from "./thread.ts";

/** A backup that takes longer is ended, and its attempt has failed. */
const longestMs = 3 * 60 * 60_000;
/** How long after a failure it is tried again. */
const againMs = 60 * 60_000;
const duty = "backup";

export interface NightlyOptions {
  readonly loaded: () => LoadedConfig;
  readonly schemas: () => PluginSchemas | undefined;
  readonly place: StatePlace;
  readonly store: Pick<Store, "get" | "set">;
  readonly duties: Pick<Duties, "has">;
  readonly log: Log;
  readonly now: () => number;
}

export async function backUpIfDue(options: NightlyOptions, signal: AbortSignal): Promise<void> {
  const { loaded, place, store, duties, log, now } = options;
  const { config, directory } = loaded();
  const { backup } = config.state;
  if (backup === undefined) return;
  const record = await readRecord(store);
  const at = now();
  if (!isDue(record, { at, due: lastDue(backup.at, at) }) || !(await duties.has(duty))) return;
  const owner = ownerOf(place.directory);
  const folder = expandPath(backup.dir, directory);
  const file = join(folder, nameFor(owner, at));
  const answer = await attempt(options, { folder, file, owner, signal });
  // The next start makes it.
  if (signal.aborted) return;
  const last = record?.last === undefined ? {} : { last: record.last };
  if (answer.type === "failed") {
    await writeRecord(store, { triedAt: at, problem: answer.reason, ...last });
    log.error({ file, reason: answer.reason }, "the nightly backup failed");
    return;
  }
  const { bytes, files, torn, skipped } = answer;
  await writeRecord(store, { triedAt: at, last: { at, file, bytes } });
  const removed = await removeOld(folder, { owner, keep: backup.keep });
  log.info({ file, bytes, files, torn, skipped, removed: removed.length }, "the nightly backup is written");
}

/** What fails here has failed like the thread: it is recorded, and tried again later. */
async function attempt(
  { loaded, schemas, place }: NightlyOptions,
  {
    folder,
    file,
    owner,
    signal,
  }: { readonly folder: string; readonly file: string; readonly owner: string; readonly signal: AbortSignal },
): Promise<ThreadAnswer> {
  try {
    const plan = await planBackup({ loaded: loaded(), schemas: schemas(), place, owner, excluded: [folder] });
    // What a killed gateway has left of an earlier night, whose name was another one.
    if (existsSync(folder)) removeLeftovers(folder, ownName(owner));
    return await backUpInThread(plan, file, AbortSignal.any([signal, AbortSignal.timeout(longestMs)]));
  } catch (error) {
    return { type: "failed", reason: `The backup ${file} was not written: ${reasonOf(error)}.` };
  }
}

function isDue(record: BackupRecord | undefined, { at, due }: { readonly at: number; readonly due: number }): boolean {
  if (record === undefined) return true;
  // A clock that was set back must not stop the backups.
  if (record.triedAt > at) return true;
  if (record.problem !== undefined) return at - record.triedAt >= againMs;
  return record.triedAt < due;
}
