/** Finds and loads modules for the engine: files of the root by paths such as `/a.ts`, and a fixed list of others. */
import { isBuiltin } from "node:module";
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from "quickjs-emscripten-core";
import { product } from "../../contract/index.ts";
import { TransformError } from "../error.ts";
import type { Files } from "../modules/files.ts";
import type { ImportKind } from "../modules/resolver.ts";

export interface Linker {
  /** Resolves what `require` names. Throws `TransformError`. */
  require(specifier: string, from: string): Required;
  /** Creates the function that contains a CommonJS file. */
  compile(name: string): QuickJSHandle;
  /** The exports of an ES module, loaded synchronously. */
  importNow(name: string): QuickJSHandle;
  /** The exports of the gateway's own code that runs in the engine. */
  importGuest(): QuickJSHandle;
  /** Whether an error message is about a forbidden import. */
  isRefusal(message: string): boolean;
}

export interface Required {
  readonly name: string;
  readonly isModule: boolean;
  /** The compiler's output also expects CommonJS exports in the field `default`. */
  readonly wantsDefault: boolean;
}

const extension = import.meta.url.endsWith(".ts") ? ".ts" : ".js";
const guestMain = `transforms/guest/main${extension}`;
/** The engine's own modules. User code cannot name them, because the paths of its files begin with `/`. */
const guest = "guest:";
const builtin = "builtin:";
const builtins: ReadonlySet<string> = new Set(["buffer", "crypto", "path", "querystring", "url", "util"]);
const door = `${product.packageName}/sdk`;
/** Longer than any path of a file. */
const maxSpecifier = 4_096;
const maxRefusals = 64;
const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

export function createLinker({
  runtime,
  context,
  guestSource,
  files,
  entry,
  isOver,
  namesOf,
}: {
  readonly runtime: QuickJSRuntime;
  readonly context: QuickJSContext;
  /** The JavaScript of one of the gateway's own files. */
  readonly guestSource: (path: string) => string;
  readonly files: Files;
  readonly entry: string;
  /** Whether the call that computes has reached a limit. */
  readonly isOver: () => boolean;
  /** The export names of a CommonJS file, which is run for this, or of a built-in module. */
  readonly namesOf: (name: string) => readonly string[];
}): Linker {
  /** The last refusals, to recognize them in what the code throws. */
  const refusals = new Set<string>();
  const modules = new Map<string, boolean>();
  /** The module that facades import. Other modules cannot guess its name. */
  const inner = `${guest}${crypto.randomUUID()}`;

  function refuse(message: string): void {
    refusals.delete(message);
    refusals.add(message);
    const [oldest] = refusals;
    if (refusals.size > maxRefusals && oldest !== undefined) refusals.delete(oldest);
  }

  function resolve(specifier: string, by: string, kind: ImportKind): string {
    if (specifier.length > maxSpecifier)
      throw new TransformError(
        "threw",
        `The name of an import in ${by.slice(1)} is longer than ${maxSpecifier} characters`,
      );
    // Code created from a string has no file. Its imports are resolved like those of the entry.
    const from = by.startsWith("/") ? by : entry;
    const plain = specifier.replace(/^node:/, "");
    if (isEngineModule(specifier, plain)) return builtin + plain;
    try {
      if (isBuiltin(specifier)) throw notAvailable(specifier, from);
      return files.resolve(specifier, from, kind);
    } catch (error) {
      if (error instanceof TransformError && error.kind === "refused") refuse(error.message);
      throw error;
    }
  }

  function normalize(from: string, specifier: string): string {
    if (specifier === inner) return guest + guestMain;
    if (!from.startsWith(guest)) return resolve(specifier, from, "import");
    if (specifier.startsWith("/")) return specifier;
    return guest + new URL(specifier, `file:///${from.slice(guest.length)}`).pathname.slice(1);
  }

  /** Decides like Node: by the extension, the nearest package.json, and otherwise by the syntax. */
  function isModule(name: string): boolean {
    let known = modules.get(name);
    if (known === undefined) {
      const format = files.formatOf(name);
      known = format === undefined ? !isScript(name) : format === "module";
      modules.set(name, known);
    }
    return known;
  }

  function isScript(name: string): boolean {
    const tried = context.evalCode(wrapped(name), name, { compileOnly: true });
    const script = tried.error === undefined;
    tried.dispose();
    return script;
  }

  /**
   * The wrapper is on the first line, so that line numbers stay the same. `jitiImport` is the compiler's name for a
   * dynamic import.
   */
  const wrapped = (name: string): string =>
    "(function (exports, require, module, __filename, __dirname) { const jitiImport = (name) => " +
    `import(name); ${files.read(name)}\n})`;

  /** The source of an ES module that wraps a CommonJS file, a JSON file or a built-in module. */
  function facade(name: string): string {
    const names = namesOf(name).filter((one) => one !== "default" && one !== "__esModule" && identifier.test(one));
    const key = JSON.stringify(name);
    const named = names.map(
      (one, index) => `const $${index} = all[${JSON.stringify(one)}]; export { $${index} as ${one} };`,
    );
    return (
      `import { exportsOf, mainOf } from "${inner}"; const all = exportsOf(${key}); export default ` +
      `mainOf(${key}); ${named.join(" ")}`
    );
  }

  function sourceOf(name: string): string {
    if (name.startsWith(guest)) return guestSource(name.slice(guest.length));
    return !name.startsWith(builtin) && isModule(name) ? files.read(name) : facade(name);
  }

  /**
   * The engine requests a source even for a name that could not be resolved, at once, and only then accepts an error.
   */
  let unresolved: { readonly name: string; readonly error: Error } | undefined;
  let failures = 0;
  runtime.setModuleLoader(
    (name) => {
      try {
        if (unresolved?.name === name) throw unresolved.error;
        if (isOver()) throw new Error("The call has reached a limit");
        return sourceOf(name);
      } catch (error) {
        return { error: error as Error };
      }
    },
    (from, specifier) => {
      try {
        if (isOver()) throw new Error("The call has reached a limit");
        return normalize(from, specifier);
      } catch (error) {
        failures += 1;
        unresolved = { name: `unresolved:${failures}`, error: error as Error };
        return unresolved.name;
      }
    },
  );

  return {
    require(specifier, from) {
      const name = resolve(specifier, from, "require");
      return { name, isModule: !name.startsWith(builtin) && isModule(name), wantsDefault: files.isCompiled(from) };
    },
    compile: (name) => context.unwrapResult(context.evalCode(wrapped(name), name)),
    importNow(name) {
      const source = `import * as all from ${JSON.stringify(name)}; export { all };`;
      const found = context.unwrapResult(context.evalCode(source, `${guest}import`, { type: "module" }));
      return found.consume((handle) => context.getProp(handle, "all"));
    },
    importGuest: () =>
      context.unwrapResult(context.evalCode(guestSource(guestMain), guest + guestMain, { type: "module" })),
    isRefusal: (message) => [...refusals].some((refusal) => message.includes(refusal)),
  };
}

const isEngineModule = (specifier: string, plain: string): boolean => specifier === door || builtins.has(plain);

function notAvailable(specifier: string, from: string): TransformError {
  const list = [...builtins].join(", ");
  return new TransformError(
    "refused",
    `The import ${JSON.stringify(specifier)} in ${from.slice(1)} is refused: of Node's modules, transforms ` +
      `have ${list}. hooks.transforms.runtime "trusted" has all of them`,
  );
}
