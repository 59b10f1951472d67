/** The text of a new configuration: short, with comments for the operator. */
import { isRecord } from "../../config/checking/validate.ts";
import { setPath } from "../../config/path.ts";
import { programCommand } from "../../contract/command.ts";
import type { Wanted } from "./setup.ts";

const head = [
  `// Written by \`${programCommand} init\`; it is yours. Most changes take effect at once, without a restart.`,
  `// \`${programCommand} config validate\` checks it, and \`${programCommand} init\` can be run again.`,
];

/** A value that fits is written on one line. */
const widest = 100;

export function renderNewFile(wanted: readonly Wanted[]): string {
  const value = {};
  const comments = new Map<string, string>();
  for (const { path, value: set, comment } of wanted) {
    if (set === undefined) continue;
    setPath(value, path, set);
    if (comment !== undefined) comments.set(JSON.stringify(path), comment);
  }
  return [...head, ...linesOf(value, [], comments), ""].join("\n");
}

function linesOf(
  value: Readonly<Record<string, unknown>>,
  at: readonly string[],
  comments: ReadonlyMap<string, string>,
): readonly string[] {
  const entries = Object.entries(value);
  const inner = entries.flatMap(([key, item], index) => {
    const path = [...at, key];
    const hoisted = onlyComment(item, path, comments);
    const comment = comments.get(JSON.stringify(path)) ?? hoisted;
    const comma = index < entries.length - 1 ? "," : "";
    const above = comment === undefined ? [] : [`// ${comment}`];
    const short = `${JSON.stringify(key)}: ${inline(item)}${comma}`;
    if (!isRecord(item) || (short.length <= widest && (hoisted !== undefined || !hasComments(path, comments))))
      return [...above, short];
    const [open = "{", ...rest] = linesOf(item, path, comments);
    const lines = [`${JSON.stringify(key)}: ${open}`, ...rest];
    return [...above, ...lines.slice(0, -1), `${lines.at(-1)}${comma}`];
  });
  return ["{", ...inner.map((line) => `  ${line}`), "}"];
}

/** The comment of the only value somewhere below, which can be above the line that contains all of it. */
function onlyComment(
  item: unknown,
  path: readonly string[],
  comments: ReadonlyMap<string, string>,
): string | undefined {
  const [only, ...others] = isRecord(item) ? Object.entries(item) : [];
  if (only === undefined || others.length > 0) return undefined;
  const below = [...path, only[0]];
  return comments.get(JSON.stringify(below)) ?? onlyComment(only[1], below, comments);
}

function hasComments(path: readonly string[], comments: ReadonlyMap<string, string>): boolean {
  const start = `${JSON.stringify(path).slice(0, -1)},`;
  return [...comments.keys()].some((key) => key.startsWith(start));
}

/** As people write it: with spaces inside braces. */
function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const items = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${inline(item)}`);
  return items.length === 0 ? "{}" : `{ ${items.join(", ")} }`;
}
