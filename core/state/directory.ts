/** The state directory and its files: only the owner can read them. */
import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { HostError, reasonOf } from "../contract/index.ts";

/** A new directory outlives a power cut only when its parent is flushed; SQLite does that for its own files. */
function flushDirectory(directory: string): void {
  // Windows cannot open a directory, and needs no such flush.
  if (process.platform === "win32") return;
  const handle = openSync(directory, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Step by step: where a file system says "no such place" to every new directory (/proc does), Node's recursive way never ends. */
function makeDirectory(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const parent = dirname(directory);
  makeDirectory(parent);
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another process was quicker.
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
  flushDirectory(parent);
}

/** Makes the directory and an empty file in it, when they are missing; SQLite gives its side files the mode of the main one. */
export function prepareFile(directory: string, name: string): string {
  const file = join(directory, name);
  try {
    makeDirectory(directory);
    chmodSync(directory, 0o700);
    // A process that closes a file loses its locks on it, so one that is there is not opened.
    if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
    chmodSync(file, 0o600);
  } catch (error) {
    throw new HostError("state_unreadable", { directory, reason: reasonOf(error) }, { cause: error });
  }
  return file;
}

/** Writes a file atomically: beside its place, flushed, then renamed. Mode 0600. */
export function writeWhole(file: string, text: string): void {
  // One name for all times: what a killed process left is written over.
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
