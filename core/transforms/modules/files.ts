/** The files of a transforms root, as modules see them: resolved, and as JavaScript. */
import { stripTypeScriptTypes } from "node:module";
import { extname } from "node:path";
import { TransformError } from "../error.ts";
import { createCheckedFiles } from "./checked-files.ts";
import { decoratorLine } from "./code-only.ts";
import { createResolver, type ImportKind } from "./resolver.ts";

export type Format = "module" | "commonjs" | "json";

export interface Files {
  /** Resolves an import to a file. Throws `TransformError`. */
  resolve(specifier: string, from: string, kind: ImportKind): string;
  /** The JavaScript of a file, or the text of a JSON file. */
  read(name: string): string;
  /** The format given by the extension or the nearest package.json; `undefined` if it depends on the syntax. */
  formatOf(name: string): Format | undefined;
  /** Whether the compiler turned the file into CommonJS. */
  isCompiled(name: string): boolean;
  /** Whether a file that was read, or that a link names, has changed. */
  isStale(now: number): boolean;
}

const formats: Readonly<Record<string, Format>> = {
  ".json": "json",
  ".mjs": "module",
  ".mts": "module",
  ".cjs": "commonjs",
  ".cts": "commonjs",
};

export function createFiles({
  realRoot,
  compile,
}: {
  readonly realRoot: string;
  /** Compiles a TypeScript file whose types cannot be stripped. */
  readonly compile: (source: string, name: string) => string;
}): Files {
  const files = createCheckedFiles(realRoot);
  const { resolve, nearestManifest } = createResolver(files);
  const scripts = new Map<string, string>();
  const compiled = new Set<string>();

  function toJavaScript(name: string, source: string): string {
    if (name.endsWith(".json")) return source;
    const decorator = name.includes("/node_modules/") ? undefined : decoratorLine(source);
    if (decorator !== undefined) throw noDecorators(name, decorator);
    if (!/\.[cm]?ts$/.test(name)) return source.replace(/^#!.*/, "");
    try {
      return stripTypeScriptTypes(source);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") throw syntaxError(name, error);
      compiled.add(name);
      return compile(source, files.place(name));
    }
  }

  function read(name: string): string {
    const code = scripts.get(name) ?? toJavaScript(name, files.read(name));
    scripts.set(name, code);
    return code;
  }

  return {
    resolve,
    read,
    formatOf(name) {
      read(name);
      if (compiled.has(name)) return "commonjs";
      const known = formats[extname(name)];
      if (known !== undefined) return known;
      const type = nearestManifest(name)?.manifest.type;
      return type === "module" || type === "commonjs" ? type : undefined;
    },
    isCompiled: (name) => compiled.has(name),
    isStale: files.isStale,
  };
}

/** The compiler knows only the older kind of them, which would give a file another meaning without a word. */
function noDecorators(name: string, line: number): TransformError {
  const instead = "Call the function yourself, or compile the file to JavaScript first";
  return new TransformError("threw", `${name.slice(1)}:${line}: transforms have no decorators. ${instead}`);
}

/** Node puts `:LINE` and the source line at the top of the stack. */
function syntaxError(name: string, error: unknown): TransformError {
  const { message, stack } = error as Error;
  const line = /^:(\d+)\n/.exec(stack ?? "")?.[1];
  return new TransformError("threw", `${name.slice(1)}${line === undefined ? "" : `:${line}`}: ${message}`);
}
