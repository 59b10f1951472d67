/** Which file of a transforms root an import means, by the rules of Node and of TypeScript. */
import { join, posix } from "node:path";
import { exports as exportsOf, imports as importsOf, legacy } from "resolve.exports";
import { TransformError } from "../error.ts";
import { type CheckedFiles, refused } from "./checked-files.ts";

const { dirname } = posix;
/** Extensions that TypeScript authors omit, in the order in which they are tried. */
const endings = ["", ".ts", ".mts", ".js", ".mjs", ".cts", ".cjs", ".json", "/index.ts", "/index.js"];

export type ImportKind = "import" | "require";

interface Manifest {
  readonly type?: unknown;
  readonly exports?: Readonly<Record<string, never>>;
}

export interface Resolver {
  /** Resolves an import to a file. Throws `TransformError`. */
  resolve(specifier: string, from: string, kind: ImportKind): string;
  /** The nearest package.json of a file, and its folder. */
  nearestManifest(name: string): { readonly folder: string; readonly manifest: Manifest } | undefined;
}

export function createResolver({ find, read, place, nameOf }: CheckedFiles): Resolver {
  const guess = (name: string): string | undefined => {
    for (const ending of endings) {
      const found = find(name + ending);
      if (found !== undefined) return found;
    }
    // TypeScript authors may name the file as it will be called after a build.
    return /\.m?js$/.test(name) ? find(name.replace(/js$/, "ts")) : undefined;
  };

  function inPackage(specifier: string, from: string, kind: ImportKind): string | undefined {
    const [scope = "", name = ""] = specifier.split("/");
    const id = scope.startsWith("@") ? `${scope}/${name}` : scope;
    for (let folder = dirname(from); ; folder = dirname(folder)) {
      const home = posix.join(folder, "node_modules", id);
      const manifest = manifestAt(home);
      if (manifest !== undefined || guess(home) !== undefined)
        return entryOf(home, manifest ?? {}, specifier.slice(id.length), id, kind);
      if (folder === "/") return undefined;
    }
  }

  function entryOf(home: string, manifest: Manifest, inner: string, id: string, kind: ImportKind): string | undefined {
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
      return JSON.parse(read(found)) as Manifest;
    } catch {
      return undefined;
    }
  }

  function nearestManifest(name: string): ReturnType<Resolver["nearestManifest"]> {
    for (let folder = dirname(name); ; folder = dirname(folder)) {
      const manifest = manifestAt(folder);
      if (manifest !== undefined) return { folder, manifest };
      if (folder === "/") return undefined;
    }
  }

  function inRoot(specifier: string, from: string): string | undefined {
    // An absolute path would mean a file of the machine, and has no meaning in the root.
    const name = specifier.startsWith("/") ? undefined : nameOf(join(dirname(place(from)), specifier));
    if (name === undefined) throw refusedImport(specifier, "it leads out of the transforms root", from);
    return guess(name);
  }

  /** An import of the package's own `imports`. */
  function ofPackage(specifier: string, from: string, kind: ImportKind): string | undefined {
    const near = nearestManifest(from);
    if (near === undefined) return undefined;
    const [entry] = importsOf({ ...near.manifest, name: "" }, specifier, { require: kind === "require" }) ?? [];
    return entry === undefined ? undefined : find(posix.join(near.folder, entry));
  }

  return {
    nearestManifest,
    resolve(specifier, from, kind) {
      if (/^[a-z][a-z0-9+.-]*:/i.test(specifier))
        throw refusedImport(specifier, "only files in the transforms root can be imported", from);
      const isPath = /^\.{0,2}(?:\/|$)/.test(specifier);
      const found = isPath
        ? inRoot(specifier, from)
        : specifier.startsWith("#")
          ? ofPackage(specifier, from, kind)
          : inPackage(specifier, from, kind);
      if (found !== undefined) return found;
      throw new TransformError(
        "threw",
        `Cannot find module '${specifier.slice(0, 200)}' imported from ${from.slice(1)}`,
      );
    },
  };
}

function refusedImport(specifier: string, why: string, from: string): TransformError {
  const by = from.slice(1);
  return refused(
    `The import ${JSON.stringify(specifier.slice(0, 200))}${by === "" ? "" : ` in ${by}`}`,
    `is refused: ${why}`,
  );
}
