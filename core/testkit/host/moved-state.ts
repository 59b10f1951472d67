/** The state of a gateway as a killed process leaves it: copied while it runs, for the gateway that takes it over. */
import { existsSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { basename, join } from "node:path";

/** What belongs to the process: its locks, its address, and the shared memory of the database. */
const ofProcess = /^(?:lock\.\w+|gateway\.json|state\.db-(?:shm|wal))$/;

/**
 * Copies a directory with a gateway in it. The database's log is copied first, so that a checkpoint between the two
 * copies loses nothing: what is in both is applied twice.
 */
export async function copyState(from: string, to: string): Promise<void> {
  const log = (directory: string) => join(directory, "state", "state.db-wal");
  await mkdir(join(to, "state"), { recursive: true });
  if (existsSync(log(from))) await cp(log(from), log(to));
  await cp(from, to, { recursive: true, filter: (path) => !ofProcess.test(basename(path)) });
}
