/** The child's side of files: which of them an import may reach, by real path inside the copy, and what they are. */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, extname, join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { bare } from "./answer.ts";
import {
  defineProperty,
  endsWith,
  IntrinsicError,
  keys,
  matches,
  parseJson,
  push,
  slice,
  startsWith,
  stringifyJson,
} from "./intrinsics.ts";
import { codeOf, compileCommon, isTypeScript, stripTypes } from "./syntax.ts";

/** A file that an import was let through to; no other is ever read. */
export interface KnownFile {
  readonly path: string;
  readonly url: string;
}

export interface FileRules {
  /** The copy, a real path. */
  readonly root: string;
  /** Relative paths that were left out of the copy, with the rule that they break. */
  readonly refused: Readonly<Record<string, string>>;
  /** JavaScript of files whose TypeScript Node cannot strip; made by the gateway. */
  readonly compiled: Readonly<Record<string, string>>;
}

export interface Files {
  /** Where an import leads. Throws when a rule forbids it. */
  find(wanted: Import): KnownFile;
  /** The file of a URL that `find` gave out. */
  known(url: string): KnownFile | undefined;
  /** Its JavaScript. */
  read(file: KnownFile): string;
  formatOf(file: KnownFile): "module" | "commonjs";
  isCompiled(file: KnownFile): boolean;
  /** Relative paths of all files that were read since the last call. */
  takeLoaded(): readonly string[];
}

export interface Import {
  readonly specifier: string;
  /** Path of the importing file; none imports the entry. */
  readonly parent: string | undefined;
  /** The place that the specifier spells out; `undefined` for the name of a package. */
  readonly target: string | undefined;
  /** Node's own answer. */
  resolve(): string;
}

/** Read by the gateway as a fault of the import, not of the code. */
const refusedCode = "ERR_TRANSFORM_REFUSED";
const leadsOut = "it leads out of the transforms root";

export function refuse(specifier: string, why: string, parent?: string): Error {
  const by = parent === undefined ? "" : ` in ${parent}`;
  const error = new IntrinsicError(`The import ${stringifyJson(slice(specifier, 0, 200))}${by} is refused: ${why}`);
  defineProperty(error, "code", { value: refusedCode });
  return error;
}

/** Endings that TypeScript's authors leave out, in the order in which they are tried. */
const endings = [".ts", ".mts", ".js", ".mjs", ".cts", ".cjs", ".json", "/index.ts", "/index.js"];
/** The codes by which Node says that there is nothing, or nothing it reads, at a place. */
const notFound = /^ERR_MODULE_NOT_FOUND$|^ERR_UNSUPPORTED_DIR_IMPORT$|^MODULE_NOT_FOUND$/;

/** Whether a specifier spells out a place, and does not name a package. */
export const isPlace = (specifier: string): boolean =>
  startsWith(specifier, "/") ||
  startsWith(specifier, "./") ||
  startsWith(specifier, "../") ||
  specifier === "." ||
  specifier === ".." ||
  matches(/^file:/i, specifier);
const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

export function createFiles(rules: FileRules): Files {
  const inside = rules.root + sep;
  const files = bare<KnownFile>();
  const formats = bare<"module" | "commonjs">();
  const sources = bare<string>();
  let loaded: string[] = [];

  const nameIn = (path: string) => (startsWith(path, inside) ? slice(path, inside.length) : path);
  const isCompiled = ({ path }: KnownFile) => rules.compiled[nameIn(path)] !== undefined;

  /** Judges where a specifier led, by its real path. */
  function admit(specifier: string, path: string, parent: string | undefined): KnownFile {
    let real: string | undefined;
    try {
      real = realpathSync(path);
    } catch {
      // Not there, or where the permission model does not let us look.
    }
    if (real === undefined || !startsWith(real, inside)) throw refuse(specifier, leadsOut, parent);
    const known: KnownFile = { path: real, url: pathToFileURL(real).href };
    files[known.url] = known;
    return known;
  }

  /** A relative import that names no file as it stands. */
  function guess(base: string): string | undefined {
    if (endsWith(base, ".js") && isFile(`${slice(base, 0, -3)}.ts`)) return `${slice(base, 0, -3)}.ts`;
    if (endsWith(base, ".mjs") && isFile(`${slice(base, 0, -4)}.mts`)) return `${slice(base, 0, -4)}.mts`;
    for (let index = 0; index < endings.length; index++) {
      const candidate = base + endings[index];
      if (isFile(candidate)) return candidate;
    }
    return undefined;
  }

  /** The rule that keeps a file out of the copy, for whoever asks why it is missing. */
  function whyMissing(target: string): string | undefined {
    if (!startsWith(target, inside)) return leadsOut;
    const wanted = nameIn(target);
    const names = keys(rules.refused);
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as string;
      if (wanted === name || startsWith(wanted, `${name}/`) || startsWith(name, `${wanted}.`)) return `${name} ${rules.refused[name]}`;
    }
    return undefined;
  }

  /** As Node decides: the extension, the nearest package.json, and for a file that neither speaks for, its syntax. */
  function judgeFormat(file: KnownFile): "module" | "commonjs" {
    const extension = extname(file.path);
    if (extension === ".mjs" || extension === ".mts") return "module";
    if (extension === ".cjs" || extension === ".cts" || extension === ".json") return "commonjs";
    for (let directory = dirname(file.path); startsWith(directory + sep, inside); directory = dirname(directory)) {
      const manifest = join(directory, "package.json");
      if (!isFile(manifest)) continue;
      const { type } = parseJson(readFileSync(manifest, "utf8")) as { readonly type?: unknown };
      if (type === "module" || type === "commonjs") return type;
      break;
    }
    try {
      compileCommon(read(file), file.path);
      return "commonjs";
    } catch {
      return "module";
    }
  }

  function read(file: KnownFile): string {
    const known = sources[file.path];
    if (known !== undefined) return known;
    const name = nameIn(file.path);
    push(loaded, name);
    const compiled = rules.compiled[name];
    // What the compiler calls a dynamic import; on the first line, so that the others keep their numbers.
    let source = compiled === undefined ? readFileSync(file.path, "utf8") : `const jitiImport = (name) => import(name);${compiled}`;
    if (compiled === undefined && isTypeScript(file.path)) source = stripTypes(source, name);
    sources[file.path] = source;
    return source;
  }

  return {
    find({ specifier, parent, target, resolve }) {
      const by = parent === undefined ? undefined : nameIn(parent);
      if (target === undefined && matches(/^[a-z][a-z0-9+.-]*:/i, specifier)) {
        throw refuse(specifier, "only files inside the transforms root can be imported", by);
      }
      // Before Node looks: whether there is something at a place outside is nobody's business.
      const missing = target === undefined ? undefined : whyMissing(target);
      if (missing !== undefined) throw refuse(specifier, missing, by);
      let path: string | undefined;
      try {
        path = resolve();
      } catch (error) {
        if (codeOf(error) === "ERR_ACCESS_DENIED") throw refuse(specifier, leadsOut, by);
        path = target !== undefined && matches(notFound, codeOf(error)) ? guess(target) : undefined;
        if (path === undefined) throw error;
      }
      return admit(specifier, path, by);
    },
    known: (url) => files[url],
    read,
    formatOf(file) {
      formats[file.path] ??= isCompiled(file) ? "commonjs" : judgeFormat(file);
      return formats[file.path] as "module" | "commonjs";
    },
    isCompiled,
    takeLoaded() {
      const taken = loaded;
      loaded = [];
      return taken;
    },
  };
}
