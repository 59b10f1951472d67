/** Where in the files of a plugin an error comes from. */
import { readFileSync } from "node:fs";
import { dirname, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { HostError } from "../contract/index.ts";
import type { PluginSource } from "./find.ts";

export interface Place {
  readonly file: string;
  readonly line?: number;
}

/** What a declaration begins with. */
const declaration = /\bdefine(?:Plugin|Channel|Engine|Preset)\s*\(|\bexport\s+default\b/;

/** The place that the error names, else the part of the declaration that is wrong, else the declaration. */
export function placeOf(
  error: unknown,
  { file, folder = dirname(file) }: Pick<PluginSource, "file" | "folder">,
): Place | undefined {
  const isOwn = (path: string) =>
    path.startsWith(folder + sep) && !path.slice(folder.length).includes(`${sep}node_modules${sep}`);
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const found = importPlace(cause, isOwn) ?? namedPlace(`${cause.message}\n${cause.stack ?? ""}`, isOwn);
    if (found !== undefined) return found;
  }
  return declaredPlace(file, error instanceof HostError ? fieldOf(error) : undefined);
}

/** In a message of the transpiler, or the first frame of the stack that is the plugin's. */
function namedPlace(text: string, isOwn: (path: string) => boolean): Place | undefined {
  for (const [, path = "", line] of text.matchAll(/((?:file:\/\/)?\/[^\s():]+|[A-Za-z]:\\[^\s():]+):(\d+):\d+/g)) {
    const file = path.startsWith("file:") ? fileURLToPath(path) : path;
    if (isOwn(file)) return { file, line: Number(line) };
  }
  return undefined;
}

/** The import that does not lead anywhere. */
function importPlace(
  { message, requireStack }: Error & { readonly requireStack?: unknown },
  isOwn: (path: string) => boolean,
) {
  const [file] = Array.isArray(requireStack) ? requireStack : [];
  const [, name] = /'([^']+)'/.exec(message) ?? [];
  if (typeof file !== "string" || name === undefined || !isOwn(file)) return undefined;
  return lineIn(file, (line) => line.includes(`"${name}"`) || line.includes(`'${name}'`));
}

function fieldOf({ code, details }: HostError): string | undefined {
  if (typeof details.field === "string") return details.field;
  if (code === "plugin_range") return "host";
  if (code === "plugin_requires") return "requires";
  return code === "plugin_options" ? "options" : undefined;
}

function declaredPlace(file: string, field: string | undefined): Place {
  const begins = lineIn(file, (line) => declaration.test(line));
  if (field === undefined) return begins;
  const key = new RegExp(`(?:^|[\\s{,])${field}\\s*[:(,]`);
  const { line } = lineIn(file, (text, number) => number >= (begins.line ?? 1) && key.test(text));
  return line === undefined ? begins : { file, line };
}

function lineIn(file: string, is: (line: string, number: number) => boolean): Place {
  try {
    const index = readFileSync(file, "utf8")
      .split("\n")
      .findIndex((line, at) => is(line, at + 1));
    return index === -1 ? { file } : { file, line: index + 1 };
  } catch {
    return { file };
  }
}
