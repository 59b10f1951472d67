/**
 * The text of a configuration for another place: its paths lead to what a backup contains, and its secrets are
 * references or, on request, files of the backup.
 */
import { isRecord } from "../checking/validate.ts";
import { expandPath } from "../expand-path.ts";
import { getPath, renderPath, type Segment } from "../path.ts";
import { type PluginSchemas, wholeSchema } from "../plugin-schemas.ts";
import { parseDocument } from "../reading/document.ts";
import { propertyOf, type SchemaNode } from "../schema-node.ts";
import { branchFor, isSecretName, itemsOf, redactConfig } from "../showing/redact.ts";
import { editText } from "./edit-text.ts";

/** What a setting needs that the text itself does not contain. */
export interface NeededSecret {
  /** The setting, such as `channels.botchat.botToken`. */
  readonly path: string;
  /** The environment variable that it reads; absent for a file. */
  readonly variable?: string;
  /** The file that it reads: absolute, or relative to the directory of the configuration. */
  readonly file?: string;
  /** The value contained a password, which is left out: the setting has to be set again. */
  readonly again?: true;
}

/** A file or a directory that the text names by its new name. */
interface Moved {
  /** Relative to the directory of the configuration, with slashes. */
  readonly name: string;
  /** Where it is now. */
  readonly path: string;
}

export interface PortableConfig {
  readonly text: string;
  /** Settings whose value is another one than in the original. */
  readonly changed: readonly { readonly path: string; readonly value: string }[];
  readonly secrets: readonly NeededSecret[];
  /** Files with secrets; empty without `withSecrets`. */
  readonly files: readonly Moved[];
  readonly workspaces: readonly Moved[];
}

interface Found {
  readonly at: readonly Segment[];
  readonly kind: "variable" | "file" | "text" | "address";
  readonly value: string;
}

export function portableConfig(
  text: string,
  {
    file,
    directory,
    schemas,
    withSecrets,
  }: {
    readonly file: string;
    readonly directory: string;
    readonly schemas: PluginSchemas | undefined;
    readonly withSecrets: boolean;
  },
): PortableConfig {
  const written = parseDocument(text, file).value;
  const edits: { readonly at: readonly Segment[]; readonly value: unknown }[] = [];
  const secrets: NeededSecret[] = [];
  const files: Moved[] = [];
  const name = createNames();
  if (getPath(written, ["state", "dir"]) !== undefined) edits.push({ at: ["state", "dir"], value: "." });
  const workspaces = workspacesOf(written, directory);
  for (const { at, name: folder } of workspaces) edits.push({ at, value: folder });
  for (const { at, kind, value } of secretsOf(written, wholeSchema(schemas))) {
    const path = renderPath(at);
    const ownFile = () => name("secrets", path);
    if (kind === "variable") secrets.push({ path, variable: value });
    else if (kind === "file" && withSecrets) {
      const moved = ownFile();
      files.push({ name: moved, path: expandPath(value, directory) });
      edits.push({ at: [...at, "file"], value: moved });
    } else if (kind === "file") secrets.push({ path, file: value });
    else if (withSecrets) continue;
    else if (kind === "text") {
      const wanted = ownFile();
      secrets.push({ path, file: wanted });
      edits.push({ at, value: { file: wanted } });
    } else {
      secrets.push({ path, again: true });
      edits.push({ at, value });
    }
  }
  return {
    text: edits.reduce((edited, { at, value }) => editText(edited, at, value), text),
    changed: edits.map(({ at, value }) => ({
      path: renderPath(at),
      value: typeof value === "string" ? value : JSON.stringify(value),
    })),
    secrets,
    files,
    workspaces: [...new Map(workspaces.map(({ name: folder, path }) => [folder, { name: folder, path }])).values()],
  };
}

/** Names of files, each given once. */
function createNames(): (folder: string, word: string) => string {
  const taken = new Set<string>();
  return (folder, word) => {
    const base = `${folder}/${word.replace(/[^A-Za-z0-9._-]+/g, "_").replace(/^\.+/, "_")}`;
    let name = base;
    for (let number = 2; taken.has(name); number += 1) name = `${base}-${number}`;
    taken.add(name);
    return name;
  };
}

/** The settings that name a workspace. Agents that share one share it in the backup too. */
function workspacesOf(
  written: unknown,
  directory: string,
): readonly { readonly at: readonly Segment[]; readonly name: string; readonly path: string }[] {
  const list = getPath(written, ["agents", "list"]);
  const agents = Array.isArray(list) ? list.map((agent, index) => ({ at: ["agents", "list", index], agent })) : [];
  const places = [{ at: ["agents", "defaults"], agent: getPath(written, ["agents", "defaults"]) }, ...agents];
  const name = createNames();
  const names = new Map<string, string>();
  return places.flatMap(({ at, agent }) => {
    if (!isRecord(agent) || typeof agent.workspace !== "string" || agent.workspace === "") return [];
    const path = expandPath(agent.workspace, directory);
    const known = names.get(path) ?? name("workspaces", typeof agent.id === "string" ? agent.id : "default");
    names.set(path, known);
    return [{ at: [...at, "workspace"], name: known, path }];
  });
}

/** Every value that `config get` hides, and where it comes from. */
function* secretsOf(value: unknown, schema: SchemaNode, at: readonly Segment[] = [], hidden = false): Generator<Found> {
  const isHidden = hidden || schema.secret === true;
  if (isRecord(value)) {
    const reference = referenceIn(value);
    if (isHidden && reference !== undefined) {
      yield { at, ...reference };
      return;
    }
    const branch = branchFor(schema);
    for (const [key, inner] of Object.entries(value)) {
      const declared = propertyOf(branch, key);
      // What is declared below such a name says itself which of its parts are secrets.
      const named = isSecretName(key) && (typeof inner === "string" || declared === undefined);
      yield* secretsOf(inner, declared ?? {}, [...at, key], isHidden || named);
    }
  } else if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) yield* secretsOf(inner, itemsOf(schema), [...at, index], isHidden);
  } else if (typeof value === "string" && value !== "") {
    const shown = redactConfig(value, {});
    if (isHidden) yield { at, kind: "text", value };
    else if (shown !== value) yield { at, kind: "address", value: String(shown) };
  }
}

function referenceIn(value: Readonly<Record<string, unknown>>): Pick<Found, "kind" | "value"> | undefined {
  if (Object.keys(value).length !== 1) return undefined;
  if (typeof value.env === "string") return { kind: "variable", value: value.env };
  return typeof value.file === "string" ? { kind: "file", value: value.file } : undefined;
}
