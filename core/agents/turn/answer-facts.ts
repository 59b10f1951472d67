/**
 * The variables of `responsePrefix` that describe who answers: `{model}`, `{provider}`, `{thinkingLevel}`,
 * `{identity.name}`.
 */

import type { AgentSettings } from "../../config/index.ts";
import type { Reply, Route, Thinking } from "../../contract/index.ts";
import type { EngineTurn } from "../../sdk/contract.ts";
import { carried, type Visit } from "../../stations/index.ts";

/** Facts about one reply. */
export interface AnswerFacts {
  /** `provider/model`. */
  readonly model?: string | undefined;
  readonly thinking?: Thinking | undefined;
  readonly identityName?: string | undefined;
}

export interface FactsOfAnswers {
  /** Records the model and thinking level when a turn begins. */
  note(turn: Pick<EngineTurn, "model" | "thinking">, visit: Visit): void;
  of(reply: Reply, route: Route, visit: Visit): AnswerFacts;
}

const chosen = carried<Pick<EngineTurn, "model" | "thinking">>("chosen");

export function createFactsOfAnswers(options: {
  /** The configured settings of an agent, for replies without a turn, such as those of commands. */
  readonly settings: (agentId: string) => Pick<AgentSettings, "model" | "thinking" | "identity">;
}): FactsOfAnswers {
  return {
    note: ({ model, thinking }, visit) => visit.set(chosen, { model, thinking }),
    of({ usage, model: answering }, { agentId }, visit) {
      const { model, thinking, identity } = options.settings(agentId);
      const turn = visit.get(chosen) ?? { model: typeof model === "string" ? model : model?.primary, thinking };
      // A fallback model may have answered instead of the chosen one.
      return { model: answering ?? usage?.model ?? turn.model, thinking: turn.thinking, identityName: identity.name };
    },
  };
}

const variable = /(?<!\{)\{\s*([a-z.]{1,20})\s*\}(?!\})/gi;

/** The value of a variable; `undefined` if the reply has none, `null` if the variable does not exist. */
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

/**
 * Replaces variables, ignoring case. Missing facts become empty; unknown variables stay as written, so that mistakes
 * are visible. `{{Field}}` is left alone.
 */
export function renderVariables(template: string, facts: AnswerFacts): string {
  return template.replace(variable, (written, name: string) => {
    const value = variableOf(name, facts);
    return value === null ? written : (value ?? "");
  });
}
