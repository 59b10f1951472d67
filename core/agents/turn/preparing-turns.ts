/**
 * Turns whose beginning is being read, or whose files are being fetched: `/stop` marks them, and cuts what can be cut.
 */
import { EngineError, type Route } from "../../contract/index.ts";
import { isAfterStop, placeOf, type Stop } from "./stops.ts";

/** A turn that is under way. */
export interface RunningTurn {
  readonly sessionKey: string;
  /** `fetching`: the files of its message. */
  readonly doing: "fetching" | "answering";
  /** Since when, epoch milliseconds. */
  readonly startedAt: number;
}

interface Preparing extends RunningTurn {
  readonly place: string | undefined;
  readonly event: string | undefined;
  stopped: boolean;
  readonly stopper?: AbortController;
}

/** What is prepared: the turn that an event leads to. The event is unknown once its reply is all that is left. */
export interface Prepared {
  readonly route: Route;
  readonly event?: string;
}

export interface PreparingTurns {
  /** Work beside a turn, such as fetching files, that `/stop` aborts. */
  beside<Result>(
    turn: Prepared,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<{ readonly result: Result; readonly stopped: boolean }>;
  /** The beginning of a turn. Throws `stopped` if `/stop` came meanwhile. */
  reading<Result>(turn: Prepared, work: () => Promise<Result>): Promise<Result>;
  /** Stops those that speak in a place, except those of later events; their number. */
  stop(place: string, stop: Stop): number;
  /** Stops those of these events. */
  stopEvents(events: readonly string[]): void;
  all(): readonly RunningTurn[];
}

export function stoppedTurn(): EngineError {
  return new EngineError("stopped", { detail: "The turn was stopped", hint: "Write again to continue." });
}

export function createPreparingTurns({ now }: { readonly now: () => number }): PreparingTurns {
  const preparing = new Set<Preparing>();

  async function during<Result>(
    { route, event }: Prepared,
    { doing, stopper }: Pick<Preparing, "doing" | "stopper">,
    work: () => Promise<Result>,
  ): Promise<{ readonly result: Result; readonly stopped: boolean }> {
    const turn: Preparing = {
      ...{ sessionKey: route.sessionKey, place: placeOf(route), event, doing, startedAt: now(), stopped: false },
      ...(stopper && { stopper }),
    };
    preparing.add(turn);
    try {
      const result = await work();
      return { result, stopped: turn.stopped };
    } finally {
      preparing.delete(turn);
    }
  }

  function end(turn: Preparing): void {
    turn.stopped = true;
    turn.stopper?.abort(stoppedTurn());
  }

  return {
    beside(turn, signal, work) {
      const stopper = new AbortController();
      return during(turn, { doing: "fetching", stopper }, () => work(AbortSignal.any([signal, stopper.signal])));
    },
    async reading(turn, work) {
      const { result, stopped } = await during(turn, { doing: "answering" }, work);
      if (stopped) throw stoppedTurn();
      return result;
    },
    stop(place, stop) {
      const begun = [...preparing].filter(
        (turn) => turn.place === place && (turn.event === undefined || !isAfterStop(turn.event, stop)),
      );
      for (const turn of begun) end(turn);
      return begun.length;
    },
    stopEvents(events) {
      for (const turn of preparing) if (turn.event !== undefined && events.includes(turn.event)) end(turn);
    },
    all: () => [...preparing].map(({ sessionKey, doing, startedAt }) => ({ sessionKey, doing, startedAt })),
  };
}
