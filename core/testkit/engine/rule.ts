/** A rule of the engines' contract: its title, for which engines it exists, and how to try it. */
import type { EngineBench } from "./bench.ts";
import type { EngineContractOptions, ModelAbility } from "./options.ts";

export interface EngineRule {
  readonly title: string;
  /** Exists only with a server that can do all of these; `[]`: with any server. */
  readonly needs?: readonly ModelAbility[];
  /** Throws a sentence that says what is wrong and what the contract asks. */
  run(bench: EngineBench): Promise<void>;
}

export function appliesToEngine({ needs }: EngineRule, { server }: EngineContractOptions): boolean {
  return needs === undefined || (server !== undefined && needs.every((ability) => server.can.includes(ability)));
}
