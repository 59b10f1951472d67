/**
 * A thread that runs transforms, with one engine for each module. Calls compute one after the other and wait
 * concurrently.
 */
import { sep } from "node:path";
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { reasonOf } from "../contract/index.ts";
import { onMessage } from "../listeners/index.ts";
import type { Outcome } from "./engine/call-effects.ts";
import { TransformError } from "./error.ts";
import { createLoadedModules, type LoadedModule } from "./loaded-modules.ts";
import { createComputingMeter } from "./meter.ts";
import type { Batch, CallRequest, Ended, Report, WorkerData } from "./protocol.ts";

const whereLines = 5;

/** Serves the calls that arrive on a port. */
function serve(port: MessagePort, { meter, ...settings }: WorkerData): void {
  const modules = createLoadedModules(settings, {
    meter: createComputingMeter(meter),
    print: (module, level, line) => post({ module, level, line }),
    takesLong: giveBack,
    requests: (call) => post({ requests: call }),
  });
  const queue: CallRequest[] = [];
  let limits: Batch["limits"] = { cpuMs: 0, timeoutMs: 0 };
  let ended: Ended[] = [];
  let creating = 0;
  let busy = false;
  let flushing = false;

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

  /** Calls whose module is being loaded. */
  const waiting = new Map<LoadedModule, readonly CallRequest[]>();

  /** Loads a module. `creating` includes it until its code has run for the first time. */
  async function bringUp(one: LoadedModule, request: number): Promise<void> {
    creating += 1;
    const settle = (failed?: TransformError): void => {
      if (failed !== undefined) one.failed = { error: failed, at: performance.now() };
      // Added to the queue, so that they can be returned if one of them is slow.
      queue.unshift(...(waiting.get(one) ?? []));
      waiting.delete(one);
      startAll();
    };
    try {
      const engine = await one.engine;
      const done = (outcome: Outcome): void => {
        if (!(outcome instanceof TransformError)) {
          one.ready = engine;
          one.exports = namesIn(outcome);
        }
        settle(outcome instanceof TransformError ? outcome : undefined);
      };
      engine.load({ request, limits, done });
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
        outcome instanceof TransformError
          ? { id: request.id, error: describe(outcome, request.root) }
          : { id: request.id, json: outcome },
      );
      flushSoon();
    };
    try {
      const one = modules.get(request.root, request.module);
      if (one.failed !== undefined) done(one.failed.error);
      else if (one.ready === undefined) {
        const others = waiting.get(one);
        waiting.set(one, [...(others ?? []), request]);
        if (others === undefined) void bringUp(one, request.id);
      } else if (request.context === undefined) done(JSON.stringify(one.exports));
      else one.ready.call(request.export ?? "default", request.context, { request: request.id, limits, done });
    } catch (error) {
      done(error instanceof TransformError ? error : new TransformError("threw", reasonOf(error)));
    }
  }

  function startAll(): void {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) start(next);
    flushSoon();
  }

  onMessage(port, "message", {
    source: "the gateway",
    check: (message) => message as Batch,
    handle(batch) {
      limits = batch.limits;
      queue.push(...batch.calls);
      modules.lookAgain();
      startAll();
    },
  });
}

/** A module can change what its engine makes of the list. */
function namesIn(outcome: string | undefined): readonly string[] {
  const names: unknown = JSON.parse(outcome ?? "[]");
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
}

/** Describes an error in terms of the user's own files. Stack frames of the engine and of this program are left out. */
function describe({ kind, message, where }: TransformError, root: string): NonNullable<Ended["error"]> {
  const lines = (where ?? "").split("\n").filter((line) => /(?:\(|at )\/\S/.test(line));
  const own = lines
    .slice(0, whereLines)
    .map((line) => line.trim().replace(/(\(|at )\//, (_, before: string) => `${before}${root}${sep}`));
  return { kind, message, where: own.length === 0 ? undefined : own.join("\n") };
}

if (parentPort !== null) serve(parentPort, workerData as WorkerData);
