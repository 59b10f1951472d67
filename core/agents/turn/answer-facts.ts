/** What an operator may name in `responsePrefix` about who answers: `{model}`, `{provider}`, `{thinkingLevel}`, `{identity.name}`. */

import type { AgentSettings } from "../../config/index.ts";
import type { Reply, Route, Thinking } from "../../contract/index.ts";
import type { EngineTurn } from "../../sdk/contract.ts";
import { carried, type Visit } from "../../stations/index.ts";

/** Facts about one answer. */
export interface AnswerFacts {
  /** `provider/model`. */
  readonly model?: string | undefined;
  readonly thinking?: Thinking | undefined;
  readonly identityName?: string | undefined;
}

export interface FactsOfAnswers {
  /** A turn begins. */
  note(turn: Pick<EngineTurn, "model" | "thinking">, visit: Visit): void;
  of(reply: Reply, route: Route, visit: Visit): AnswerFacts;
}

const chosen = carried<Pick<EngineTurn, "model" | "thinking">>("chosen");

export function createFactsOfAnswers(options: {
  /** What the configuration says of an agent: an answer without a turn, such as a command's, is given in its name. */
  readonly settings: (agentId: string) => Pick<AgentSettings, "model" | "thinking" | "identity">;
}): FactsOfAnswers {
  return {
    note: ({ model, thinking }, visit) => visit.set(chosen, { ...(model === undefined ? {} : { model }), thinking }),
    of({ usage }, { agentId }, visit) {
      const { model, thinking, identity } = options.settings(agentId);
      const turn = visit.get(chosen) ?? { model: typeof model === "string" ? model : model?.primary, thinking };
      // Another than the chosen one has answered where that failed.
      return { model: usage?.model ?? turn.model, thinking: turn.thinking, identityName: identity.name };
    },
  };
}

const variable = /(?<!\{)\{\s*([a-z.]{1,20})\s*\}(?!\})/gi;

/** `undefined`: there is none; `null`: there is no such variable. */
function variableOf(name: string, { model, thinking, identityName }: AnswerFacts): string | undefined | null {
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
      return null;
  }
}

/** In any case; a fact that there is none of is left out, and what is unknown stays as it is written, so that a slip is seen. `{{Field}}` is not touched. */
export function renderVariables(template: string, facts: AnswerFacts): string {
  return template.replace(variable, (written, name: string) => {
    const value = variableOf(name, facts);
    return value === null ? written : (value ?? "");
  });
}
