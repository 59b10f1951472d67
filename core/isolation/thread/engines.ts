/** The engines of a plugin in its worker. The main thread asks for the events of a turn one by one. */
import type { EngineDefinition, EngineTool, EngineTurn, TurnEvent, TurnRoom } from "../../sdk/contract.ts";
import type { Handlers, Peer } from "../peer.ts";

/** A turn without its functions. */
export type TurnData = Omit<EngineTurn, "tools" | "spending" | "room"> & {
  readonly tools: readonly Omit<EngineTool, "run">[];
  readonly rooms?: TurnRoom["models"];
};

type EngineSpending = NonNullable<EngineTurn["spending"]>;
type Describing = Pick<EngineTurn, "model" | "fallbacks" | "providers">;
type Transcribing = Parameters<NonNullable<EngineDefinition["transcribe"]>>[1];
type Speaking = Parameters<NonNullable<EngineDefinition["speak"]>>[1];
type Completing = Describing & Pick<TurnData, "rooms">;

interface Run {
  readonly events: AsyncIterator<TurnEvent>;
  readonly stop: AbortController;
}

export function engineHandlers({
  peer,
  engine,
}: {
  readonly peer: () => Peer;
  readonly engine: (id: string) => EngineDefinition;
}): Handlers {
  const runs = new Map<number, Run>();
  const spendingOf = (run: number): EngineSpending => ({
    begin: (call) => peer().ask("spendingBegin", [run, call]),
    end: (callId, used) => peer().ask("spendingEnd", [run, callId, used]),
  });
  const roomOf = (run: number, models: TurnRoom["models"] | undefined): { readonly room?: TurnRoom } =>
    models === undefined
      ? {}
      : {
          room: {
            models,
            counted: (request) => peer().ask("roomCounted", [run, request]),
            refused: (request) => peer().ask("roomRefused", [run, request]),
          },
        };
  return {
    "engine.run"([id, run, { rooms, ...turn }]: readonly [string, number, TurnData]) {
      const stop = new AbortController();
      const tools = turn.tools.map(
        (tool, index): EngineTool => ({
          ...tool,
          run: (args, signal) => peer().ask("tool", [run, index, args], signal),
        }),
      );
      const events = engine(id)
        .run({ ...turn, tools, spending: spendingOf(run), ...roomOf(run, rooms) }, stop.signal)
        [Symbol.asyncIterator]();
      runs.set(run, { events, stop });
    },
    "engine.next"([run]: readonly [number]) {
      return runs.get(run)?.events.next();
    },
    "engine.abort"([run]: readonly [number]) {
      runs.get(run)?.stop.abort();
    },
    async "engine.end"([run]: readonly [number]) {
      const found = runs.get(run);
      runs.delete(run);
      await found?.events.return?.();
    },
    "engine.prepare"([id]: readonly [string]) {
      return engine(id).prepare?.();
    },
    "engine.describe"([id, run, image, by]: readonly [string, number, never, Describing], signal) {
      return engine(id).describe?.(image, { ...by, spending: spendingOf(run) }, signal);
    },
    "engine.transcribe"([id, run, sound, by]: readonly [string, number, never, Transcribing], signal) {
      return engine(id).transcribe?.(sound, { ...by, spending: spendingOf(run) }, signal);
    },
    "engine.speak"([id, run, speech, by]: readonly [string, number, never, Speaking], signal) {
      return engine(id).speak?.(speech, { ...by, spending: spendingOf(run) }, signal);
    },
    "engine.complete"([id, run, request, { rooms, ...by }]: readonly [string, number, never, Completing], signal) {
      return engine(id).complete?.(request, { ...by, spending: spendingOf(run), ...roomOf(run, rooms) }, signal);
    },
    "engine.skipped"([id, by]: readonly [string, never]) {
      return engine(id).skipped?.(by);
    },
  };
}
