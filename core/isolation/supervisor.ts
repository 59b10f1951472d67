/**
 * Keeps the thread of one plugin running: when it ends, another one starts after a wait, and is set up as the first one
 * was.
 */
import { randomInt } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { reasonOf } from "../contract/index.ts";
import { callPlugin, pluginDeadlines, type WorkerReport } from "../host/index.ts";
import type { PluginLog } from "../sdk/contract.ts";
import type { Declared, Registered } from "./declaration.ts";
import type { Handlers } from "./peer.ts";
import { type PluginThread, startThread, ThreadEnded } from "./plugin-thread.ts";
import type { Facts, OwnFacts, Pulse, ThreadSettings } from "./protocol.ts";

/** The first wait before another start, and the longest; as those of a lost connection. */
const firstWaitMs = 1_000;
const longestWaitMs = 60_000;

export interface Follower {
  /** The thread has ended: `inMs` is the wait before the next start. */
  down(reason: string, inMs: number): void;
  /** Another thread is set up. */
  up(): Promise<void>;
}

/** What `setup` is handed: the options of the plugin and its section, as they are when a thread starts. */
export type SetupFacts = () => readonly [options: unknown, own: OwnFacts];

export interface Supervisor {
  /** The id of the plugin. */
  readonly plugin: string;
  readonly report: () => WorkerReport;
  readonly isUp: () => boolean;
  /** The first thread has loaded the plugin: sets it up, and keeps it up from now on. */
  setUp(facts: SetupFacts, follower: Follower): Promise<Registered>;
  /** Asks the running thread. Rejects with `ThreadEnded` if there is none, or if it ends before it answers. */
  ask<T>(call: string, args: readonly unknown[], signal?: AbortSignal): Promise<T>;
  /**
   * Waits for a running thread first. An aborted call is not begun. `repeat`: if another call ends the thread before it
   * answers, asks the next one again, once.
   */
  askWhenUp<T>(
    call: string,
    args: readonly unknown[],
    how?: { readonly signal?: AbortSignal; readonly repeat?: boolean },
  ): Promise<T>;
  tell(call: string, args: readonly unknown[]): void;
  /** Rejects once it is closed. */
  whenUp(): Promise<void>;
  close(): Promise<void>;
}

export interface SupervisorOptions {
  readonly settings: ThreadSettings;
  readonly handlers: Handlers;
  readonly log: PluginLog;
  readonly now: () => number;
  readonly facts: () => Facts;
  readonly onPulse: (pulse: Pulse) => void;
}

async function loadIn(thread: PluginThread, name: string): Promise<Declared> {
  try {
    // Longer than the loader's own deadline, which does not run while the module blocks its thread.
    return await callPlugin({ plugin: name, doing: "load" }, pluginDeadlines.load + 5_000, () =>
      thread.peer.ask<Declared>("load", []),
    );
  } catch (error) {
    await thread.end(reasonOf(error));
    throw error;
  }
}

/** Starts the first thread and loads the plugin there. */
export async function startSupervisor(
  options: SupervisorOptions,
): Promise<{ readonly declared: Declared; readonly supervisor: Supervisor }> {
  const { settings, handlers } = options;
  const { name } = settings.source;
  const first = startThread({ plugin: name, settings, handlers });
  const declared = await loadIn(first, name);
  return { declared, supervisor: supervise(first, declared, options) };
}

function supervise(
  first: PluginThread,
  declared: Declared,
  { settings, handlers, log, now, facts, onPulse }: SupervisorOptions,
): Supervisor {
  const plugin = declared.id;
  let thread: PluginThread = first;
  let isUp = false;
  let isClosed = false;
  let upSince = 0;
  let failures = 0;
  let restarts = 0;
  let lastEnd: WorkerReport["lastEnd"];
  let waiters: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let setup: { readonly facts: SetupFacts; readonly follower: Follower; readonly registered: Registered } | undefined;

  const ended = () => new ThreadEnded(plugin, lastEnd?.reason ?? "it is closed");
  const setUpIn = (one: PluginThread, facts: SetupFacts): Promise<Registered> =>
    callPlugin({ plugin, doing: "setup" }, pluginDeadlines.setup, () => one.peer.ask<Registered>("setup", facts()));

  function markUp(): void {
    isUp = true;
    upSince = now();
    thread.watch({ plugin, facts, onPulse });
    const waited = waiters;
    waiters = [];
    for (const { resolve } of waited) resolve();
  }

  function follow(one: PluginThread): void {
    one.onEnd((reason) => {
      if (isClosed || one !== thread) return;
      if (isUp && now() - upSince >= longestWaitMs) failures = 0;
      isUp = false;
      startAgain(reason);
    });
  }

  function startAgain(reason: string): void {
    const doubled = Math.min(firstWaitMs * 2 ** Math.min(failures, 10), longestWaitMs);
    const waitMs = doubled + randomInt(Math.ceil(doubled / 5));
    failures += 1;
    lastEnd = { at: now(), reason };
    log.error({ reason, restartInMs: waitMs }, "the worker of the plugin has ended, and starts again");
    setup?.follower.down(reason, waitMs);
    timer = setTimeout(() => void restart(), waitMs);
  }

  async function restart(): Promise<void> {
    if (setup === undefined) return;
    const next = startThread({ plugin, settings, handlers });
    try {
      thread = next;
      const again = await loadIn(next, plugin);
      const registered = await setUpIn(next, setup.facts);
      if (!isDeepStrictEqual([again, registered], [declared, setup.registered]))
        throw new Error("it declares something else than before: restart the gateway, or put its files back");
    } catch (error) {
      await next.end(reasonOf(error));
      if (!isClosed) startAgain(reasonOf(error));
      return;
    }
    if (isClosed) return;
    restarts += 1;
    follow(next);
    markUp();
    log.warn({ restarts, reason: lastEnd?.reason }, "the worker of the plugin is up again");
    await setup.follower.up();
  }

  const supervisor: Supervisor = {
    plugin,
    report: () => ({ state: isUp ? "up" : "restarting", restarts, lastEnd }),
    isUp: () => isUp,
    async setUp(facts, follower) {
      const registered = await setUpIn(thread, facts);
      setup = { facts, follower, registered };
      follow(thread);
      markUp();
      return registered;
    },
    ask: (call, args, signal) => (isUp ? thread.peer.ask(call, args, signal) : Promise.reject(ended())),
    async askWhenUp(call, args, { signal, repeat = false } = {}) {
      await supervisor.whenUp();
      // The caller may have given up meanwhile, and a call that ends its thread would end the next one too.
      signal?.throwIfAborted();
      try {
        return await thread.peer.ask(call, args, signal);
      } catch (error) {
        if (!repeat || isClosed || !(error instanceof ThreadEnded) || error.byCall) throw error;
      }
      await supervisor.whenUp();
      signal?.throwIfAborted();
      return await thread.peer.ask(call, args, signal);
    },
    tell(call, args) {
      if (isUp) thread.peer.tell(call, args);
    },
    whenUp() {
      if (isUp) return Promise.resolve();
      if (isClosed) return Promise.reject(ended());
      return new Promise((resolve, reject) => waiters.push({ resolve, reject }));
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      clearTimeout(timer);
      for (const { reject } of waiters) reject(ended());
      if (isUp)
        await callPlugin({ plugin, doing: "onClose" }, pluginDeadlines.onClose - 500, () =>
          thread.peer.ask("close", []),
        ).catch(() => {});
      isUp = false;
      await thread.end("it is closed");
    },
  };
  return supervisor;
}
