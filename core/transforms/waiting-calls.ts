/**
 * Calls that wait for a thread, by module: the module that was served longest ago comes first, and each module's calls
 * in their order.
 */
import { TransformError } from "./error.ts";
import type { CallRequest } from "./protocol.ts";

const waitMs = 30_000;
const maxWaiting = 1_000;
const maxWaitingOfModule = 600;

export interface WaitingCall {
  readonly request: CallRequest;
  readonly resolve: (json: string | undefined) => void;
  readonly reject: (error: TransformError) => void;
  /** When it came, in milliseconds of the pool's clock. */
  readonly since: number;
}

export interface WaitingCalls {
  /** Rejects the call when too many wait already. */
  add(call: WaitingCall): void;
  /** Puts back what a thread has not begun. */
  putBack(call: WaitingCall): void;
  /** Takes the oldest calls of a module, whose turn is the last one then. */
  take(module: string, most: number): readonly WaitingCall[];
  /** The modules that have calls, each with the time when its oldest call came. */
  modules(): readonly { readonly module: string; readonly since: number }[];
  /** Rejects the calls that have waited for 30 s. */
  giveUp(now: number): void;
  takeAll(): readonly WaitingCall[];
}

export function createWaitingCalls(): WaitingCalls {
  const queues = new Map<string, WaitingCall[]>();
  let count = 0;

  function queueOf(module: string): WaitingCall[] {
    const queue = queues.get(module) ?? [];
    queues.set(module, queue);
    return queue;
  }

  return {
    add(call) {
      const { module } = call.request;
      const queued = queues.get(module)?.length ?? 0;
      if (count >= maxWaiting || queued >= maxWaitingOfModule) {
        const reason = `${queued} calls of this transform and ${count} of all transforms wait already`;
        return call.reject(new TransformError("refused", reason));
      }
      queueOf(module).push(call);
      count += 1;
    },
    putBack(call) {
      queueOf(call.request.module).unshift(call);
      count += 1;
    },
    take(module, most) {
      const queue = queueOf(module);
      const taken = queue.splice(0, most);
      count -= taken.length;
      queues.delete(module);
      if (queue.length > 0) queues.set(module, queue);
      return taken;
    },
    modules: () => [...queues].map(([module, [oldest]]) => ({ module, since: oldest?.since ?? 0 })),
    giveUp(now) {
      for (const [module, queue] of queues) {
        const { late = [], waiting = [] } = Object.groupBy(queue, ({ since }) =>
          now - since >= waitMs ? "late" : "waiting",
        );
        for (const { reject } of late)
          reject(new TransformError("timeout", `It waited ${waitMs / 1_000} s for a free thread`));
        count -= late.length;
        if (waiting.length === 0) queues.delete(module);
        else queues.set(module, waiting);
      }
    },
    takeAll() {
      const all = [...queues.values()].flat();
      queues.clear();
      count = 0;
      return all;
    },
  };
}
