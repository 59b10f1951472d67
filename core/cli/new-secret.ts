/** New files with secrets, which the configuration names: beside it, and readable only by their owner. */
import { randomBytes } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { HostError, reasonOf } from "../contract/errors.ts";
import { ownLike } from "../state/directory.ts";

export interface NewSecret {
  readonly file: string;
  readonly text: string;
}

interface NamedSecret {
  /** The file's name, if no other file has it. */
  readonly name: string;
  readonly text: string;
}

const tokenBytes = 32;

export const hookToken = (): NamedSecret => ({
  name: "hook-token",
  text: randomBytes(tokenBytes).toString("base64url"),
});

/**
 * Where secrets are stored: in the folder of the configuration. If that folder belongs to another user than the state,
 * the gateway could not read a file of root there, so they are stored in the state directory.
 */
export function secretDirectory(configDirectory: string, stateDirectory: string): string {
  if (process.geteuid?.() !== 0) return configDirectory;
  const ofConfig = statSync(configDirectory, { throwIfNoEntry: false })?.uid ?? 0;
  const ofState = statSync(stateDirectory, { throwIfNoEntry: false })?.uid ?? ofConfig;
  return ofState === ofConfig ? configDirectory : stateDirectory;
}

/** Chooses a name that is free: an existing file may belong to another program, or contain what is still needed. */
export function newSecret(directory: string, { name, text }: NamedSecret): NewSecret {
  let file = join(directory, name);
  for (let number = 2; existsSync(file); number += 1) file = join(directory, `${name}-${number}`);
  return { file, text };
}

/** Resolves with the path of the file. Never replaces an existing one. */
export function writeSecret({ file, text }: NewSecret): string {
  const directory = dirname(file);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const descriptor = openSync(file, "wx", 0o600);
    ownLike(descriptor, statSync(directory));
    writeSync(descriptor, `${text}\n`);
    closeSync(descriptor);
  } catch (thrown) {
    throw new HostError("token_not_written", { file, reason: reasonOf(thrown) }, { cause: thrown });
  }
  return file;
}
