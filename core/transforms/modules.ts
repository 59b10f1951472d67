/** How user code is found and read: every file by its real path inside the copy, every other module from a short list. */
import { isBuiltin, registerHooks } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bare } from "./answer.ts";
import { nativeModules, syntheticModules } from "./builtins.ts";
import { createCommonLoader } from "./common-js.ts";
import { createFiles, type FileRules, type Files, isPlace, type KnownFile, refuse } from "./files.ts";
import { defineProperty, getOwnPropertyNames, matches, slice, startsWith, stringifyJson } from "./intrinsics.ts";

export interface Modules extends Pick<Files, "takeLoaded"> {
  /** Loads a file by its path in the copy. */
  load(relativePath: string): Promise<Readonly<Record<string, unknown>>>;
}

/** As it was: the global may be replaced. */
const Address = URL;
const scheme = "sandbox:";
const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** The name of a module that is no file, or `undefined` for one that may be. Throws when it is not on the list. */
function builtinName(specifier: string, parent: string | undefined): string | undefined {
  if (syntheticModules[specifier] !== undefined) return specifier;
  const prefixed = startsWith(specifier, "node:");
  const name = prefixed ? slice(specifier, 5) : specifier;
  if (syntheticModules[name] !== undefined) return name;
  if (!prefixed && !isBuiltin(specifier)) return undefined;
  if (nativeModules[name] === true) return name;
  throw refuse(specifier, "this module of Node is not available to transforms", parent);
}

export function createModules(rules: FileRules): Modules {
  const files = createFiles(rules);
  const common = createCommonLoader({
    files,
    builtin(specifier, parent) {
      const name = builtinName(specifier, parent);
      return name === undefined ? undefined : { name, load: (native) => syntheticModules[name] ?? native(`node:${name}`) };
    },
  });
  const exposed = bare<{ readonly exports: unknown; readonly main: unknown }>();
  defineProperty(globalThis, Symbol.for(scheme), { value: (key: string) => exposed[key] });

  /** An ES module that hands on what already stands in a register: the exports of a CommonJS module, or of one that exists only here. */
  function handOn(key: string, exports: unknown, main: unknown): string {
    exposed[key] = { exports, main };
    const isObject = (typeof exports === "object" && exports !== null) || typeof exports === "function";
    const names = isObject ? getOwnPropertyNames(exports) : [];
    let source = `const all = globalThis[Symbol.for("${scheme}")](${stringifyJson(key)});\nexport default all.main;\n`;
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as string;
      if (name === "default" || name === "__esModule" || !matches(identifier, name)) continue;
      source += `const $${index} = all.exports[${stringifyJson(name)}];\nexport { $${index} as ${stringifyJson(name)} };\n`;
    }
    return source;
  }

  function sourceOf(url: string): string {
    if (startsWith(url, scheme)) {
      const exports = syntheticModules[slice(url, scheme.length)];
      return handOn(url, exports, exports);
    }
    const file = files.known(url);
    if (file === undefined) throw refuse(url, "it was never found by an import");
    if (files.formatOf(file) === "module") return files.read(file);
    const exports = common.exportsOf(file);
    return handOn(url, exports, isCompiledExports(exports, file) ? (exports as { readonly default?: unknown }).default : exports);
  }

  /** A file of the user's that was TypeScript or an ES module once; what packages export is left as Node has it. */
  const isCompiledExports = (exports: unknown, file: KnownFile): boolean =>
    files.isCompiled(file) ||
    (typeof exports === "object" &&
      (exports as { readonly __esModule?: unknown } | null)?.__esModule === true &&
      !matches(/[\\/]node_modules[\\/]/, slice(file.path, rules.root.length)));

  registerHooks({
    resolve(specifier, context, next) {
      const parent = context.parentURL === undefined ? undefined : files.known(context.parentURL)?.path;
      const name = builtinName(specifier, parent);
      if (name === undefined) {
        const target = isPlace(specifier) ? fileURLToPath(new Address(specifier, context.parentURL)) : undefined;
        const { url } = files.find({ specifier, parent, target, resolve: () => fileURLToPath(next(specifier, context).url) });
        return { url, format: "module", importAttributes: {}, shortCircuit: true };
      }
      if (syntheticModules[name] === undefined) return { url: `node:${name}`, format: "builtin", shortCircuit: true };
      return { url: scheme + name, format: "module", shortCircuit: true };
    },
    load(url, context, next) {
      if (startsWith(url, "node:") && nativeModules[slice(url, 5)] === true) return next(url, context);
      return { format: "module", source: sourceOf(url), shortCircuit: true };
    },
  });

  return {
    async load(relativePath) {
      const { href } = pathToFileURL(join(rules.root, relativePath));
      return (await import(href)) as Readonly<Record<string, unknown>>;
    },
    takeLoaded: files.takeLoaded,
  };
}
