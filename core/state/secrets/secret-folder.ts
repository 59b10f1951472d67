/** Secrets in a folder of the state directory, each in a file of its own that only the owner can read. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeDirectory, writeWhole } from "../directory.ts";

/** The folder in the directory of a channel's account. Backups leave it out unless they contain secrets. */
export const accountSecretsFolder = "secrets";

const fileName = /^[A-Za-z0-9@_-][A-Za-z0-9@._-]{0,127}$/;

export interface SecretFolder {
  /** The path of the file, whether or not it exists. Throws the error of `refuse` for a name that no file can have. */
  path(name: string): string;
  /** `undefined` if there is none. */
  read(name: string): string | undefined;
  /** Replaces the file in one step, and returns its path. */
  write(name: string, text: string): string;
  remove(name: string): boolean;
  /** The texts of all files. */
  all(): readonly string[];
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";

/** `refuse` makes the error for a name. */
export function openSecretFolder(directory: string, refuse: (name: string) => Error): SecretFolder {
  function path(name: string): string {
    if (typeof name !== "string" || !fileName.test(name)) throw refuse(String(name));
    return join(directory, name);
  }
  function unlessMissing<T>(work: () => T, missing: T): T {
    try {
      return work();
    } catch (error) {
      if (isMissing(error)) return missing;
      throw error;
    }
  }
  return {
    path,
    read: (name) => unlessMissing(() => readFileSync(path(name), "utf8"), undefined),
    write(name, text) {
      const file = path(name);
      makeDirectory(directory);
      writeWhole(file, text);
      return file;
    },
    remove: (name) =>
      unlessMissing(() => {
        rmSync(path(name));
        return true;
      }, false),
    all: () =>
      unlessMissing(() => readdirSync(directory), [])
        // What a killed process left of a write is not complete.
        .filter((name) => fileName.test(name) && !name.endsWith(".new"))
        .flatMap((name) => unlessMissing(() => [readFileSync(join(directory, name), "utf8")], [])),
  };
}
