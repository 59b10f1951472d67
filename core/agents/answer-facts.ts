/** What an operator may name in `responsePrefix` about who answers: `{model}`, `{provider}`, `{thinkingLevel}`, `{identity.name}`. */
import type { EngineTurn } from "../sdk.ts";
import type { Inbound, Reply, Route, Thinking } from "../types.ts";

/** Facts about one answer; a command's has no model and no thinking. */
export interface AnswerFacts {
  /** `provider/model`. */
  readonly model?: string | undefined;
  readonly thinking?: Thinking | undefined;
  readonly identityName?: string | undefined;
}

export interface FactsOfAnswers {
  /** A turn begins. */
  note(turn: Pick<EngineTurn, "inbound" | "model" | "thinking">, route: Route): void;
  of(reply: Reply, inbound: Inbound, route: Route): AnswerFacts;
}

export function createFactsOfAnswers(options: {
  /** Whether anybody will ask for them. */
  readonly wanted: (route: Route) => boolean;
  readonly identityName: (agentId: string) => string | undefined;
}): FactsOfAnswers {
  const turns = new WeakMap<Inbound, Pick<EngineTurn, "model" | "thinking">>();
  return {
    note({ inbound, model, thinking }, route) {
      if (options.wanted(route)) turns.set(inbound, { ...(model === undefined ? {} : { model }), thinking });
    },
    of({ usage }, inbound, { agentId }) {
      const turn = turns.get(inbound);
      // Another than the chosen one has answered where that failed.
      return { model: usage?.model ?? turn?.model, thinking: turn?.thinking, identityName: options.identityName(agentId) };
    },
  };
}

const variable = /(?<!\{)\{\s*([a-z.]{1,20})\s*\}(?!\})/gi;

function variableOf(name: string, { model, thinking, identityName }: AnswerFacts): string | undefined {
  const slash = model?.indexOf("/") ?? -1;
  switch (name.toLowerCase()) {
    case "model":
      return model?.slice(slash + 1);
    case "modelfull":
      return model;
    case "provider":
      return slash === -1 ? undefined : model?.slice(0, slash);
    case "thinkinglevel":
    case "think":
      return thinking;
    case "identity.name":
    case "identityname":
      return identityName;
    default:
      return undefined;
  }
}

/** In any case; what is unknown stays as it is written, so that a slip is seen. `{{Field}}` is not touched. */
export function renderVariables(template: string, facts: AnswerFacts): string {
  return template.replace(variable, (written, name: string) => variableOf(name, facts) ?? written);
}
