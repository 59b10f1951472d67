/** Where in the files of a plugin something is: of an error, and of a name in its code. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Place } from "./finding.ts";

const position = /((?:file:\/\/)?[^\s()'"]+\.[cm]?[jt]sx?):(\d+)(?::\d+)?/g;

/** The first place inside the folder that an error, or one behind it, names. */
export function placeOfError(thrown: unknown, folder: string): Place | undefined {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    for (const [, named = "", line = ""] of `${error.message}\n${error.stack ?? ""}`.matchAll(position)) {
      const file = named.startsWith("file://") ? fileURLToPath(named) : named;
      if (isOwn(file, folder) && existsSync(file)) return { file, line: Math.max(1, Number(line)) };
    }
  }
  return undefined;
}

const isOwn = (file: string, folder: string) =>
  file.startsWith(folder + sep) && !file.slice(folder.length).includes(`${sep}node_modules${sep}`);

/**
 * The first line that matches, in the entry and then in the other sources beside it; else that of the default export.
 */
export function placeOfText(pattern: RegExp, entry: string): Place {
  return findText(pattern, entry) ?? findText(/^export default/, entry) ?? { file: entry, line: 1 };
}

function findText(pattern: RegExp, entry: string): Place | undefined {
  const beside = globSync("**/*.{ts,mts,js,mjs}", {
    cwd: dirname(entry),
    exclude: (path) => path.includes("node_modules"),
  }).map((path) => join(dirname(entry), path));
  for (const file of new Set([entry, ...beside.sort()])) {
    const line = readFileSync(file, "utf8")
      .split("\n")
      .findIndex((text) => pattern.test(text));
    if (line >= 0) return { file, line: line + 1 };
  }
  return undefined;
}

/** A text as part of a regular expression. */
export const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Where a key of an object is written. */
export const placeOfKey = (key: string, entry: string): Place =>
  placeOfText(new RegExp(`^\\s*["']?${literal(key)}["']?\\s*:`), entry);
