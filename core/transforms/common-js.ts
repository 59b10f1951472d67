/** CommonJS by a loader of its own: Node's hands each file the loader itself (`module.constructor`), and with it a way around the rules. */
import { createRequire } from "node:module";
import { dirname, resolve as resolvePath } from "node:path";
import { fileURLToPath } from "node:url";
import { bare } from "./answer.ts";
import { type Files, isPlace, type KnownFile } from "./files.ts";
import { assign, endsWith, parseJson, startsWith, text } from "./intrinsics.ts";
import { compileCommon } from "./syntax.ts";

interface CommonModule {
  exports: unknown;
  readonly id: string;
  readonly filename: string;
  loaded: boolean;
}

export interface CommonLoader {
  /** The exports of a CommonJS or JSON file; it runs once. */
  exportsOf(file: KnownFile): unknown;
}

export function createCommonLoader({
  files,
  builtin,
}: {
  readonly files: Files;
  /** A module that is no file: its name, and what `require` gives for it. */
  readonly builtin: (specifier: string, parent: string) => { readonly name: string; load(native: NodeJS.Require): unknown } | undefined;
}): CommonLoader {
  const modules = bare<CommonModule>();

  function run(file: KnownFile): CommonModule {
    const known = modules[file.path];
    // One that is still running, too: two files that require each other see what the other has so far.
    if (known !== undefined) return known;
    const module: CommonModule = { exports: {}, id: file.path, filename: file.path, loaded: false };
    modules[file.path] = module;
    try {
      if (endsWith(file.path, ".json")) module.exports = parseJson(files.read(file));
      else compileCommon(files.read(file), file.path)(module.exports, requireFrom(file), module, file.path, dirname(file.path));
      module.loaded = true;
    } catch (error) {
      delete modules[file.path];
      throw error;
    }
    return module;
  }

  function requireFrom(parent: KnownFile): (specifier: unknown) => unknown {
    const native = createRequire(parent.path);
    const compiled = files.isCompiled(parent);
    const find = (name: string): KnownFile => {
      const path = startsWith(name, "file:") ? fileURLToPath(name) : name;
      const target = isPlace(name) ? resolvePath(dirname(parent.path), path) : undefined;
      return files.find({ specifier: name, parent: parent.path, target, resolve: () => native.resolve(path) });
    };
    const require = (specifier: unknown): unknown => {
      const name = text(specifier);
      const module = builtin(name, parent.path);
      if (module !== undefined) return compiled ? withDefault(module.load(native)) : module.load(native);
      const file = find(name);
      if (files.formatOf(file) === "module") return native(file.path);
      const { exports } = run(file);
      return compiled ? withDefault(exports) : exports;
    };
    return assign(require, {
      resolve: (specifier: unknown) => builtin(text(specifier), parent.path)?.name ?? find(text(specifier)).path,
      cache: bare(),
    });
  }

  return { exportsOf: (file) => run(file).exports };
}

/** A compiled `import x from "y"` reads `y.default`, which a CommonJS module has only when it was compiled itself. */
function withDefault(exports: unknown): unknown {
  const isObject = (typeof exports === "object" && exports !== null) || typeof exports === "function";
  if (isObject && (exports as { readonly __esModule?: unknown }).__esModule === true) return exports;
  return isObject ? assign({}, exports, { default: exports }) : { default: exports };
}
