/** The streams of turns that are under way: each ends with its stop, its time limit or the gateway. */
import { HostError, type TurnEvent } from "../../contract/index.ts";
import { TurnStream } from "./stream.ts";

/** A stream that is to be read, and whose it is. */
export interface TurnSource {
  readonly plugin: string;
  readonly sessionKey: string;
  /** Where it speaks. */
  readonly place: string | undefined;
  readonly timeoutSeconds: number;
  readonly previewReasoning: boolean;
  /** Called with the first pull. */
  readonly begin: (signal: AbortSignal) => AsyncIterable<TurnEvent>;
  /** What the plugin threw, as it is reported. */
  readonly failure: (thrown: unknown) => Error;
}

interface Running {
  readonly sessionKey: string;
  readonly place: string | undefined;
  readonly startedAt: number;
  readonly outer: AbortSignal;
}

export interface RunningTurns {
  run(source: TurnSource, outer: AbortSignal): TurnStream;
  /** Ends those that speak in a place; their number. */
  stop(place: string, reason: () => Error): number;
  all(): readonly Pick<Running, "sessionKey" | "startedAt">[];
}

export function createRunningTurns({ now }: { readonly now: () => number }): RunningTurns {
  const running = new Map<AbortController, Running>();
  const followed = new WeakSet<AbortSignal>();

  /** Linked by hand, and once for all turns under a signal, which is the gateway's: `AbortSignal.any` for each turn costs several times as much. */
  function follow(outer: AbortSignal): void {
    if (followed.has(outer)) return;
    followed.add(outer);
    const forward = () => {
      for (const [stopper, turn] of running) if (turn.outer === outer) stopper.abort(outer.reason);
    };
    outer.addEventListener("abort", forward, { once: true });
  }

  return {
    run({ plugin, sessionKey, place, timeoutSeconds, previewReasoning, begin, failure }, outer) {
      const stopper = new AbortController();
      const { signal } = stopper;
      let timer: NodeJS.Timeout | undefined;
      return new TurnStream({
        plugin,
        signal,
        previewReasoning,
        begin() {
          if (outer.aborted) stopper.abort(outer.reason);
          else follow(outer);
          timer = setTimeout(() => stopper.abort(new HostError("turn_timeout", { seconds: timeoutSeconds })), timeoutSeconds * 1_000);
          running.set(stopper, { sessionKey, place, startedAt: now(), outer });
          return begin(signal);
        },
        failure,
        end() {
          clearTimeout(timer);
          running.delete(stopper);
        },
      });
    },
    stop(place, reason) {
      const stopped = [...running].filter(([, turn]) => turn.place === place);
      for (const [stopper] of stopped) stopper.abort(reason());
      return stopped.length;
    },
    all: () => [...running.values()],
  };
}
