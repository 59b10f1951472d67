/**
 * Changes one value of the configuration file. Comments are preserved, and invalid configurations are never written.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, realpathSync, renameSync } from "node:fs";
import { mkdir, open, readlink, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { HostError, reasonOf } from "../../contract/index.ts";
import { isRecord } from "../checking/validate.ts";
import { forbiddenKeys, getPath, parsePath, renderPath, type Segment } from "../path.ts";
import type { PluginSchemas } from "../plugin-schemas.ts";
import type { Problem } from "../problem.ts";
import { parseDocument } from "../reading/document.ts";
import { readConfigText } from "../reading/file.ts";
import { type CheckedConfig, checkConfig } from "../reading/load.ts";
import type { Environment } from "../secrets.ts";
import { editText, renameKey } from "./edit-text.ts";

export interface EditOptions {
  /** Environment for secrets that name a variable. Default: that of the process. */
  readonly env?: Environment;
  /** What the plugins declare. Without it, an error in what a plugin declares is not noticed. */
  readonly schemas?: PluginSchemas;
  /** Returns further problems of a configuration, such as those found by plugin schemas. */
  readonly check?: (config: CheckedConfig) => Promise<readonly Problem[]>;
}

export interface EditResult {
  /** False if the file already contained this value. */
  readonly changed: boolean;
  /** Warnings that the change introduced. A new error is thrown instead. */
  readonly problems: readonly Problem[];
}

/** Other programs may write at the same time. Each failed attempt means that another writer succeeded. */
const maxAttempts = 50;

/**
 * Sets the value at a dotted path, or removes it if `value` is `undefined`. Creates the file if necessary (mode 0600).
 * Throws `config_path_unknown` for an invalid path, `config_invalid` if the change would add an error, and
 * `config_syntax` if the file already has syntax errors. Concurrent edits of one file all take effect.
 */
export async function editConfig(
  file: string,
  path: string | readonly Segment[],
  value: unknown,
  options: EditOptions = {},
): Promise<EditResult> {
  const segments = typeof path === "string" ? parsePath(path) : path;
  if (
    segments === undefined ||
    segments.length === 0 ||
    segments.some((segment) => forbiddenKeys.has(String(segment)))
  ) {
    throw new HostError("config_path_unknown", {
      path: String(path),
      fix: 'Write it as a.b[0].c, or a["key with.dots"].',
    });
  }
  return await edit(file, (text, real) => change(text, real, segments, value), options);
}

/**
 * Renames a key, preserving its value, position and comments. Changes nothing if the key does not exist or the new name
 * is taken. Throws the same errors as `editConfig`.
 */
export async function renameConfigKey(
  file: string,
  path: readonly Segment[],
  name: string,
  options: EditOptions = {},
): Promise<EditResult> {
  return await edit(file, (text, real) => rename(text, real, path, name), options);
}

/**
 * Replaces the whole text if the file still contains `before`; resolves with whether it did. The new text is not
 * checked.
 */
export async function replaceConfig(file: string, before: string | undefined, after: string): Promise<boolean> {
  return await replaceFile(await realFile(resolve(file)), before, after);
}

export interface ConfigChange {
  readonly path: readonly Segment[];
  readonly value: unknown;
}

export interface ProposedConfig {
  /** `undefined` if there is no file. */
  readonly before: string | undefined;
  readonly after: string;
  /** Warnings that the changes introduce. A new error is thrown instead. */
  readonly problems: readonly Problem[];
}

/**
 * Makes several changes at once without writing them, for a person to look at; `replaceConfig` writes them. Throws the
 * same errors as `editConfig`.
 */
export async function proposeConfig(
  file: string,
  changes: readonly ConfigChange[],
  options: EditOptions = {},
): Promise<ProposedConfig> {
  const real = await realFile(resolve(file));
  const before = await readConfigText(real);
  const after = changes.reduce((text, { path, value }) => change(text, real, path, value), before ?? "");
  return { before, after, problems: await checkProposed({ before, after, file: real }, options) };
}

type Change = (text: string, file: string) => string;

async function edit(file: string, make: Change, options: EditOptions): Promise<EditResult> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const result = await tryEdit(await realFile(resolve(file)), make, options);
    if (result) return result;
  }
  throw new HostError("config_not_written", {
    file,
    reason: "other programs keep changing it",
    fix: "Try again when they have finished.",
  });
}

/** Attempts one edit; `undefined` if another program changed the file meanwhile. */
async function tryEdit(file: string, make: Change, options: EditOptions): Promise<EditResult | undefined> {
  const before = await readConfigText(file);
  const after = make(before ?? "", file);
  if (after === (before ?? "")) return { changed: false, problems: [] };
  const problems = await checkProposed({ before, after, file }, options);
  return (await replaceFile(file, before, after)) ? { changed: true, problems } : undefined;
}

/** The warnings that a new text introduces. Throws `config_invalid` if it introduces an error. */
export async function checkProposed(
  { before, after, file }: Pick<ProposedConfig, "before" | "after"> & { readonly file: string },
  options: EditOptions,
): Promise<readonly Problem[]> {
  const problems = await newProblems(before ?? "", after, file, options);
  const wrong = problems.find((problem) => problem.severity === "error");
  if (wrong)
    throw new HostError("config_invalid", {
      path: wrong.path,
      reason: wrong.message,
      fix: wrong.hint ?? "Nothing was written.",
      ...(wrong.line !== undefined && { line: wrong.line, column: wrong.column }),
    });
  return problems;
}

/**
 * Computes the new text. The result is parsed and compared, so that an unexpected layout causes an error instead of a
 * broken file.
 */
function change(text: string, file: string, path: readonly Segment[], value: unknown): string {
  const refuse = (reason: string): never => {
    throw new HostError("config_invalid", { path: renderPath(path), reason, fix: `Change ${file} by hand.` });
  };
  const byteOrderMark = text.startsWith("\ufeff") ? "\ufeff" : "";
  const before = parseDocument(text, file);
  const real = realSegments(before.value, path);
  let after: string;
  try {
    after = byteOrderMark + editText(text.slice(byteOrderMark.length), real, value);
  } catch (thrown) {
    return refuse(reasonOf(thrown));
  }
  const now = parseDocument(after, file);
  if (JSON.stringify(sorted(now.value)) !== JSON.stringify(sorted(withChange(before.value, real, value)))) {
    const twice = before.problems.some((problem) => problem.message.includes("twice"));
    return refuse(twice ? "a key in the path occurs twice in the file" : "the change cannot be made automatically");
  }
  return after;
}

function rename(text: string, file: string, path: readonly Segment[], name: string): string {
  const { value } = parseDocument(text, file);
  const parent = getPath(value, path.slice(0, -1));
  const key = String(path.at(-1));
  if (!isRecord(parent) || !Object.hasOwn(parent, key) || Object.hasOwn(parent, name) || forbiddenKeys.has(name))
    return text;
  const byteOrderMark = text.startsWith("\ufeff") ? "\ufeff" : "";
  const after = byteOrderMark + renameKey(text.slice(byteOrderMark.length), path, name);
  const now = getPath(parseDocument(after, file).value, path.slice(0, -1));
  const wanted = Object.fromEntries(Object.entries(parent).map(([each, inner]) => [each === key ? name : each, inner]));
  if (JSON.stringify(sorted(now)) === JSON.stringify(sorted(wanted))) return after;
  throw new HostError("config_invalid", {
    path: renderPath(path),
    reason: "the key cannot be renamed automatically",
    fix: `Change ${file} by hand.`,
  });
}

/** Applies the same change to the parsed value, for comparison. */
function withChange(value: unknown, path: readonly Segment[], next: unknown): unknown {
  const [segment, ...rest] = path;
  if (segment === undefined) return next;
  if (typeof segment === "number") {
    const list = Array.isArray(value) ? value : [];
    if (next === undefined && rest.length === 0) return list.filter((_, index) => index !== segment);
    return Object.assign([...list], { [segment]: withChange(list[segment], rest, next) });
  }
  const inner = isRecord(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
  if (inner === undefined && next === undefined) return value;
  return { ...(isRecord(value) ? value : {}), [segment]: withChange(inner, rest, next) };
}

/** Treats digits as an index where the file has a list. */
function realSegments(value: unknown, path: readonly Segment[]): readonly Segment[] {
  return path.map((segment, depth) => {
    const parent = getPath(value, path.slice(0, depth));
    if (Array.isArray(parent) && /^[0-9]+$/.test(String(segment))) return Number(segment);
    return isRecord(parent) ? String(segment) : segment;
  });
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .filter((key) => value[key] !== undefined)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

async function newProblems(
  before: string,
  after: string,
  file: string,
  options: EditOptions,
): Promise<readonly Problem[]> {
  const problemsOf = async (text: string) => {
    const checked = checkConfig({ text, file, env: options.env ?? process.env, schemas: options.schemas });
    return [...checked.problems, ...((await options.check?.(checked)) ?? [])];
  };
  const known = new Set((await problemsOf(before)).map(identity));
  return (await problemsOf(after)).filter((problem) => !known.has(identity(problem)));
}

const identity = ({ severity, path, message }: Problem) => JSON.stringify([severity, path, message]);

/** Resolves symbolic links, even if their target does not exist yet. */
async function realFile(file: string): Promise<string> {
  try {
    return realpathSync(file);
  } catch {
    const target = await readlink(file).catch(() => undefined);
    return target === undefined ? file : resolve(dirname(file), target);
  }
}

/**
 * Writes a temporary file, flushes it and renames it. Returns false, without changes, if the file differs from what was
 * read.
 */
async function replaceFile(file: string, before: string | undefined, after: string): Promise<boolean> {
  const directory = dirname(file);
  const temporary = join(directory, `.${basename(file)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    if (before === undefined) await mkdir(directory, { recursive: true, mode: 0o700 });
    const like = await stat(before === undefined ? directory : file);
    const mode = before === undefined ? 0o600 : like.mode & 0o777;
    const handle = await open(temporary, "wx", mode);
    try {
      await handle.chmod(mode);
      // An administrator edits as root what a gateway with a user of its own must be able to read.
      if (process.geteuid?.() === 0) await handle.chown(like.uid, like.gid);
      await handle.writeFile(after);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // The comparison and the rename happen without interruption in this process. Of two edits based on the same text,
    // the second therefore sees the first.
    if (currentText(file) !== before) {
      await rm(temporary, { force: true });
      return false;
    }
    renameSync(temporary, file);
  } catch (thrown) {
    await rm(temporary, { force: true }).catch(() => {});
    const fix = "Check the owner and mode of its directory, and the free space on the disk.";
    throw new HostError("config_not_written", { file, reason: reasonOf(thrown), fix }, { cause: thrown });
  }
  await flushDirectory(directory);
  return true;
}

function currentText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw thrown;
  }
}

async function flushDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r").catch(() => undefined);
  // Some file systems cannot flush a directory. The rename itself succeeded.
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
