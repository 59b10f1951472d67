import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The repository, for tests that read it. */
export const root = join(import.meta.dirname, "..", "..");

/** Paths below the repository that match, sorted, with `/`; what is installed or built is left out. */
export function sources(...patterns: readonly string[]): readonly string[] {
  return globSync([...patterns], { cwd: root })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !/(^|\/)(node_modules|dist|coverage)\//.test(path))
    .sort();
}

export const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** A TypeScript text without its comments; lines keep their numbers. */
export function withoutComments(text: string): string {
  const blank = (comment: string) => comment.replace(/[^\n]/g, " ");
  return text.replace(/\/\*[\s\S]*?\*\//g, blank).replace(/(^|\s)\/\/[^\n]*/g, blank);
}

/** Lines of a text that match, as `path:line: text`. */
export function linesMatching(path: string, text: string, pattern: RegExp): readonly string[] {
  return text
    .split("\n")
    .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : []));
}
