/** The modules that a thread has loaded, each with its engine; an edited file or a spent engine brings a new one. */
import { relative, sep } from "node:path";
import { createEngine, type Engine } from "./engine/engine.ts";
import { createQuickJs } from "./engine/quickjs.ts";
import type { TransformError } from "./error.ts";
import { type Meter, type Spent, threadCpuMs } from "./meter.ts";
import { compile } from "./modules/compiler.ts";
import { createFiles, type Files } from "./modules/files.ts";
import type { Level } from "./printer.ts";
import type { WorkerSettings } from "./protocol.ts";
import { resolveModule } from "./root.ts";

/** A module, loaded from its files at a certain time. */
export interface LoadedModule {
  readonly root: string;
  readonly module: string;
  readonly file: string;
  readonly files: Files;
  readonly engine: Promise<Engine>;
  /** Set once the module is loaded. */
  ready: Engine | undefined;
  exports: readonly string[];
  failed: { readonly error: TransformError; readonly at: number } | undefined;
}

export interface LoadedModules {
  /** The module as its files are now. Throws `TransformError` when it breaks a rule of the root. */
  get(root: string, module: string): LoadedModule;
  /** The files of every module are checked once more from now on. */
  lookAgain(): void;
}

const maxModules = 32;
/** A module that fails to load is not retried for this time, in milliseconds, unless its file is edited. */
const failedMs = 500;
/** A call that computes for longer, in milliseconds, occupies its thread alone. */
const longMs = 10;

export function createLoadedModules(
  settings: WorkerSettings,
  {
    meter,
    print,
    takesLong,
    requests,
  }: {
    readonly meter: Meter;
    readonly print: (module: string, level: Level, line: string) => void;
    /** Called when a module computes for long. */
    readonly takesLong: (module: string) => void;
    /** Called when a call sends a request over the network. */
    readonly requests: (call: number) => void;
  },
): LoadedModules {
  const quickjs = createQuickJs();
  const loaded = new Map<string, LoadedModule>();
  /** Modules whose files were checked for the calls under way. */
  const looked = new Set<string>();
  let compiled: Spent = { clock: 0, cpu: 0 };

  async function send(outgoing: unknown, { request }: { readonly request: number }): Promise<string> {
    requests(request);
    return await (await import("./requests.ts")).send(outgoing);
  }

  function isCurrent(known: LoadedModule): boolean {
    const isOld = known.failed !== undefined && performance.now() - known.failed.at > failedMs;
    return !isOld && !known.files.isStale(performance.now());
  }

  function load({
    root,
    module,
    realRoot,
    file,
  }: Pick<LoadedModule, "root" | "module" | "file"> & { readonly realRoot: string }): LoadedModule {
    const files = createFiles({
      realRoot,
      compile(source, name) {
        takesLong(module);
        const [clock, cpu] = [performance.now(), threadCpuMs()];
        const code = meter.pause(() => compile(source, name));
        compiled = {
          clock: compiled.clock + performance.now() - clock,
          cpu: compiled.cpu + threadCpuMs() - cpu,
        };
        return code;
      },
    });
    const engine = createEngine({
      quickjs,
      files,
      entry: `/${relative(realRoot, file).split(sep).join("/")}`,
      memoryMb: settings.memoryMb,
      print: (level, line) => print(module, level, line),
      computing(ms) {
        if (ms > longMs) takesLong(module);
      },
      compiled: () => compiled,
      meter,
      fetch: settings.network ? send : undefined,
    });
    return { root, module, file, files, engine, ready: undefined, exports: [], failed: undefined };
  }

  return {
    get(root, module) {
      const known = loaded.get(module);
      const isUsable = known?.root === root && known.ready?.isSpent() !== true;
      if (isUsable && looked.has(module)) return known;
      const { realRoot, file } = resolveModule(root, module);
      looked.add(module);
      if (isUsable && known.file === file && isCurrent(known)) return known;
      const fresh = load({ root, module, realRoot, file });
      loaded.delete(module);
      loaded.set(module, fresh);
      const [oldest] = loaded.keys();
      if (loaded.size > maxModules && oldest !== undefined) loaded.delete(oldest);
      return fresh;
    },
    lookAgain: () => looked.clear(),
  };
}
