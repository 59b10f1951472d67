import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const made: string[] = [];

afterAll(() => Promise.all(made.map((directory) => rm(directory, { recursive: true, force: true }))));

/**
 * A place of its own, not yet the state's directory: the store makes that. Gone when the tests of its file are done.
 */
export async function newDirectory(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), "state-"));
  made.push(parent);
  return join(parent, "state");
}
