/** `/stop` on all nodes of a store: one node receives the command, and another may run the turn. */
import type { Json } from "../../contract/index.ts";
import type { NodeNote, Store } from "../../state/index.ts";
import type { AgentTurns } from "./engine.ts";
import type { Stop } from "./stops.ts";

const topics = { stop: "stop", stopped: "stopped" } as const;
/** How long a node may take to report that it has stopped something. */
const answerMs = 500;

/** The notes between the nodes: a `/stop`, and the report of a node that it has stopped a turn. */
type StopNote = Stop & { readonly place: string };
type StoppedNote = Pick<Stop, "event">;

export interface StopsOnNodes {
  /**
   * Lets the other nodes end their turns in a place. Resolves with whether one of them did, as far as is known after a
   * moment.
   */
  tell(stop: StopNote): Promise<boolean>;
  /** Handles a note of another node; ignores those about something else. */
  hear(note: NodeNote): void;
}

export function createStopsOnNodes({
  store: { nodes },
  turns,
  onError,
}: {
  readonly store: Pick<Store, "nodes">;
  readonly turns: Pick<AgentTurns, "stopAt">;
  readonly onError: (error: unknown) => void;
}): StopsOnNodes {
  if (nodes === undefined) return { tell: async () => false, hear() {} };
  /** The commands that wait for a report, by their event. */
  const waiting = new Map<string, () => void>();
  const send = (topic: string, body: StopNote | StoppedNote) => nodes.send({ topic, body: body as unknown as Json });

  /** Resolves with `false` if no node reports in time. */
  function reportOf(event: string): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (stopped: boolean) => {
        clearTimeout(timer);
        waiting.delete(event);
        resolve(stopped);
      };
      const timer = setTimeout(() => end(false), answerMs);
      waiting.set(event, () => end(true));
    });
  }

  return {
    async tell({ place, event, at }) {
      const others = (await nodes.reports()).some(
        ({ name, alive, running }) => name !== nodes.name && alive && running > 0,
      );
      const report = others ? reportOf(event) : false;
      await send(topics.stop, { place, event, at });
      return await report;
    },
    hear({ topic, body }) {
      if (topic === topics.stopped) return waiting.get((body as unknown as StoppedNote).event)?.();
      if (topic !== topics.stop) return;
      const stop = body as unknown as StopNote;
      if (typeof stop.place !== "string" || typeof stop.event !== "string" || typeof stop.at !== "number") return;
      if (turns.stopAt(stop.place, stop) > 0) send(topics.stopped, { event: stop.event }).catch(onError);
    },
  };
}
