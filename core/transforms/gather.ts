/** Calls of one module that wait at the same time travel to its process together: under load, each way there costs more than the call. */
import type { Json } from "../types.ts";
import { TransformError } from "./error.ts";
import { NotRun } from "./process.ts";
import type { Seat, SeatCall } from "./seat.ts";

/** Calls behind one that hangs wait for its end before they are made elsewhere: so they are few. */
const mostTogether = 8;
/** Of one module, so that one that hangs leaves the others room to wait; a delivery that is taken apart brings 200 calls at once. */
const mostWaiting = 600;

interface Waiting {
  readonly call: SeatCall;
  readonly resolve: (result: Json | undefined) => void;
  readonly reject: (error: unknown) => void;
  /** Runs while it waits. */
  timer: NodeJS.Timeout | undefined;
}

/** One module's calls that wait, oldest first, and for how many processes it has asked. */
interface Queue {
  readonly waiting: Waiting[];
  asking: number;
}

export interface Gatherer {
  run(module: string, call: SeatCall): Promise<Json | undefined>;
}

export function createGatherer(options: {
  /** Hands over a process of the module, for as long as the work takes. */
  readonly use: (module: string, work: (seat: Seat) => Promise<void>) => Promise<void>;
  /** Processes that one module may have. */
  readonly mostProcesses: number;
  readonly timeoutMs: () => number;
  /** Milliseconds that a call may wait for a process. */
  readonly waitMs: number;
  /** Whether a call that failed so is to be made again. */
  readonly again: (error: unknown) => boolean;
}): Gatherer {
  const queues = new Map<string, Queue>();

  function wait(queue: Queue, waiting: Waiting, place: "first" | "last"): void {
    queue.waiting[place === "first" ? "unshift" : "push"](waiting);
    waiting.timer ??= setTimeout(() => {
      const at = queue.waiting.indexOf(waiting);
      if (at === -1) return;
      queue.waiting.splice(at, 1);
      waiting.reject(new TransformError("timeout", `It waited ${options.waitMs / 1_000} s for a free process`));
    }, options.waitMs);
  }

  function take(queue: Queue, count: number): readonly Waiting[] {
    const taken = queue.waiting.splice(0, count);
    for (const waiting of taken) {
      clearTimeout(waiting.timer);
      waiting.timer = undefined;
    }
    return taken;
  }

  async function serve(queue: Queue, seat: Seat): Promise<void> {
    const together = take(queue, mostTogether);
    // Another process may have taken all of them by now.
    if (together.length === 0) return;
    const results = seat.callAll(
      together.map(({ call }) => call),
      options.timeoutMs(),
    );
    const over = await Promise.all(
      together.map((waiting, index) =>
        (results[index] as Promise<Json | undefined>).then(
          (result) => {
            waiting.resolve(result);
            return true;
          },
          (error: unknown) => {
            const again = error instanceof NotRun || options.again(error);
            if (!again) waiting.reject(error);
            return !again;
          },
        ),
      ),
    );
    for (const waiting of together.filter((_, index) => !over[index]).reverse()) wait(queue, waiting, "first");
  }

  /** Asks for a process; whoever waits when it is there goes with it. */
  function ask(module: string, queue: Queue): void {
    if (queue.waiting.length === 0 && queue.asking === 0) queues.delete(module);
    if (queue.asking >= Math.min(queue.waiting.length, options.mostProcesses)) return;
    queue.asking += 1;
    const before = new Set(queue.waiting);
    options
      .use(module, (seat) => serve(queue, seat))
      .catch((error: unknown) => {
        // There is no process for them; those that came later ask once more.
        const all = take(queue, queue.waiting.length);
        for (const waiting of all) {
          if (before.has(waiting)) waiting.reject(error);
          else wait(queue, waiting, "last");
        }
      })
      .finally(() => {
        queue.asking -= 1;
        ask(module, queue);
      });
  }

  return {
    run: (module, call) =>
      new Promise((resolve, reject) => {
        const queue = queues.get(module) ?? { waiting: [], asking: 0 };
        queues.set(module, queue);
        if (queue.waiting.length >= mostWaiting) {
          reject(new TransformError("refused", `${mostWaiting} calls of this transform wait already`));
          return;
        }
        wait(queue, { call, resolve, reject, timer: undefined }, "last");
        ask(module, queue);
      }),
  };
}
