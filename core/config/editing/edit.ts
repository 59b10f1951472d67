/** Changes one value of the configuration file; every comment stays, and nothing is written that would be wrong. */
import { randomBytes } from "node:crypto";
import { readFileSync, realpathSync, renameSync } from "node:fs";
import { mkdir, open, readlink, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { HostError, reasonOf } from "../../contract/index.ts";
import { isRecord } from "../checking/validate.ts";
import { forbiddenKeys, getPath, parsePath, renderPath, type Segment } from "../path.ts";
import type { Problem } from "../problem.ts";
import { parseDocument } from "../reading/document.ts";
import { readConfigText } from "../reading/file.ts";
import { type CheckedConfig, checkConfig } from "../reading/load.ts";
import type { Environment } from "../secrets.ts";
import { editText, renameKey } from "./edit-text.ts";

export interface EditOptions {
  /** For secrets that name a variable. Default: the process's. */
  readonly env?: Environment;
  /** More problems of a configuration, such as those that the schemas of plugins find. */
  readonly check?: (config: CheckedConfig) => readonly Problem[];
}

export interface EditResult {
  /** False when the file already said so. */
  readonly changed: boolean;
  /** What the change made new: warnings only, an error is thrown. */
  readonly problems: readonly Problem[];
}

/** Other programs may write at the same time; each of our attempts that fails means that another one succeeded. */
const maxAttempts = 50;

/**
 * Sets the value at a dotted path, or removes it when `value` is `undefined`. The file is made when it does not exist (mode 0600).
 * Throws `config_path_unknown` for an invalid path, `config_invalid` when the change would bring a new error, `config_syntax` when
 * the file is broken already. Concurrent edits of one file all take effect.
 */
export async function editConfig(
  file: string,
  path: string | readonly Segment[],
  value: unknown,
  options: EditOptions = {},
): Promise<EditResult> {
  const segments = typeof path === "string" ? parsePath(path) : path;
  if (segments === undefined || segments.length === 0 || segments.some((segment) => forbiddenKeys.has(String(segment)))) {
    throw new HostError("config_path_unknown", { path: String(path), fix: 'Write it as a.b[0].c, or a["key with.dots"].' });
  }
  return await edit(file, (text, real) => change(text, real, segments, value), options);
}

/**
 * Gives a key another name; its value, its place and every comment stay. Nothing changes when the key is not there, or when there is one of
 * the new name. Throws as `editConfig` does.
 */
export async function renameConfigKey(
  file: string,
  path: readonly Segment[],
  name: string,
  options: EditOptions = {},
): Promise<EditResult> {
  return await edit(file, (text, real) => rename(text, real, path, name), options);
}

type Change = (text: string, file: string) => string;

async function edit(file: string, make: Change, options: EditOptions): Promise<EditResult> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const result = await tryEdit(await realFile(resolve(file)), make, options);
    if (result) return result;
  }
  throw new HostError("config_unreadable", { file, reason: "other programs keep changing it" });
}

/** `undefined` when the file was changed by another program in the meantime. */
async function tryEdit(file: string, make: Change, options: EditOptions): Promise<EditResult | undefined> {
  const before = await readConfigText(file);
  const after = make(before ?? "", file);
  if (after === (before ?? "")) return { changed: false, problems: [] };
  const problems = newProblems(before ?? "", after, file, options);
  const wrong = problems.find((problem) => problem.severity === "error");
  if (wrong) throw new HostError("config_invalid", { path: wrong.path, reason: wrong.message, fix: wrong.hint ?? "Nothing was written." });
  return (await replaceFile(file, before, after)) ? { changed: true, problems } : undefined;
}

/** The new text. It is read again and compared, so that a surprise in the file's layout is an error and not a broken file. */
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
    return refuse(twice ? "a key on the way stands twice in the file" : "the change cannot be made automatically");
  }
  return after;
}

function rename(text: string, file: string, path: readonly Segment[], name: string): string {
  const { value } = parseDocument(text, file);
  const parent = getPath(value, path.slice(0, -1));
  const key = String(path.at(-1));
  if (!isRecord(parent) || !Object.hasOwn(parent, key) || Object.hasOwn(parent, name) || forbiddenKeys.has(name)) return text;
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

/** The same change to the value, for comparison. */
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

/** Digits mean an index where the file has a list. */
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

function newProblems(before: string, after: string, file: string, options: EditOptions): readonly Problem[] {
  const problemsOf = (text: string) => {
    const checked = checkConfig({ text, file, env: options.env ?? process.env });
    return [...checked.problems, ...(options.check?.(checked) ?? [])];
  };
  const known = new Set(problemsOf(before).map(identity));
  return problemsOf(after).filter((problem) => !known.has(identity(problem)));
}

const identity = ({ severity, path, message }: Problem) => JSON.stringify([severity, path, message]);

/** The file behind symbolic links, which need not exist yet. */
async function realFile(file: string): Promise<string> {
  try {
    return realpathSync(file);
  } catch {
    const target = await readlink(file).catch(() => undefined);
    return target === undefined ? file : resolve(dirname(file), target);
  }
}

/** Temporary file, flush, rename. False, and nothing done, when the file no longer is as it was read. */
async function replaceFile(file: string, before: string | undefined, after: string): Promise<boolean> {
  const directory = dirname(file);
  const temporary = join(directory, `.${basename(file)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    if (before === undefined) await mkdir(directory, { recursive: true, mode: 0o700 });
    const mode = before === undefined ? 0o600 : (await stat(file)).mode & 0o777;
    const handle = await open(temporary, "wx", mode);
    try {
      await handle.chmod(mode);
      await handle.writeFile(after);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Both in one step of this process: of two edits that read the same text, the second one sees the first.
    if (currentText(file) !== before) {
      await rm(temporary, { force: true });
      return false;
    }
    renameSync(temporary, file);
  } catch (thrown) {
    await rm(temporary, { force: true });
    throw new HostError("config_unreadable", { file, reason: reasonOf(thrown) }, { cause: thrown });
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
  // Some file systems refuse to flush a directory; the rename itself was done.
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
