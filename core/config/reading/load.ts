/** Loads a file into a usable configuration and a list of all its problems. */

import { dirname, resolve } from "node:path";
import { HostError } from "../../contract/index.ts";
import { checkChannels } from "../checking/channels.ts";
import { checkModels } from "../checking/model-rules.ts";
import { checkRules } from "../checking/rules.ts";
import { unexpanded } from "../checking/unexpanded.ts";
import { checkValue, isRecord, type PlacedProblem } from "../checking/validate.ts";
import { type DamagedDocument, parseDamaged } from "../damaged.ts";
import { forbiddenKeys, getPath, parsePath, renderPath, type Segment } from "../path.ts";
import { type PluginSchemas, withDeclared } from "../plugin-schemas.ts";
import type { Problem } from "../problem.ts";
import { configSchema, type Draft, type GatewayConfig } from "../schema.ts";
import { isMap, nodeOf } from "../schema-node.ts";
import { createSecrets, type Environment } from "../secrets.ts";
import { digestOf } from "./digest.ts";
import { type ConfigDocument, type Position, parseDocument } from "./document.ts";
import { readConfigText } from "./file.ts";

/**
 * Changes what was read from the file, each time that it is read, such as a port that was given on the command line.
 * Nothing of it is written to the file.
 */
export type ConfigOverride = (written: unknown) => unknown;

export interface LoadedConfig {
  /** Errors of the file in sections that keep their last valid state. */
  readonly refused?: readonly Problem[];
  readonly file: string;
  /** False if the default file does not exist, so that all settings have their defaults. */
  readonly found: boolean;
  /** Digest of the file's text, so that a watcher knows what was loaded; empty without a file. */
  readonly digest: string;
  /** Directory of the file. Relative paths in the configuration start here. */
  readonly directory: string;
  readonly config: GatewayConfig;
  readonly problems: readonly Problem[];
  /**
   * Sections disabled by an error: `hooks`, `hooks.mappings[n]`, `channels.<id>`, `channels.<id>.accounts.<id>`,
   * `plugins.entries.<id>`, and the section of a plugin, or one entry of it where it is a map.
   */
  readonly disabled: ReadonlySet<string>;
  /** The file's own value, unchecked. */
  readonly written: unknown;
  readonly override?: ConfigOverride | undefined;
  /** The file has no value: it is blank or contains only comments. */
  readonly isEmpty: boolean;
  /**
   * The configuration before errors disabled sections, so that all their problems can be reported at once. Never run
   * it.
   */
  readonly checkable: GatewayConfig;
  /** Position of a value in the file, or of its nearest parent. An account's value may be set at the channel's root. */
  locate(path: string): Position | undefined;
  /** Checks the same text again; see `withSchemas`. */
  recheck(schemas: PluginSchemas): CheckedConfig;
}

/**
 * Reads and checks the file. Throws `HostError` `config_missing`, `config_unreadable` or `config_syntax`. Any other
 * error becomes a problem, and the default (or a more restrictive value) replaces the wrong value.
 */
export async function loadConfig(options: {
  readonly file: string;
  readonly named?: boolean;
  readonly env: Environment;
  readonly schemas?: PluginSchemas | undefined;
  readonly override?: ConfigOverride | undefined;
}): Promise<LoadedConfig> {
  const file = resolve(options.file);
  const text = await readConfigText(file);
  if (text === undefined && options.named !== false) throw new HostError("config_missing", { file });
  const found = text !== undefined;
  const { env, schemas, override } = options;
  const checked = checkConfig({ text: text ?? "", file, env, schemas, override });
  return { ...checked, ...(found && checked.isEmpty && { problems: [emptyFile] }), found, digest: digestOf(text) };
}

/**
 * The same configuration, checked by what plugins declare as well. Before that, the keys that a plugin may declare are
 * as they are in the file: which plugins there are is known only from the configuration.
 */
export function withSchemas<T extends CheckedConfig>(checked: T, schemas: PluginSchemas): T {
  const { problems, ...again } = checked.recheck(schemas);
  return { ...checked, ...again, problems: checked.isEmpty ? checked.problems : problems, locate: checked.locate };
}

/**
 * Throws `config_empty` if a file that had a value has none now. Programs that write to the file itself empty it first,
 * and may take a while: `sops -d secret > config.jsonc`.
 */
export function requireValue({ file, isEmpty }: LoadedConfig, before: Pick<LoadedConfig, "isEmpty">): void {
  if (isEmpty && !before.isEmpty) throw new HostError("config_empty", { file });
}

/** A program may have emptied the file, which a running gateway refuses (`config_empty`). */
const emptyFile: Problem = {
  severity: "warning",
  path: "",
  message: "the file contains no configuration, so every setting has its default",
  hint: "If that is intended, write {} to it.",
};

/** The result of checking a text, whatever its source. */
export type CheckedConfig = Omit<LoadedConfig, "found" | "digest" | "refused">;

/** Checks a text like `loadConfig` does, for example before it is written. */
export function checkConfig(from: ConfigSource): CheckedConfig {
  return checkDocument(parseDocument(from.text, from.file), from, { complete: true });
}

/**
 * Finds further problems in a text with syntax errors, for people who repair it. Never run the result. `isSound` and
 * `isRead` are for the checks that follow. `undefined` if nothing can be read.
 */
export function checkDamaged(
  from: ConfigSource,
): ({ readonly checked: CheckedConfig } & Pick<DamagedDocument, "isSound" | "isRead">) | undefined {
  const damaged = parseDamaged(from.text);
  if (damaged === undefined) return undefined;
  const { document, faults, complete, isSound, isRead } = damaged;
  const checked = checkDocument(document, from, { complete });
  const problems = [...faults, ...checked.problems.filter(isSound)].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  return { checked: { ...checked, problems }, isSound, isRead };
}

interface ConfigSource {
  readonly text: string;
  readonly file: string;
  readonly env: Environment;
  /** What plugins declare; absent while it is not known. */
  readonly schemas?: PluginSchemas | undefined;
  readonly override?: ConfigOverride | undefined;
}

/** `complete: false` means that values are missing, so that rules between values would report false problems. */
function checkDocument(
  document: ConfigDocument,
  from: ConfigSource,
  { complete }: { readonly complete: boolean },
): CheckedConfig {
  const directory = dirname(from.file);
  const { schemas, override } = from;
  const schema = withDeclared(schemas, presetsIn(document.value));
  const { value, problems, indexOf } = checkValue(schema, override?.(document.value) ?? document.value, []);
  const draft = value as Draft;
  const secrets = createSecrets({ env: from.env, directory });
  // A rule about a dropped value would only repeat that it is wrong.
  const isNew = ({ at }: PlacedProblem) => !problems.some((one) => one.severity === "error" && isAbove(one.at, at));
  const { channels: _, ...beside } = isRecord(document.value) ? document.value : {};
  const all = [
    ...problems,
    ...checkChannels(draft.channels),
    ...(complete
      ? [
          ...checkRules(draft, { directory, secrets, indexOf }),
          ...checkModels(draft, { secrets, indexOf, isWritten: (at) => document.has(at) }),
        ].filter(isNew)
      : []),
    ...unexpanded(beside, [], schema),
  ];
  const placed = [...document.problems, ...all.map((problem) => place(problem, document, schemas?.sections))];
  const disabled = new Set(placed.flatMap((problem) => problem.section ?? []));
  const checkable = deepFreeze(structuredClone(draft)) as GatewayConfig;
  switchOff(draft, disabled, schemas?.sections);
  return {
    file: from.file,
    directory,
    written: document.value,
    override,
    isEmpty: document.isEmpty,
    config: deepFreeze(draft) as GatewayConfig,
    checkable,
    problems: placed.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)),
    disabled,
    locate: (path) => locateLoosely(document, parsePath(path) ?? []),
    recheck: (declared) => checkDocument(document, { ...from, schemas: declared }, { complete }),
  };
}

/**
 * The names of the presets in the file, whose settings are in `hooks` under these names. Their plugins may be missing.
 */
function presetsIn(value: unknown): readonly string[] {
  const named = getPath(value, ["hooks", "presets"]);
  return Array.isArray(named)
    ? named.filter((name): name is string => typeof name === "string" && !forbiddenKeys.has(name))
    : [];
}

const isAbove = (at: readonly Segment[], inner: readonly Segment[]) =>
  at.every((segment, index) => segment === inner[index]);

type Sections = PluginSchemas["sections"];

function place(problem: PlacedProblem, document: ConfigDocument, sections: Sections): Problem {
  const { at, ...rest } = problem;
  const section = problem.severity === "error" ? (problem.section ?? sectionOf(at, sections)) : undefined;
  return { ...rest, ...(section === undefined ? {} : { section }), ...document.locate(at) };
}

/**
 * The section that an error disables; `undefined` for the rest of the configuration, where a default replaces the
 * value.
 */
function sectionOf(at: readonly Segment[], sections: Sections = {}): string | undefined {
  // An invalid mapping is left out alone; if an entry is not even an object, it is unknown which mapping was meant.
  if (at[0] === "hooks") return at[1] === "mappings" && at.length > 3 ? renderPath(at.slice(0, 3)) : "hooks";
  // A mistake in one account does not stop the others. A mistake in options that all accounts inherit stops the
  // channel.
  if (at[0] === "channels" && at.length > 1)
    return renderPath(at.slice(0, at[2] === "accounts" && at.length > 3 ? 4 : 2));
  if (at[0] === "plugins" && at[1] === "entries" && at.length > 2) return renderPath(at.slice(0, 3));
  const [key = ""] = at;
  const declared = Object.hasOwn(sections, key) ? sections[key] : undefined;
  if (declared === undefined) return undefined;
  // Only its plugin knows whether a part of a section may be missing. The entries of a map do not depend on each other.
  if (!isMap(nodeOf(declared))) return String(key);
  return at.length > 1 ? renderPath(at.slice(0, 2)) : undefined;
}

// Sections are also disabled in the values, so that code which only reads `enabled` starts nothing that is broken.
function switchOff(draft: Draft, disabled: ReadonlySet<string>, sections: Sections = {}): void {
  if (disabled.has("hooks"))
    draft.hooks = checkValue(nodeOf(configSchema.properties.hooks), {}, []).value as Draft["hooks"];
  for (const [id, channel] of Object.entries(draft.channels)) {
    if (disabled.has(renderPath(["channels", id]))) channel.enabled = false;
  }
  for (const section of disabled) {
    const [top = "", entries, id] = parsePath(section) ?? [];
    if (top === "plugins" && entries === "entries" && id !== undefined)
      draft.plugins.entries[id] = { enabled: false, isolation: "inline", options: {} };
    if (Object.hasOwn(sections, top)) leaveOut(draft as unknown as Record<string, unknown>, top, entries);
  }
}

function leaveOut(draft: Record<string, unknown>, key: string | number, entry: Segment | undefined): void {
  const section = draft[key] as Record<string, unknown> | undefined;
  if (entry === undefined) delete draft[key];
  else if (section !== undefined) delete section[entry];
}

function locateLoosely(document: ConfigDocument, at: readonly Segment[]): Position | undefined {
  const inAccount = at[0] === "channels" && at[2] === "accounts" && at.length > 4;
  if (inAccount && !document.has(at)) {
    const atRoot = [...at.slice(0, 2), ...at.slice(4)];
    if (document.has(atRoot)) return document.locate(atRoot);
  }
  return document.locate(at);
}

function deepFreeze<T>(value: T): T {
  if (isRecord(value) || Array.isArray(value)) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}
