/** A thread that runs transforms, with one engine for each module. Calls compute one after the other and wait concurrently. */
import { relative, sep } from "node:path";
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { reasonOf } from "../contract/index.ts";
import { compile } from "./compiler.ts";
import { createEngine, type Engine, type Outcome } from "./engine.ts";
import { TransformError } from "./error.ts";
import { createFiles, type Files } from "./files.ts";
import type { Batch, CallRequest, Ended, Report, WorkerSettings } from "./protocol.ts";
import { createQuickJs } from "./quickjs.ts";
import { resolveModule } from "./root.ts";

/** A module, loaded from its files at a certain time. */
interface Loaded {
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

const maxModules = 32;
/** A module that fails to load is not retried for this time, in milliseconds, unless its file is edited. */
const failedMs = 500;
/** A call that computes for longer, in milliseconds, occupies its thread alone. */
const longMs = 10;
const whereLines = 5;

/** Serves the calls that arrive on a port. */
function serve(port: MessagePort, settings: WorkerSettings): void {
  const quickjs = createQuickJs();
  const loaded = new Map<string, Loaded>();
  const queue: CallRequest[] = [];
  /** Modules whose files have been checked for the current batch. */
  const looked = new Set<string>();
  let limits: Batch["limits"] = { cpuMs: 0, timeoutMs: 0 };
  let ended: Ended[] = [];
  let creating = 0;
  let busy = false;
  let flushing = false;
  let compiledMs = 0;

  const post = (report: Report): void => port.postMessage(report);

  function flush(): void {
    flushing = false;
    const taken = ended;
    ended = [];
    busy = false;
    post({ ended: taken, free: creating === 0 && queue.length === 0 });
  }

  function flushSoon(): void {
    if (!flushing) setImmediate(flush);
    flushing = true;
  }

  /** Returns calls that have not begun, and results, to the gateway, so that none of them waits for a slow call. */
  function giveBack(module: string): void {
    if (busy && queue.length === 0) return;
    busy = true;
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port))
      queue.push(...(next.message as Batch).calls);
    const back = queue.splice(0).map(({ id }) => id);
    const taken = ended;
    ended = [];
    post({ ended: taken, back, computing: module, free: false });
    flushSoon();
  }

  function load(root: string, module: string): Loaded {
    const known = loaded.get(module);
    const isUsable = known?.root === root && known.ready?.isSpent() !== true;
    if (isUsable && looked.has(module)) return known;
    const { realRoot, file } = resolveModule(root, module);
    looked.add(module);
    if (isUsable && known.file === file) {
      const isOld = known.failed !== undefined && performance.now() - known.failed.at > failedMs;
      if (!isOld && !known.files.isStale(performance.now())) return known;
    }
    const files = createFiles({
      realRoot,
      compile(source, name) {
        giveBack(module);
        const started = performance.now();
        const code = compile(source, name);
        compiledMs += performance.now() - started;
        return code;
      },
    });
    creating += 1;
    const engine = createEngine({
      quickjs,
      files,
      entry: `/${relative(realRoot, file).split(sep).join("/")}`,
      memoryMb: settings.memoryMb,
      print: (level, line) => post({ module, level, line }),
      computing(ms) {
        if (ms > longMs) giveBack(module);
      },
      compiledMs: () => compiledMs,
      fetch: settings.network ? async (request) => (await import("./requests.ts")).send(request) : undefined,
    });
    const fresh: Loaded = { root, module, file, files, engine, ready: undefined, exports: [], failed: undefined };
    loaded.delete(module);
    loaded.set(module, fresh);
    const [oldest] = loaded.keys();
    if (loaded.size > maxModules && oldest !== undefined) loaded.delete(oldest);
    return fresh;
  }

  /** Calls whose module is being loaded. */
  const waiting = new Map<Loaded, readonly CallRequest[]>();

  /** Loads a module. `creating` includes it until its code has run for the first time. */
  async function bringUp(one: Loaded): Promise<void> {
    const settle = (failed?: TransformError): void => {
      if (failed !== undefined) one.failed = { error: failed, at: performance.now() };
      // Added to the queue, so that they can be returned if one of them is slow.
      queue.unshift(...(waiting.get(one) ?? []));
      waiting.delete(one);
      startAll();
    };
    try {
      const engine = await one.engine;
      engine.load(limits, (outcome) => {
        if (outcome instanceof TransformError) return settle(outcome);
        one.ready = engine;
        one.exports = JSON.parse(outcome ?? "[]") as readonly string[];
        settle();
      });
    } catch (error) {
      settle(new TransformError("refused", `The engine cannot be started: ${reasonOf(error)}`));
    } finally {
      creating -= 1;
      flushSoon();
    }
  }

  function start(request: CallRequest): void {
    const done = (outcome: Outcome): void => {
      ended.push(
        outcome instanceof TransformError ? { id: request.id, error: describe(outcome, request.root) } : { id: request.id, json: outcome },
      );
      flushSoon();
    };
    try {
      const one = load(request.root, request.module);
      if (one.failed !== undefined) done(one.failed.error);
      else if (one.ready === undefined) {
        const others = waiting.get(one);
        waiting.set(one, [...(others ?? []), request]);
        if (others === undefined) void bringUp(one);
      } else if (request.context === undefined) done(JSON.stringify(one.exports));
      else one.ready.call(request.export ?? "default", request.context, limits, done);
    } catch (error) {
      done(error instanceof TransformError ? error : new TransformError("threw", reasonOf(error)));
    }
  }

  function startAll(): void {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) start(next);
    flushSoon();
  }

  port.on("message", (batch: Batch) => {
    limits = batch.limits;
    queue.push(...batch.calls);
    looked.clear();
    startAll();
  });
}

/** Describes an error in terms of the user's own files. Stack frames of the engine and of this program are left out. */
function describe({ kind, message, where }: TransformError, root: string): NonNullable<Ended["error"]> {
  const lines = (where ?? "").split("\n").filter((line) => /(?:\(|at )\/.*:\d+/.test(line));
  const own = lines.slice(0, whereLines).map((line) => line.trim().replace(/(\(|at )\//, (_, before: string) => `${before}${root}${sep}`));
  return { kind, message, where: own.length === 0 ? undefined : own.join("\n") };
}

if (parentPort !== null) serve(parentPort, workerData as WorkerSettings);
