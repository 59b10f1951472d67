/**
 * When a running gateway's file is edited and a value is wrong, the sections with errors keep their last valid state.
 */

import { isRecord } from "../checking/validate.ts";
import { getPath, parsePath, renderPath, type Segment } from "../path.ts";
import type { PluginSchemas } from "../plugin-schemas.ts";
import type { Problem } from "../problem.ts";
import type { Environment } from "../secrets.ts";
import { type CheckedConfig, checkConfig } from "./load.ts";

export interface LastGood {
  /** The configuration to use. Its line numbers refer to the new file. */
  readonly checked: CheckedConfig;
  /** Sections that keep their previous state. */
  readonly unchanged: readonly string[];
  /** Errors of the new file whose only effect is that their section was not updated. */
  readonly refused: readonly Problem[];
}

interface Options {
  readonly env: Environment;
  readonly schemas?: PluginSchemas | undefined;
  /** Returns all problems of a configuration, including those that only plugins detect. */
  readonly problemsOf: (checked: CheckedConfig) => Promise<readonly Problem[]>;
}

/** Combines the new file with the last valid sections; `undefined` if no section could be kept. */
export async function keepLastGood(
  fresh: CheckedConfig,
  last: CheckedConfig,
  options: Options,
): Promise<LastGood | undefined> {
  const { env, schemas, problemsOf } = options;
  const errors = errorsOf(await problemsOf(fresh));
  if (errors.length === 0) return undefined;
  const errorsBefore = errorsOf(await problemsOf(last));
  const before = new Set(errorsBefore.map(sectionOf));
  const broken = [...new Set(errors.map(sectionOf))];
  // Keeping a section also keeps everything below it.
  const outer = broken.filter((section) => !broken.some((other) => other !== section && isBelow(section, other)));
  const unchanged = outer.filter((section) => !before.has(section) && stay(fresh, last, section, before) !== undefined);
  if (unchanged.length === 0) return undefined;
  const written = unchanged.reduce(
    (value, section) => stay({ written: value }, last, section, before) ?? value,
    fresh.written,
  );
  const checked = checkConfig({
    text: JSON.stringify(written),
    file: fresh.file,
    env,
    schemas,
    override: fresh.override,
  });
  const refused = errors.filter((problem) =>
    unchanged.some((section) => sectionOf(problem) === section || isBelow(sectionOf(problem), section)),
  );
  const known = new Set([...errors.filter((problem) => !refused.includes(problem)), ...errorsBefore].map(identity));
  // If old and new sections contradict each other, the whole edit is rejected.
  if (errorsOf(await problemsOf(checked)).some((problem) => !known.has(identity(problem)))) {
    return { checked: { ...last, locate: fresh.locate }, unchanged: ["the whole configuration"], refused: errors };
  }
  const problems = checked.problems.map(({ line: _line, column: _column, ...problem }) => ({
    ...problem,
    ...fresh.locate(problem.path),
  }));
  return { checked: { ...checked, problems, locate: fresh.locate }, unchanged, refused };
}

const errorsOf = (problems: readonly Problem[]) => problems.filter(({ severity }) => severity === "error");

const identity = ({ path, message }: Problem) => JSON.stringify([path, message]);

/**
 * The section that an error affects: the one it disables, else its top-level key. An error that disables nothing, such
 * as a transform whose file is missing, affects its mapping only.
 */
function sectionOf({ section, path }: Problem): string {
  if (section !== undefined) return section;
  const [top = path, list, index] = parsePath(path) ?? [];
  return top === "hooks" && list === "mappings" && index !== undefined ? renderPath([top, list, index]) : String(top);
}

const isBelow = (inner: string, outer: string): boolean =>
  inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);

/** The file's value with one section restored; `undefined` if the section did not exist before. */
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
  // A new account, channel or mapping has no previous state and is simply disabled.
  if (old === undefined && at.length > 1) return undefined;
  return replaced(fresh.written, at, old);
}

/** The previous position of a mapping: the one with the same id, else with the same path. */
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
