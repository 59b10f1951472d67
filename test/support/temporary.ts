/**
 * A directory for the temporary files of one run, removed at its end. It is in memory where the machine has a file
 * system for that: much of the suite's time would be spent waiting for a disk, and no test cuts the power.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const memory = "/dev/shm";
/** Many times what the tests have there at once. */
const neededBytes = 2 * 2 ** 30;

/**
 * A new directory in memory. `undefined` where there is none, it is small, as in many containers, or no program can be
 * started from it.
 */
function directoryInMemory(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize < neededBytes) return;
    const directory = mkdtempSync(join(memory, "gateway-tests-"));
    const program = join(directory, "program");
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
    if (spawnSync(program).status === 0) return directory;
    rmSync(directory, { recursive: true });
  } catch {
    // The disk does as well, and takes longer.
  }
  return;
}

/** Before the first test of a run. Each process of the tests has a directory below this one, see `own-directory.ts`. */
export default function setup(): () => void {
  const directory = directoryInMemory() ?? mkdtempSync(join(tmpdir(), "gateway-tests-"));
  // Mail servers of the tests run as another user.
  chmodSync(directory, 0o755);
  process.env.TMPDIR = directory;
  // Made by the first PostgreSQL server of the run, copied for the others; see `postgres-server.ts`.
  process.env.TEST_POSTGRES_DATA = join(directory, "postgres-data");
  return () => rmSync(directory, { recursive: true, force: true });
}
