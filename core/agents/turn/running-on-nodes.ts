/**
 * What `/status` shows of the turns of all nodes of a store: one node receives the command, and others may run turns.
 */
import type { Json } from "../../contract/index.ts";
import type { NodeNote, Store } from "../../state/index.ts";
import type { AgentTurns } from "./engine.ts";
import type { RunningTurn } from "./preparing-turns.ts";

const topics = { asked: "running", answered: "running-here" } as const;
/** How long the other nodes may take to answer. */
const answerMs = 500;

/** A turn with its age: the clocks of two nodes may differ. */
export interface TurnNow extends Pick<RunningTurn, "doing"> {
  readonly forMs: number;
}

export interface RunningNow {
  /** The oldest turn of the session; `null` if none runs. */
  readonly first: TurnNow | null;
  readonly total: number;
}

/** `event` is the one that asks. */
interface Question {
  readonly event: string;
  readonly sessionKey: string;
}

interface Answer extends RunningNow {
  readonly event: string;
  readonly node: string;
}

export interface RunningOnNodes {
  /**
   * The turns that run now on all nodes. A node that does not answer in time counts with the units that the store knows
   * of it.
   */
  now(question: Question): Promise<RunningNow>;
  /** Handles a note of another node; ignores those about something else. */
  hear(note: NodeNote): void;
}

const older = (one: TurnNow | null, other: TurnNow | null): TurnNow | null =>
  one === null || (other !== null && other.forMs > one.forMs) ? other : one;

export function createRunningOnNodes({
  store: { nodes },
  turns,
  now,
  onError,
}: {
  readonly store: Pick<Store, "nodes">;
  readonly turns: Pick<AgentTurns, "running">;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}): RunningOnNodes {
  function here(sessionKey: string): RunningNow {
    const all = turns.running();
    const mine = all.filter((turn) => turn.sessionKey === sessionKey);
    const ages = mine.map(({ doing, startedAt }): TurnNow => ({ doing, forMs: now() - startedAt }));
    return { first: ages.reduce(older, null), total: all.length };
  }

  if (nodes === undefined) return { now: async ({ sessionKey }) => here(sessionKey), hear() {} };
  /** What takes the answers to a question, by its event. */
  const asking = new Map<string, (answer: Answer) => void>();
  const send = (topic: string, body: Question | Answer) => nodes.send({ topic, body: body as unknown as Json });

  /** Resolves with the answers that come in time. */
  async function ask(question: Question, names: readonly string[]): Promise<ReadonlyMap<string, Answer>> {
    const answers = new Map<string, Answer>();
    const all = Promise.withResolvers<void>();
    asking.set(question.event, (answer) => {
      answers.set(answer.node, answer);
      if (names.every((name) => answers.has(name))) all.resolve();
    });
    const timer = setTimeout(all.resolve, answerMs);
    try {
      await send(topics.asked, question);
      await all.promise;
    } finally {
      clearTimeout(timer);
      asking.delete(question.event);
    }
    return answers;
  }

  return {
    async now(question) {
      const others = (await nodes.reports()).filter(
        ({ name, alive, running }) => name !== nodes.name && alive && running > 0,
      );
      const answers =
        others.length === 0
          ? undefined
          : await ask(
              question,
              others.map(({ name }) => name),
            );
      return others.reduce<RunningNow>((sum, { name, running }) => {
        const { first, total } = answers?.get(name) ?? { first: null, total: running };
        return { first: older(sum.first, first), total: sum.total + total };
      }, here(question.sessionKey));
    },
    hear({ topic, body }) {
      if (topic === topics.answered) {
        const answer = body as unknown as Answer;
        if (typeof answer.node !== "string" || typeof answer.total !== "number" || typeof answer.first !== "object")
          return;
        return asking.get(answer.event)?.(answer);
      }
      if (topic !== topics.asked) return;
      const { event, sessionKey } = body as unknown as Question;
      if (typeof event !== "string" || typeof sessionKey !== "string") return;
      send(topics.answered, { event, node: nodes.name, ...here(sessionKey) }).catch(onError);
    },
  };
}
