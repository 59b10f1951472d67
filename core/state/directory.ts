/** Creates the state directory and its files, readable only by the owner. */
import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { HostError, reasonOf } from "../contract/index.ts";

/** Flushes a directory. A new directory survives a power cut only if its parent is flushed; SQLite does this for its own files. */
function flushDirectory(directory: string): void {
  // Windows cannot open directories and does not need this flush.
  if (process.platform === "win32") return;
  const handle = openSync(directory, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Creates the parents one by one. Node's recursive option never returns on file systems that report "not found" for every new directory,
 * such as /proc.
 */
function makeDirectory(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const parent = dirname(directory);
  makeDirectory(parent);
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another process created it first.
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
  flushDirectory(parent);
}

/** Creates the directory and an empty file in it if they do not exist. SQLite gives its side files the mode of the main file. */
export function prepareFile(directory: string, name: string): string {
  const file = join(directory, name);
  try {
    makeDirectory(directory);
    chmodSync(directory, 0o700);
    // A process that closes a file loses its locks on it, so existing files are not opened.
    if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
    chmodSync(file, 0o600);
  } catch (error) {
    throw new HostError("state_unreadable", { directory, reason: reasonOf(error) }, { cause: error });
  }
  return file;
}

/** Writes a file atomically: to a temporary file that is flushed and then renamed. Mode 0600. */
export function writeWhole(file: string, text: string): void {
  // The name is always the same, so that what a killed process left is overwritten.
  const temporary = `${file}.new`;
  const descriptor = openSync(temporary, "w", 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, file);
}
