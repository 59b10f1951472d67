/** A file with a wrong value, edited while the gateway runs: the sections with the error stay as they last were in force. */

import { isRecord } from "../checking/validate.ts";
import { getPath, parsePath, type Segment } from "../path.ts";
import type { Problem } from "../problem.ts";
import type { Environment } from "../secrets.ts";
import { type CheckedConfig, checkConfig } from "./load.ts";

export interface LastGood {
  /** What is to be in force. Lines are those of the new file. */
  readonly checked: CheckedConfig;
  /** Sections that stay as they were. */
  readonly kept: readonly string[];
  /** The errors of the new file that cost nothing but the edit. */
  readonly refused: readonly Problem[];
}

interface Options {
  readonly env: Environment;
  /** Everything that is wrong with a configuration, also what only plugins know. */
  readonly problemsOf: (checked: CheckedConfig) => readonly Problem[];
}

/** `undefined`: every section of the new file that has an error had none that could stay. */
export function keepLastGood(fresh: CheckedConfig, last: CheckedConfig, { env, problemsOf }: Options): LastGood | undefined {
  const errors = errorsOf(problemsOf(fresh));
  if (errors.length === 0) return undefined;
  const before = new Set(errorsOf(problemsOf(last)).map(sectionOf));
  const broken = [...new Set(errors.map(sectionOf))];
  // A section that stays takes all that is below it along.
  const outer = broken.filter((section) => !broken.some((other) => other !== section && isBelow(section, other)));
  const kept = outer.filter((section) => !before.has(section) && stay(fresh, last, section, before) !== undefined);
  if (kept.length === 0) return undefined;
  const written = kept.reduce((value, section) => stay({ written: value }, last, section, before) ?? value, fresh.written);
  const checked = checkConfig({ text: JSON.stringify(written), file: fresh.file, env });
  const refused = errors.filter((problem) =>
    kept.some((section) => sectionOf(problem) === section || isBelow(sectionOf(problem), section)),
  );
  const known = new Set([...errors.filter((problem) => !refused.includes(problem)), ...errorsOf(problemsOf(last))].map(identity));
  // Old and new sections may contradict each other: then nothing of the edit counts.
  if (errorsOf(problemsOf(checked)).some((problem) => !known.has(identity(problem)))) {
    return { checked: { ...last, locate: fresh.locate }, kept: ["the whole configuration"], refused: errors };
  }
  const problems = checked.problems.map(({ line: _line, column: _column, ...problem }) => ({ ...problem, ...fresh.locate(problem.path) }));
  return { checked: { ...checked, problems, locate: fresh.locate }, kept, refused };
}

const errorsOf = (problems: readonly Problem[]) => problems.filter(({ severity }) => severity === "error");

const identity = ({ path, message }: Problem) => JSON.stringify([path, message]);

/** What an error costs: the section that it switches off, else the whole of its top-level key. */
function sectionOf({ section, path }: Problem): string {
  return section ?? String(parsePath(path)?.[0] ?? path);
}

const isBelow = (inner: string, outer: string): boolean => inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);

/** The file's value with one section as it was; `undefined` when there was no such section to keep. */
function stay(
  fresh: { readonly written: unknown },
  last: Pick<CheckedConfig, "written">,
  section: string,
  before: ReadonlySet<string>,
): unknown {
  const at = parsePath(section) ?? [];
  const from = at[0] === "hooks" && at[1] === "mappings" ? mappingPlace(fresh.written, last.written, at) : at;
  if (from === undefined || before.has(`hooks.mappings[${String(from[2])}]`)) return undefined;
  const old = getPath(last.written, from);
  // A new account, channel or mapping was not there before: it is off alone.
  if (old === undefined && at.length > 1) return undefined;
  return replaced(fresh.written, at, old);
}

/** Where the mapping stood: of the same id, else for the same path. */
function mappingPlace(fresh: unknown, last: unknown, at: readonly Segment[]): readonly Segment[] | undefined {
  const name = nameOf(getPath(fresh, at));
  const list = getPath(last, ["hooks", "mappings"]);
  const index = name === undefined || !Array.isArray(list) ? -1 : list.findIndex((mapping) => nameOf(mapping) === name);
  return index === -1 ? undefined : ["hooks", "mappings", index];
}

function nameOf(mapping: unknown): string | undefined {
  const id = getPath(mapping, ["id"]);
  const path = getPath(mapping, ["match", "path"]);
  if (typeof id === "string") return `id ${id}`;
  return typeof path === "string" ? `path ${path}` : undefined;
}

function replaced(value: unknown, [segment, ...rest]: readonly Segment[], next: unknown): unknown {
  if (segment === undefined) return next;
  if (Array.isArray(value)) return value.map((item, index) => (index === segment ? replaced(item, rest, next) : item));
  const { [String(segment)]: inner, ...others } = isRecord(value) ? value : {};
  const changed = replaced(inner, rest, next);
  return changed === undefined ? others : { ...others, [segment]: changed };
}
