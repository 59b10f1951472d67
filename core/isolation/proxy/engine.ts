/** The engines of a plugin in a worker, as the core runs them. */
import { EngineError, reasonOf, type SkippedModel } from "../../contract/index.ts";
import type { EngineDefinition, EngineTool, EngineTurn, Json, TurnEvent } from "../../sdk/contract.ts";
import type { EngineData } from "../declaration.ts";
import type { Handlers } from "../peer.ts";
import { ThreadEnded } from "../plugin-thread.ts";
import type { Supervisor } from "../supervisor.ts";

export interface ProxyEngines {
  readonly handlers: Handlers;
  define(data: EngineData): EngineDefinition;
}

export function createProxyEngines(supervisor: () => Supervisor): ProxyEngines {
  const tools = new Map<number, readonly EngineTool[]>();
  let lastRun = 0;

  async function* run(id: string, turn: EngineTurn, signal: AbortSignal): AsyncGenerator<TurnEvent> {
    lastRun += 1;
    const run = lastRun;
    const { ask, askWhenUp, tell } = supervisor();
    const abort = () => tell("engine.abort", [run]);
    tools.set(run, turn.tools);
    try {
      const data = { ...turn, tools: turn.tools.map(({ run: _, ...tool }) => tool) };
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
      tell("engine.end", [run]);
    }
  }

  return {
    handlers: {
      tool([run, index, args]: readonly [number, number, Json], signal) {
        const tool = tools.get(run)?.[index];
        if (tool === undefined) throw new Error("the turn has ended");
        return tool.run(args, signal);
      },
    },
    define: ({ id, needsModel, stateless, prepares, describes, skips }) => ({
      id,
      ...(needsModel !== undefined && { needsModel }),
      ...(stateless !== undefined && { stateless }),
      ...(prepares && { prepare: () => supervisor().askWhenUp<void>("engine.prepare", [id]) }),
      ...(describes && {
        describe: (image, by, signal) => supervisor().askWhenUp<string | undefined>("engine.describe", [id, image, by], { signal }),
      }),
      ...(skips && { skipped: (by) => supervisor().askWhenUp<readonly SkippedModel[]>("engine.skipped", [id, by]) }),
      run: (turn, signal) => run(id, turn, signal),
    }),
  };
}
