/** What the code of a call may cause outside of the engine: output, timers and requests, each within a bound. */
import { reasonOf } from "../../contract/index.ts";
import type { TransformError } from "../error.ts";
import type { Level } from "../printer.ts";

export interface CallLimits {
  readonly cpuMs: number;
  readonly timeoutMs: number;
}

/** The result as JSON, `undefined` if there is none, or the error. */
export type Outcome = string | undefined | TransformError;

export interface Call {
  readonly id: number;
  /** The gateway's number of it. */
  readonly request: number;
  readonly limits: CallLimits;
  readonly done: (outcome: Outcome) => void;
  readonly timers: Map<number, NodeJS.Timeout>;
  requests: number;
  /** Characters of its requests under way, and of their responses until the code has them. */
  held: number;
  spentMs: number;
  printed: number;
  /** The outcome, which can be known before the code has come to rest; what the code still does counts. */
  settled: { readonly outcome: Outcome } | undefined;
  deadline: NodeJS.Timeout | undefined;
}

export const newCall = (given: Pick<Call, "id" | "request" | "limits" | "done">): Call => ({
  ...{ timers: new Map(), requests: 0, held: 0, spentMs: 0, printed: 0, settled: undefined, deadline: undefined },
  ...given,
});

const maxPrinted = 65_536;
const perLine = 100;
const maxTimers = 1_000;
const maxRequests = 32;
/** Requests and responses of a call lie in the memory of the host, outside of the engine's. */
const maxHeld = 16_777_216;
const tooMuch = JSON.stringify({ error: `The responses of a call hold at most ${maxHeld} characters at a time` });

export interface CallEffects {
  /** Prints a line; false when the call may print no more. */
  print(level: Level, line: string): boolean;
  startTimer(id: number, ms: number): void;
  stopTimer(id: number): void;
  send(id: number, request: unknown): void;
}

export function createCallEffects({
  calls,
  current,
  enter,
  print,
  fetch,
}: {
  readonly calls: ReadonlyMap<number, Call>;
  /** The call that is currently computing. */
  readonly current: () => Call | undefined;
  /** Lets code compute for a call again. */
  readonly enter: (call: Call, name: string, ...given: readonly (string | number)[]) => void;
  readonly print: (level: Level, line: string) => void;
  /** Absent without `hooks.transforms.network`. */
  readonly fetch: ((request: unknown, by: Pick<Call, "request">) => Promise<string>) | undefined;
}): CallEffects {
  return {
    print(level, line) {
      const call = current();
      if (call === undefined) return false;
      const before = call.printed;
      call.printed += line.length + perLine;
      if (call.printed <= maxPrinted) {
        print(level, line);
        return true;
      }
      if (before <= maxPrinted)
        print("warn", `the rest of this call's output was dropped: a call may print ${maxPrinted} characters`);
      return false;
    },
    startTimer(id, ms) {
      const call = current();
      if (call === undefined || call.settled !== undefined) return;
      if (call.timers.size >= maxTimers) throw new RangeError(`A call can have at most ${maxTimers} timers`);
      const timer = setTimeout(() => {
        call.timers.delete(id);
        enter(call, "fire", id);
      }, ms);
      call.timers.set(id, timer);
    },
    stopTimer(id) {
      for (const { timers } of calls.values()) {
        clearTimeout(timers.get(id));
        timers.delete(id);
      }
    },
    send(id, request) {
      const call = current();
      if (call === undefined || fetch === undefined || call.requests >= maxRequests) {
        throw new RangeError(`A call can have at most ${maxRequests} requests at a time`);
      }
      const sent = JSON.stringify(request).length;
      if (call.held + sent > maxHeld)
        throw new RangeError(`The requests of a call hold at most ${maxHeld} characters at a time`);
      call.requests += 1;
      call.held += sent;
      const receive = (json: string): void => {
        call.requests -= 1;
        call.held -= sent;
        enter(call, "received", id, json);
      };
      fetch(request, call).then(
        (json) => {
          if (call.held + json.length > maxHeld) return receive(tooMuch);
          call.held += json.length;
          receive(json);
          call.held -= json.length;
        },
        (error: unknown) => receive(JSON.stringify({ error: `The request failed: ${reasonOf(error)}` })),
      );
    },
  };
}
