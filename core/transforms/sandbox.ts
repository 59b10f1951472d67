/** Runs the transforms of a gateway in the configured runtime. */

import type { Json, TransformContext } from "../contract/index.ts";
import type { PluginLog } from "../sdk/contract.ts";
import { placeOf, TransformError } from "./error.ts";
import { createPool, type Pool, type PoolCall } from "./pool.ts";
import { createPrinter, type Level } from "./printer.ts";
import { moduleNameProblem } from "./root.ts";

export interface TransformSettings {
  /** `trusted`: each module runs in a process of its own with full access to Node. */
  readonly runtime: "sandbox" | "trusted";
  readonly memoryMb: number;
  readonly cpuMs: number;
  readonly timeoutSeconds: number;
  readonly network: boolean;
}

export interface TransformsOptions {
  /** The transforms root, determined again for each call. Throws `TransformError` if it breaks a rule. */
  readonly root: () => string;
  readonly settings: () => TransformSettings;
  readonly log: Pick<PluginLog, Level>;
  /** The time in milliseconds, from a monotonic clock: after a jump, a thread that computes would be ended as stuck. */
  readonly now: () => number;
  /** Maximum number of threads, or of processes that repeat calls of trusted modules. Default: 4. */
  readonly threads?: number;
  /** Milliseconds after which an idle thread or process ends. Default: one minute. */
  readonly idleMs?: number;
}

export interface Transforms {
  /**
   * Runs one transform. `undefined` overrides nothing, `null` means that there is nothing to do, an object overrides
   * fields. Rejects with `TransformError`.
   */
  run(call: {
    readonly module: string;
    readonly export?: string | undefined;
    readonly context: TransformContext;
  }): Promise<Json | undefined>;
  /** Loads a module and returns the names of its exported functions. Rejects with `TransformError`. */
  exportsOf(module: string): Promise<readonly string[]>;
  /** Ends every thread and process, and rejects waiting calls. */
  close(): Promise<void>;
}

export function createTransforms({
  root,
  settings,
  log,
  now,
  threads = 4,
  idleMs = 60_000,
}: TransformsOptions): Transforms {
  const printer = createPrinter({ log, now });
  const print = (module: string, level: Level, line: string): void => printer.print(module, level, line);
  const limits = () => ({ cpuMs: settings().cpuMs, timeoutMs: settings().timeoutSeconds * 1_000 });
  let pool: { readonly key: string; readonly pool: Promise<Pool>; running: number } | undefined;
  let closed = false;

  async function open({ runtime, memoryMb, network }: TransformSettings): Promise<Pool> {
    if (runtime !== "trusted")
      return createPool({ settings: { memoryMb, network }, limits, print, now, size: threads, idleMs });
    const { createTrusted } = await import("./trusted.ts");
    return createTrusted({ memoryMb, limits, print, now, size: threads, idleMs });
  }

  async function ask(call: Omit<PoolCall, "root">): Promise<string | undefined> {
    if (closed) throw new TransformError("refused", "The gateway closes");
    const problem = moduleNameProblem(call.module);
    if (problem !== undefined)
      throw new TransformError("refused", `The transform module ${JSON.stringify(call.module)} ${problem}`);
    const current = settings();
    const key = `${current.runtime}:${current.memoryMb}:${current.network}`;
    if (pool?.key !== key) {
      const old = pool;
      pool = { key, pool: open(current), running: 0 };
      if (old?.running === 0) void old.pool.then((idle) => idle.close());
    }
    const own = pool;
    own.running += 1;
    const at = root();
    try {
      // `./a.ts` and `a.ts` are the same module.
      return await (await own.pool).run({ ...call, module: call.module.replace(/^(?:\.\/)+/, ""), root: at });
    } catch (error) {
      if (error instanceof TransformError && error.kind !== "refused")
        error.place = placeOf(error, { module: call.module, root: at });
      throw error;
    } finally {
      own.running -= 1;
      // The settings changed while this ran. Calls that began with the old settings end with them.
      if (own !== pool && own.running === 0) await (await own.pool).close();
    }
  }

  return {
    async run({ module, export: name, context }) {
      const json = await ask({ module, export: name, context: JSON.stringify(context) });
      return json === undefined ? undefined : checkResult(JSON.parse(json));
    },
    exportsOf: async (module) => JSON.parse((await ask({ module })) ?? "[]") as readonly string[],
    async close() {
      closed = true;
      await (await pool?.pool)?.close();
    },
  };
}

/**
 * The runtime has already checked the result, to help its author. Code that replaced those checks must still obey the
 * rules.
 */
function checkResult(value: unknown): Json {
  if (value === null) return value;
  if (typeof value !== "object" || Array.isArray(value) || !isTame(value, 1)) {
    throw new TransformError("result", "The result must be a plain object, null or undefined");
  }
  return value as Json;
}

function isTame(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (depth > 64) return false;
  if (Array.isArray(value)) return value.every((item) => isTame(item, depth + 1));
  return Object.entries(value).every(([key, item]) => key !== "__proto__" && isTame(item, depth + 1));
}
