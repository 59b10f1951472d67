/** Loads the code of a plugin; the only importer of jiti. */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { dirname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { HostError, product, reasonOf } from "../contract/index.ts";
import * as channelDoor from "../sdk/channel.ts";
import * as pluginDoor from "../sdk/index.ts";
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

/** The doors for authors, and the files that stand for them. */
const doors = new Map([
  [`${product.packageName}/sdk`, { module: pluginDoor, file: "../sdk/index.ts" }],
  [`${product.packageName}/sdk/channel`, { module: channelDoor, file: "../sdk/channel.ts" }],
]);
const fromSource = import.meta.url.endsWith(".ts");

/** This package's own folder. */
const packageDirectory = fileURLToPath(new URL(fromSource ? "../../" : "../../../", import.meta.url));

/** Our own libraries are loaded by Node itself: they need no transpiling, and some are large. */
function ownLibraries(): string[] {
  const { dependencies } = JSON.parse(readFileSync(join(packageDirectory, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  return Object.keys(dependencies);
}

/**
 * Bundled plugins are plain enough for Node itself: that spares a transpiler of 100 MB on the first start, and is
 * quicker on every other. The published package finds its own door by its name; in the repository the name would lead
 * to a build that is not there, or to a second instance of the door, so there it is shown the way.
 */
function createBundledImport(): (file: string) => Promise<Module> {
  let shown = !fromSource;
  return (file) => {
    if (!shown) {
      registerHooks({
        resolve(name, context, next) {
          const door = doors.get(name);
          return door === undefined ? next(name, context) : { url: new URL(door.file, import.meta.url).href, shortCircuit: true };
        },
      });
      shown = true;
    }
    return import(pathToFileURL(file).href) as Promise<Module>;
  };
}

/** Anybody's TypeScript, from anywhere. One SDK instance for all: the door is handed over as the module that runs here. */
function createForeignImport(cacheDirectory: string): () => Promise<Jiti> {
  let made: Promise<Jiti> | undefined;
  const make = async (): Promise<Jiti> => {
    // Only when there is such a plugin: few have one, and it costs time and memory.
    const { createJiti } = await import("jiti");
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

/** Code that waits for ever at its top level must not keep the others; with nothing else to do it would even end the process. */
export function createLoader(options: { readonly cacheDirectory: string; readonly fresh: boolean; readonly loadMs?: number }): Loader {
  const { loadMs = pluginDeadlines.load } = options;
  const importBundled = createBundledImport();
  const foreign = createForeignImport(options.cacheDirectory);

  const late = () => new Error(`its code waits for something at its top level, for more than ${loadMs / 1_000} s`);

  async function read({ file, folder = dirname(file), bundled }: PluginSource, again: boolean): Promise<Module> {
    if (bundled && !again) return withDeadline(importBundled(file), loadMs, late);
    // Not in the plugin's time: the transpiler itself takes long on a machine that is busy.
    const jiti = await foreign();
    if (again) forget(jiti.cache, folder);
    return withDeadline(jiti.import<Module>(file), loadMs, late);
  }

  return {
    async load(source, { again = options.fresh } = {}) {
      try {
        return (await read(source, again)).default;
      } catch (error) {
        throw new HostError("plugin_load_failed", { plugin: source.name, reason: reasonOf(error) }, { cause: error });
      }
    },
  };
}

/** Drops a plugin's own modules, so that edited files are read again; its libraries stay. */
function forget(cache: NodeJS.Dict<unknown>, directory: string): void {
  const prefix = directory + sep;
  for (const file of Object.keys(cache)) {
    if (file.startsWith(prefix) && !file.slice(prefix.length).includes(`node_modules${sep}`)) delete cache[file];
  }
}
