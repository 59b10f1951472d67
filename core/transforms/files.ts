/**
 * The files of a transforms root as modules see them: `/a.ts` is `a.ts` in the root. A file is read once and kept as text. Its path is
 * checked before and after reading, so that swapping or linking the file later has no effect.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { extname, join, posix, relative, sep } from "node:path";
import { exports as exportsOf, imports as importsOf, legacy } from "resolve.exports";
import { TransformError } from "./error.ts";
import { isInside } from "./root.ts";

const { dirname } = posix;
const maxFiles = 2_000;
const maxFileBytes = 16 * 1_048_576;
/** Extensions that TypeScript authors omit, in the order in which they are tried. */
const endings = ["", ".ts", ".mts", ".js", ".mjs", ".cts", ".cjs", ".json", "/index.ts", "/index.js"];

export type Format = "module" | "commonjs" | "json";
/** Identifies one state of a file. */
type FileMark = string;

const markOf = ({ dev, ino, size, mtimeMs, ctimeMs }: Stats): FileMark => `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;

export interface Files {
  /** Resolves an import to a file. Throws `TransformError`. */
  resolve(specifier: string, from: string, kind: "import" | "require"): string;
  /** The JavaScript of a file, or the text of a JSON file. */
  read(name: string): string;
  /** The format given by the extension or the nearest package.json; `undefined` if it depends on the syntax. */
  formatOf(name: string): Format | undefined;
  /** Whether the compiler turned the file into CommonJS. */
  isCompiled(name: string): boolean;
  /** Whether any file that was read, or a link to it, has changed. */
  isStale(now: number): boolean;
}

/** Packages have many files that rarely change, so they are checked only once a second. */
const packagesEveryMs = 1_000;

export function createFiles({
  realRoot,
  compile,
}: {
  readonly realRoot: string;
  /** Compiles a TypeScript file whose types cannot be stripped. */
  readonly compile: (source: string, name: string) => string;
}): Files {
  const texts = new Map<string, string>();
  const compiled = new Set<string>();
  /** The requested paths, including links, with the state of the files that they lead to. */
  const own = new Map<string, FileMark>();
  const packages = new Map<string, FileMark>();
  let packagesAt = 0;

  const place = (name: string): string => join(realRoot, name);
  const remember = (path: string, mark: FileMark): void => {
    (path.includes(`node_modules${sep}`) ? packages : own).set(path, mark);
  };

  /** Finds a file by its path below the root and returns its real name. */
  function find(name: string): string | undefined {
    const path = place(name);
    let real: string;
    try {
      real = realpathSync(path);
      if (!statSync(real).isFile()) return undefined;
    } catch {
      return undefined;
    }
    if (!isInside(realRoot, real)) throw refused(name.slice(1), "is a symbolic link that ends outside the transforms root");
    if (real !== path) remember(path, markOf(statSync(path)));
    return `/${relative(realRoot, real).split(sep).join("/")}`;
  }

  const guess = (name: string): string | undefined => {
    for (const ending of endings) {
      const found = find(name + ending);
      if (found !== undefined) return found;
    }
    // TypeScript authors may name the file as it will be called after a build.
    return /\.m?js$/.test(name) ? find(name.replace(/js$/, "ts")) : undefined;
  };

  function inPackage(specifier: string, from: string, kind: "import" | "require"): string | undefined {
    const [scope = "", name = ""] = specifier.split("/");
    const id = scope.startsWith("@") ? `${scope}/${name}` : scope;
    for (let folder = dirname(from); ; folder = dirname(folder)) {
      const home = posix.join(folder, "node_modules", id);
      const manifest = manifestAt(home);
      if (manifest !== undefined || guess(home) !== undefined) return entryOf(home, manifest ?? {}, specifier.slice(id.length), id, kind);
      if (folder === "/") return undefined;
    }
  }

  function entryOf(home: string, manifest: Manifest, inner: string, id: string, kind: "import" | "require"): string | undefined {
    if (manifest.exports !== undefined) {
      const [entry] = exportsOf({ ...manifest, name: id }, `.${inner}`, { require: kind === "require" }) ?? [];
      return entry === undefined ? undefined : find(posix.join(home, entry));
    }
    if (inner !== "") return guess(home + inner);
    const main = legacy({ ...manifest, name: id }, { fields: ["main"], browser: false });
    return (typeof main === "string" ? guess(posix.join(home, main)) : undefined) ?? guess(home);
  }

  function manifestAt(folder: string): Manifest | undefined {
    const found = find(posix.join(folder, "package.json"));
    if (found === undefined) return undefined;
    try {
      return JSON.parse(readChecked(found)) as Manifest;
    } catch {
      return undefined;
    }
  }

  function nearestManifest(name: string): { readonly folder: string; readonly manifest: Manifest } | undefined {
    for (let folder = dirname(name); ; folder = dirname(folder)) {
      const manifest = manifestAt(folder);
      if (manifest !== undefined) return { folder, manifest };
      if (folder === "/") return undefined;
    }
  }

  /** Reads a file that `find` returned. Verifies before and after reading that the opened file is the one at the checked path. */
  function readChecked(name: string): string {
    const known = texts.get(name);
    if (known !== undefined) return known;
    if (texts.size >= maxFiles) throw refused(name.slice(1), `is one file too many: a transform reads at most ${maxFiles}`);
    const path = place(name);
    const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = fstatSync(descriptor);
      if (stats.size > maxFileBytes) throw refused(name.slice(1), `is larger than ${maxFileBytes / 1_048_576} MB`);
      const text = readFileSync(descriptor, "utf8");
      const now = lstatSync(path);
      if (!stats.isFile() || now.ino !== stats.ino || now.dev !== stats.dev || realpathSync(path) !== path) {
        throw refused(name.slice(1), "was replaced while it was read");
      }
      remember(path, markOf(stats));
      texts.set(name, text);
      return text;
    } finally {
      closeSync(descriptor);
    }
  }

  function toJavaScript(name: string, source: string): string {
    try {
      return stripTypeScriptTypes(source);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") throw syntaxError(name, error);
      compiled.add(name);
      return compile(source, place(name));
    }
  }

  const changed = (files: ReadonlyMap<string, FileMark>): boolean => {
    for (const [path, mark] of files) {
      const stats = statSync(path, { throwIfNoEntry: false });
      if (stats === undefined || markOf(stats) !== mark) return true;
    }
    return false;
  };

  return {
    resolve(specifier, from, kind) {
      const by = from.slice(1);
      if (/^[a-z][a-z0-9+.-]*:/i.test(specifier)) throw refusedImport(specifier, "only files in the transforms root can be imported", by);
      let found: string | undefined;
      if (/^\.{0,2}(?:\/|$)/.test(specifier)) {
        // An absolute path would refer to the machine's file system, which does not exist inside the engine.
        const target = join(dirname(place(from)), specifier);
        if (specifier.startsWith("/") || !isInside(realRoot, target)) {
          throw refusedImport(specifier, "it leads out of the transforms root", by);
        }
        found = guess(`/${relative(realRoot, target).split(sep).join("/")}`);
      } else if (specifier.startsWith("#")) {
        const near = nearestManifest(from);
        const [entry] =
          near === undefined ? [] : (importsOf({ ...near.manifest, name: "" }, specifier, { require: kind === "require" }) ?? []);
        found = near === undefined || entry === undefined ? undefined : find(posix.join(near.folder, entry));
      } else found = inPackage(specifier, from, kind);
      if (found !== undefined) return found;
      throw new TransformError("threw", `Cannot find module '${specifier.slice(0, 200)}' imported from ${by}`);
    },
    read(name) {
      const known = texts.get(`js:${name}`);
      if (known !== undefined) return known;
      const source = readChecked(name);
      const code = /\.[cm]?ts$/.test(name) ? toJavaScript(name, source) : source.replace(/^#!.*/, "");
      texts.set(`js:${name}`, code);
      return code;
    },
    formatOf(name) {
      this.read(name);
      if (compiled.has(name)) return "commonjs";
      const extension = extname(name);
      if (extension === ".json") return "json";
      if (extension === ".mjs" || extension === ".mts") return "module";
      if (extension === ".cjs" || extension === ".cts") return "commonjs";
      const type = nearestManifest(name)?.manifest.type;
      return type === "module" || type === "commonjs" ? type : undefined;
    },
    isCompiled: (name) => compiled.has(name),
    isStale(now) {
      if (changed(own)) return true;
      if (packages.size === 0 || now - packagesAt < packagesEveryMs) return false;
      packagesAt = now;
      return changed(packages);
    },
  };
}

interface Manifest {
  readonly type?: unknown;
  readonly exports?: Readonly<Record<string, never>>;
}

const refused = (what: string, why: string): TransformError => new TransformError("refused", `${what} ${why}`);

const refusedImport = (specifier: string, why: string, by: string): TransformError =>
  refused(`The import ${JSON.stringify(specifier.slice(0, 200))}${by === "" ? "" : ` in ${by}`}`, `is refused: ${why}`);

/** Node puts `:LINE` and the source line at the top of the stack. */
function syntaxError(name: string, error: unknown): TransformError {
  const { message, stack } = error as Error;
  const line = /^:(\d+)\n/.exec(stack ?? "")?.[1];
  return new TransformError("threw", `${name.slice(1)}${line === undefined ? "" : `:${line}`}: ${message}`);
}
