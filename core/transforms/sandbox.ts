/** The transforms of a gateway: what the hook server asks, and what stands behind it. */
import { statSync } from "node:fs";
import type { PluginLog } from "../sdk.ts";
import type { Json } from "../types.ts";
import type { TransformContext } from "./definition.ts";
import { TransformError } from "./error.ts";
import type { Reply } from "./frames.ts";
import { createGatherer } from "./gather.ts";
import { createPool, perModule, waitMs } from "./pool.ts";
import { createPrinter } from "./printer.ts";
import { moduleNameProblem, resolveModule } from "./root.ts";
import type { Seat } from "./seat.ts";
import { markOf } from "./snapshot.ts";
import { createSnapshots } from "./snapshots.ts";
import type { Watchman } from "./watchman.ts";

export interface TransformSettings {
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  readonly network: boolean;
}

export interface TransformsOptions {
  /** The transforms root; asked again whenever a module is checked or loaded. Throws `TransformError` when it breaks a rule. */
  readonly root: () => string;
  readonly settings: () => TransformSettings;
  readonly log: Pick<PluginLog, "debug" | "info" | "warn" | "error">;
  readonly now: () => number;
  /** Private directory for copies; nobody else uses it. It is emptied at the first use and removed by `close`. */
  readonly cacheDirectory: string;
  /** Processes at a time; default 8. Each takes some 45 MB while it is there. */
  readonly processes?: number;
  /** Milliseconds after which an idle process is let go; default a minute. */
  readonly idleMs?: number;
}

export interface Transforms {
  /**
   * Runs one transform: `undefined` overrides nothing, `null` means there is nothing to do, an object overrides fields.
   * Rejects with `TransformError`.
   */
  run(call: {
    readonly module: string;
    readonly export?: string | undefined;
    readonly context: TransformContext;
  }): Promise<Json | undefined>;
  /** Loads a module and says which functions it exports. Rejects with `TransformError`. */
  exportsOf(module: string): Promise<readonly string[]>;
  /** Ends every process, rejects what waits, removes the copies. */
  close(): Promise<void>;
}

/** Requests that arrive together are answered by one look at the files: a look for each would be a tenth of a call's cost. */
function onceATick(look: () => boolean): () => boolean {
  let known: boolean | undefined;
  return () => {
    if (known === undefined) {
      known = look();
      setImmediate(() => {
        known = undefined;
      });
    }
    return known;
  };
}

export function createTransforms(options: TransformsOptions): Transforms {
  const { log, now, processes = 8, idleMs = 60_000 } = options;
  const snapshots = createSnapshots({ directory: options.cacheDirectory });
  const printer = createPrinter({ log, now });
  let watchman: Watchman | undefined;
  const timeoutMs = () => options.settings().timeoutSeconds * 1_000;
  const limits = (): string => {
    const { memoryMb, network } = options.settings();
    return `${memoryMb}:${network}`;
  };

  async function open(module: string): Promise<Seat> {
    // Only here: whoever has no transforms never loads what starts processes.
    const [{ openSeat }, { createWatchman }] = await Promise.all([import("./seat.ts"), import("./watchman.ts")]);
    watchman ??= createWatchman();
    const { memoryMb, network } = options.settings();
    const before = limits();
    const onReply = (reply: Reply) => printer.print(module, reply);
    const seat = await openSeat({
      root: options.root,
      module,
      snapshots,
      watchman,
      memoryMb,
      network,
      timeoutMs: timeoutMs(),
      now,
      onReply,
    });
    return { ...seat, isStale: onceATick(() => limits() !== before || seat.isStale()) };
  }

  const mark = (module: string): string => {
    try {
      return markOf(statSync(resolveModule(options.root(), module).file));
    } catch {
      return "";
    }
  };

  const pool = createPool<Seat>({ open, mark, now, size: processes, idleMs });

  async function use<T>(module: string, work: (seat: Seat) => Promise<T>): Promise<T> {
    const problem = moduleNameProblem(module);
    if (problem !== undefined) throw new TransformError("refused", `The transform module ${JSON.stringify(module)} ${problem}`);
    return await pool.use(module, work);
  }

  const gatherer = createGatherer({
    use,
    mostProcesses: perModule,
    timeoutMs,
    waitMs,
    again: (error) => error instanceof Error && error.name === "CompiledMeanwhile",
  });

  return {
    run: ({ module, export: name, context }) => gatherer.run(module, { export: name, context }),
    exportsOf: (module) => use(module, async (seat) => seat.exports),
    async close() {
      await pool.close();
      await snapshots.close();
    },
  };
}
