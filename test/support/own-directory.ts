/**
 * A directory for the temporary files of each process of the tests: a test that looks for leftovers sees those of no
 * other process.
 */
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const name = `process-${process.pid}`;
// Once for each process, which may serve many files.
if (basename(tmpdir()) !== name) {
  process.env.TMPDIR = join(tmpdir(), name);
  mkdirSync(process.env.TMPDIR);
}
