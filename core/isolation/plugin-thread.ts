/** One thread of a plugin, from its start to its end. It is ended when it does not answer, or takes too much memory. */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { PluginError, reasonOf } from "../contract/index.ts";
import { faultText, onEvent, onMessage } from "../listeners/index.ts";
import { createCallMemory, lastCall } from "./current-call.ts";
import { asMessage, createPeer, type Handlers, type Peer } from "./peer.ts";
import type { Facts, Pulse, ThreadData, ThreadSettings } from "./protocol.ts";

/** Megabytes of the heap of one plugin, and of its buffers, which lie outside the heap. */
const memoryMb = 512;
const megabyte = 1_048_576;
const pulseMs = 1_000;
/**
 * How many heartbeats in a row may stay unanswered. Counted, not timed: while the main thread is blocked, no answer can
 * be read.
 */
const mostMissed = 5;

/** The thread of the plugin has ended before it answered. */
export class ThreadEnded extends PluginError {
  /** Whether the call that was not answered has ended it. A call that awaited something at that moment has not. */
  readonly byCall: boolean;

  constructor(plugin: string, reason: string, byCall = false) {
    super("plugin_worker_ended", { plugin, reason });
    this.byCall = byCall;
  }
}

export interface PluginThread {
  readonly peer: Pick<Peer, "ask" | "tell">;
  /** Called when it has ended, before the calls that wait for it learn that. */
  onEnd(fn: (reason: string) => void): void;
  /** From now on it must answer heartbeats, and errors name the plugin by its id. */
  watch(options: {
    readonly plugin: string;
    readonly facts: () => Facts;
    readonly onPulse: (pulse: Pulse) => void;
  }): void;
  end(reason: string): Promise<void>;
}

export function startThread({
  plugin,
  settings,
  handlers,
}: {
  /** The name in errors, until the id is known. */
  readonly plugin: string;
  readonly settings: ThreadSettings;
  readonly handlers: Handlers;
}): PluginThread {
  // The extension differs between source and compiled code.
  const file = new URL(`./worker${extname(new URL(import.meta.url).pathname)}`, import.meta.url);
  const callMemory = createCallMemory();
  const worker = new Worker(file, {
    workerData: { ...settings, callMemory } satisfies ThreadData,
    name: `plugin ${plugin}`,
    execArgv: ["--disable-warning=ExperimentalWarning"],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  const peer = createPeer((message) => worker.postMessage(message), handlers);
  let name = plugin;
  let notify: (reason: string) => void = () => {};
  let timer: NodeJS.Timeout | undefined;
  let why: string | undefined;
  /** The call that used up the last of the memory may have used little of it. */
  let isFull = false;
  let isOver = false;
  let ending: Promise<unknown> | undefined;

  function over(reason: string): void {
    if (isOver) return;
    isOver = true;
    clearInterval(timer);
    notify(reason);
    const last = isFull ? undefined : lastCall(callMemory);
    peer.end((id) => new ThreadEnded(name, reason, id !== undefined && id === last));
  }

  const source = "its thread";
  onMessage(worker, "message", {
    ...{ source, check: asMessage, handle: peer.receive },
    // Its calls could wait forever for an answer that was spoilt.
    fault: (fault) => void end(`${faultText(fault)}; the port of its thread is not for plugins`),
  });
  onEvent<readonly [unknown]>(worker, "error", {
    source,
    handle(error) {
      const isMemory = (error as { readonly code?: unknown } | null)?.code === "ERR_WORKER_OUT_OF_MEMORY";
      isFull ||= isMemory;
      why ??= isMemory ? `it used more than ${memoryMb} MB of memory` : `uncaught error: ${reasonOf(error)}`;
    },
  });
  onEvent<readonly [number]>(worker, "exit", {
    source,
    handle: (code) => over(why ?? `its thread ended with exit code ${code}, as by process.exit`),
  });

  async function end(reason: string): Promise<void> {
    why ??= reason;
    // What waits for it must not wait for its last breath.
    over(reason);
    // Each `terminate` adds a listener, and a thread that sends many odd messages is ended for each.
    ending ??= worker.terminate();
    await ending;
  }

  return {
    peer,
    end,
    onEnd(fn) {
      notify = fn;
    },
    watch({ plugin: id, facts, onPulse }) {
      name = id;
      let missed = 0;
      const beat = () => {
        missed += 1;
        if (missed > mostMissed) return void end(`it did not answer for ${(mostMissed * pulseMs) / 1_000} s`);
        peer.ask<Pulse>("pulse", [facts()]).then(
          (pulse) => {
            missed = 0;
            if (pulse.externalBytes > memoryMb * megabyte) {
              isFull = true;
              return void end(`it held more than ${memoryMb} MB of buffers`);
            }
            onPulse(pulse);
          },
          () => {},
        );
      };
      timer = setInterval(beat, pulseMs).unref();
      beat();
    },
  };
}
