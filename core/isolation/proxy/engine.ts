/** The engines of a plugin in a worker, as the core runs them. */
import { EngineError, reasonOf, type SkippedModel } from "../../contract/index.ts";
import type { EngineDefinition, EngineTool, EngineTurn, Json, TurnEvent, TurnRoom } from "../../sdk/contract.ts";
import type { EngineData } from "../declaration.ts";
import type { Handlers } from "../peer.ts";
import { ThreadEnded } from "../plugin-thread.ts";
import type { Supervisor } from "../supervisor.ts";

type EngineSpending = NonNullable<EngineTurn["spending"]>;
type Completed = Awaited<ReturnType<NonNullable<EngineDefinition["complete"]>>>;
type Spoken = Awaited<ReturnType<NonNullable<EngineDefinition["speak"]>>>;

/** How long a run may report what it used after its end. */
const spendingMs = 10_000;

export interface ProxyEngines {
  readonly handlers: Handlers;
  define(data: EngineData): EngineDefinition;
}

export function createProxyEngines(supervisor: () => Supervisor): ProxyEngines {
  const tools = new Map<number, readonly EngineTool[]>();
  const spendings = new Map<number, EngineTurn["spending"]>();
  const rooms = new Map<number, TurnRoom>();
  let lastRun = 0;

  /** What a stopped run has used is reported a moment after its end. */
  const forget = (run: number) => {
    const both = () => {
      spendings.delete(run);
      rooms.delete(run);
    };
    setTimeout(both, spendingMs).unref();
  };

  /** Notes what a call may report while it runs. */
  function begin({ spending, room }: Pick<EngineTurn, "spending" | "room">): number {
    lastRun += 1;
    spendings.set(lastRun, spending);
    if (room !== undefined) rooms.set(lastRun, room);
    return lastRun;
  }

  function roomOf(run: number): TurnRoom {
    const room = rooms.get(run);
    if (room === undefined) throw new Error("the turn has ended");
    return room;
  }

  async function* run(id: string, turn: EngineTurn, signal: AbortSignal): AsyncGenerator<TurnEvent> {
    const run = begin(turn);
    const { ask, askWhenUp, tell } = supervisor();
    const abort = () => tell("engine.abort", [run]);
    tools.set(run, turn.tools);
    try {
      const { spending: _, room, ...rest } = turn;
      const data = { ...rest, rooms: room?.models, tools: turn.tools.map(({ run: _, ...tool }) => tool) };
      await askWhenUp("engine.run", [id, run, data]);
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) abort();
      for (;;) {
        const next = await ask<IteratorResult<TurnEvent> | undefined>("engine.next", [run]);
        if (next === undefined || next.done === true) return;
        yield next.value;
      }
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
      throw new EngineError("worker_ended", { detail: reasonOf(error), hint: error.hint, cause: error });
    } finally {
      signal.removeEventListener("abort", abort);
      tools.delete(run);
      forget(run);
      tell("engine.end", [run]);
    }
  }

  /** A call beside a turn that uses a model. */
  async function accounted<Result>(
    call: string,
    [id, what, { spending, room, ...by }]: readonly [string, unknown, Pick<EngineTurn, "spending" | "room">],
    signal: AbortSignal,
  ): Promise<Result> {
    const run = begin({ spending, room });
    try {
      const values = [id, run, what, { ...by, rooms: room?.models }];
      return await supervisor().askWhenUp<Result>(call, values, { signal });
    } finally {
      forget(run);
    }
  }

  return {
    handlers: {
      tool([run, index, args]: readonly [number, number, Json], signal) {
        const tool = tools.get(run)?.[index];
        if (tool === undefined) throw new Error("the turn has ended");
        return tool.run(args, signal);
      },
      spendingBegin([run, call]: readonly [number, Parameters<EngineSpending["begin"]>[0]]) {
        const spending = spendings.get(run);
        if (spending === undefined) throw new Error("the turn has ended");
        return spending.begin(call);
      },
      spendingEnd([run, id, used]: readonly [number, string, Parameters<EngineSpending["end"]>[1]]) {
        return spendings.get(run)?.end(id, used);
      },
      roomCounted: ([run, request]: readonly [number, Parameters<TurnRoom["counted"]>[0]]) =>
        rooms.get(run)?.counted(request),
      roomRefused: ([run, request]: readonly [number, Parameters<TurnRoom["refused"]>[0]]) =>
        roomOf(run).refused(request),
    },
    define: ({ id, needsModel, stateless, hears, prepares, describes, transcribes, speaks, completes, skips }) => ({
      id,
      needsModel,
      stateless,
      hears,
      ...(prepares && { prepare: () => supervisor().askWhenUp<void>("engine.prepare", [id]) }),
      ...(describes && {
        describe: (image, by, signal) => accounted<string | undefined>("engine.describe", [id, image, by], signal),
      }),
      ...(transcribes && {
        transcribe: (sound, by, signal) => accounted<string>("engine.transcribe", [id, sound, by], signal),
      }),
      ...(speaks && {
        speak: (speech, by, signal) => accounted<Spoken>("engine.speak", [id, speech, by], signal),
      }),
      ...(completes && {
        complete: (request, by, signal) => accounted<Completed>("engine.complete", [id, request, by], signal),
      }),
      ...(skips && { skipped: (by) => supervisor().askWhenUp<readonly SkippedModel[]>("engine.skipped", [id, by]) }),
      run: (turn, signal) => run(id, turn, signal),
    }),
  };
}
