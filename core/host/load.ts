/** Loads the code of a plugin; the only importer of jiti. */
import { readFileSync, realpathSync } from "node:fs";
import { registerHooks } from "node:module";
import { dirname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { HostError, product, reasonOf } from "../contract/index.ts";
import * as channelDoor from "../sdk/channel.ts";
import * as pluginDoor from "../sdk/index.ts";
import * as readingDoor from "../sdk/reading.ts";
import * as storeDoor from "../sdk/store.ts";
import * as toolsDoor from "../sdk/tools.ts";
import { pluginDeadlines, withDeadline } from "./deadline.ts";
import type { PluginSource } from "./find.ts";

export interface Loader {
  /** The module's default export. `again`: its files are read again, although this process has loaded them before. */
  load(source: PluginSource, options?: { readonly again?: boolean }): Promise<unknown>;
}

interface Module {
  readonly default?: unknown;
}

type Jiti = ReturnType<typeof import("jiti")["createJiti"]>;

/** The modules that plugin authors import, and their source files. */
const doors = new Map([
  [`${product.packageName}/sdk`, { module: pluginDoor, file: "../sdk/index.ts" }],
  [`${product.packageName}/sdk/channel`, { module: channelDoor, file: "../sdk/channel.ts" }],
  [`${product.packageName}/sdk/store`, { module: storeDoor, file: "../sdk/store.ts" }],
  [`${product.packageName}/sdk/reading`, { module: readingDoor, file: "../sdk/reading.ts" }],
  [`${product.packageName}/sdk/tools`, { module: toolsDoor, file: "../sdk/tools.ts" }],
]);
const fromSource = import.meta.url.endsWith(".ts");

/** The folder of this package. */
const packageDirectory = fileURLToPath(new URL(fromSource ? "../../" : "../../../", import.meta.url));

/** Node itself loads our own libraries: they need no transpiling, and some are large. */
function ownLibraries(): string[] {
  const { dependencies } = JSON.parse(readFileSync(join(packageDirectory, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  return Object.keys(dependencies);
}

/**
 * Node loads bundled plugins directly. That avoids a transpiler of 100 MB on the first start, and is faster on every
 * other. The published package resolves its own name. In the repository that name would lead to a build that does not
 * exist, or to a second instance of the SDK, so there the import is redirected to the source file.
 */
function createBundledImport(): (file: string) => Promise<Module> {
  let shown = !fromSource;
  return (file) => {
    if (!shown) {
      registerHooks({
        resolve(name, context, next) {
          const door = doors.get(name);
          return door === undefined
            ? next(name, context)
            : { url: new URL(door.file, import.meta.url).href, shortCircuit: true };
        },
      });
      shown = true;
    }
    return import(pathToFileURL(file).href) as Promise<Module>;
  };
}

/**
 * The transpiler asks Node to load JavaScript, and transpiles it only if that fails. Node would never read such a file
 * again, and would resolve the SDK to the copy beside the plugin. So the files of plugins are refused to the
 * transpiler's own imports.
 */
function keepFromNode(folders: ReadonlySet<string>): void {
  registerHooks({
    resolve(name, context, next) {
      const found = next(name, context);
      const isAsked =
        context.parentURL !== undefined && transpiler.test(context.parentURL) && found.url.startsWith("file:");
      if (isAsked && [...folders].some((folder) => isIn(folder, fileURLToPath(found.url))))
        throw new Error(`${found.url} is a file of a plugin, which the transpiler reads`);
      return found;
    },
  });
}

const transpiler = /\/node_modules\/jiti\/lib\/[^/]+$/;

/**
 * Imports third-party code from any folder. All plugins share one SDK instance: the running module is passed to them.
 */
function createForeignImport(cacheDirectory: string, folders: ReadonlySet<string>): () => Promise<Jiti> {
  let made: Promise<Jiti> | undefined;
  const make = async (): Promise<Jiti> => {
    // Loaded only if there is such a plugin, because few users have one and it costs time and memory.
    const { createJiti } = await import("jiti");
    keepFromNode(folders);
    return createJiti(import.meta.url, {
      fsCache: cacheDirectory,
      virtualModules: Object.fromEntries([...doors].map(([name, { module }]) => [name, module])),
      nativeModules: ownLibraries(),
      interopDefault: false,
      sourceMaps: false,
    });
  };
  return () => (made ??= make());
}

/**
 * The deadline keeps a module whose top-level code never finishes from blocking the other plugins, or even from ending
 * an otherwise idle process.
 */
export function createLoader(options: {
  readonly cacheDirectory: string;
  readonly fresh: boolean;
  readonly loadMs?: number;
}): Loader {
  const { loadMs = pluginDeadlines.load } = options;
  const importBundled = createBundledImport();
  /** The folders of the plugins that the transpiler reads. */
  const folders = new Set<string>();
  const foreign = createForeignImport(options.cacheDirectory, folders);

  const late = () => new Error(`its code waits for something at its top level, for more than ${loadMs / 1_000} s`);

  async function read({ file, folder = dirname(file), bundled }: PluginSource, again: boolean): Promise<Module> {
    if (bundled && !again) return withDeadline(importBundled(file), loadMs, late);
    // Not in the plugin's time: the transpiler itself takes long on a machine that is busy.
    const jiti = await foreign();
    // Behind a link, modules are known by either path.
    for (const own of [folder, realpathSync(folder)]) {
      folders.add(own);
      if (again) forget(jiti.cache, own);
    }
    return withDeadline(jiti.import<Module>(file), loadMs, late);
  }

  return {
    async load(source, { again = options.fresh } = {}) {
      try {
        return exportOf(await read(source, again));
      } catch (error) {
        throw new HostError("plugin_load_failed", { plugin: source.name, reason: reasonOf(error) }, { cause: error });
      }
    },
  };
}

/**
 * The default export. A CommonJS module has none unless a compiler wrote it, so everything that it exports is the
 * value.
 */
function exportOf(module: Module | null): unknown {
  if (typeof module !== "object" || module === null) return module;
  if ("default" in module || "__esModule" in module) return module.default;
  return Object.keys(module).length === 0 ? undefined : module;
}

/** Removes a plugin's own modules from the cache, so that edited files are read again. Its libraries stay cached. */
function forget(cache: NodeJS.Dict<unknown>, folder: string): void {
  for (const file of Object.keys(cache)) if (isIn(folder, file)) delete cache[file];
}

/** Whether a file is a plugin's own, and not one of its libraries. */
const isIn = (folder: string, file: string): boolean =>
  file.startsWith(folder + sep) && !file.slice(folder.length).includes(`${sep}node_modules${sep}`);
