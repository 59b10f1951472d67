/** Tracks the streams of running turns and ends each one on `/stop`, at its time limit or when the gateway closes. */
import { HostError, type SkippedModel, type TurnEvent } from "../../contract/index.ts";
import type { TurnHold } from "../../stations/index.ts";
import { isAfterStop, type Stop } from "./stops.ts";
import { TurnStream } from "./stream.ts";
import type { TimeLimit } from "./turn-input.ts";

/** A stream to read and the turn that it belongs to. */
export interface TurnSource {
  readonly plugin: string;
  readonly sessionKey: string;
  /** The chat and thread that the turn replies to. */
  readonly place: string | undefined;
  /** The event that the turn answers. */
  readonly event: string;
  readonly limit: TimeLimit;
  /** Models that the engine is not handed, because their providers cannot be used. */
  readonly skipped: readonly SkippedModel[];
  readonly previewReasoning: boolean;
  /** What a call of a model used. */
  readonly reported: (usage: Extract<TurnEvent, { readonly type: "usage" }>) => void;
  /** Sees which tools the model refuses. */
  readonly observe?: (event: TurnEvent) => void;
  /** A model has answered; without a name, the first of the turn. */
  readonly answered?: (model: string | undefined) => void;
  /** Called at the first pull. */
  readonly begin: (signal: AbortSignal) => AsyncIterable<TurnEvent>;
  /** Converts what the plugin threw to the error that is reported. */
  readonly failure: (thrown: unknown) => Error;
  /** Is handed the clock of the turn's limit when it starts. */
  readonly onClock?: (clock: TurnHold) => void;
  /** Called when the stream has ended, in whatever way. */
  readonly onEnd?: (() => void) | undefined;
}

interface Running {
  readonly sessionKey: string;
  readonly place: string | undefined;
  readonly event: string;
  readonly startedAt: number;
  readonly outer: AbortSignal;
}

export interface RunningTurns {
  run(source: TurnSource, outer: AbortSignal): TurnStream;
  /** Ends the turns that reply to a place, except those of later events. Returns their number. */
  stop(place: string, stop: Stop, reason: () => Error): number;
  /** Ends the turns of these events. */
  stopEvents(events: readonly string[], reason: () => Error): void;
  all(): readonly Pick<Running, "sessionKey" | "startedAt">[];
}

export function createRunningTurns({ now }: { readonly now: () => number }): RunningTurns {
  const running = new Map<AbortController, Running>();
  const followed = new WeakSet<AbortSignal>();

  /**
   * All turns share one listener on the gateway's signal, because `AbortSignal.any` for each turn is several times
   * slower.
   */
  function follow(outer: AbortSignal): void {
    if (followed.has(outer)) return;
    followed.add(outer);
    const forward = () => {
      for (const [stopper, turn] of running) if (turn.outer === outer) stopper.abort(outer.reason);
    };
    outer.addEventListener("abort", forward, { once: true });
  }

  return {
    run(
      {
        plugin,
        sessionKey,
        place,
        event,
        limit,
        skipped,
        previewReasoning,
        reported,
        observe,
        answered,
        begin,
        failure,
        onClock,
        onEnd,
      },
      outer,
    ) {
      const stopper = new AbortController();
      const { signal } = stopper;
      let timer: NodeJS.Timeout | undefined;
      let left = limit.seconds * 1_000;
      let since = 0;
      const clock: TurnHold = {
        pause() {
          clearTimeout(timer);
          left = Math.max(1, left - (now() - since));
        },
        resume() {
          since = now();
          if (!signal.aborted)
            timer = setTimeout(() => stopper.abort(new HostError("turn_timeout", { ...limit })), left);
        },
      };
      return new TurnStream({
        plugin,
        signal,
        skipped,
        previewReasoning,
        reported,
        observe,
        ...(answered && { answered }),
        begin() {
          if (outer.aborted) stopper.abort(outer.reason);
          else follow(outer);
          void clock.resume();
          onClock?.(clock);
          running.set(stopper, { sessionKey, place, event, startedAt: now(), outer });
          return begin(signal);
        },
        failure,
        end() {
          clearTimeout(timer);
          running.delete(stopper);
          onEnd?.();
        },
      });
    },
    stop(place, stop, reason) {
      const stopped = [...running].filter(([, turn]) => turn.place === place && !isAfterStop(turn.event, stop));
      for (const [stopper] of stopped) stopper.abort(reason());
      return stopped.length;
    },
    stopEvents(events, reason) {
      for (const [stopper, turn] of running) if (events.includes(turn.event)) stopper.abort(reason());
    },
    all: () => [...running.values()],
  };
}
