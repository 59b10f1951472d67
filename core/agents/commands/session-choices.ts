/** What a conversation has chosen for itself, and what would answer its next message. */
import { type AgentSettings, type AgentsView, agentSettings, knownAgentId, resolveModel } from "../../config/index.ts";
import { type Json, reasonOf } from "../../contract/index.ts";
import type { CommandCall } from "../../sdk/contract.ts";
import type { Store } from "../../state/index.ts";
import { type ModelStandings, renderSkipped } from "../turn/model-standing.ts";

const choices = ["model", "thinking", "reasoning"] as const;
type Choice = (typeof choices)[number];

export interface SessionChoices {
  agentOf(call: CommandCall): AgentSettings;
  /** Without those that the conversation has not made. */
  made(call: CommandCall): Promise<Readonly<Partial<Record<Choice, string>>>>;
  /** `null` takes the choice back. */
  set(call: CommandCall, choice: Choice, value: Json): Promise<void>;
  /** What would answer the next message, as Markdown; why, when nothing can. */
  answering(agent: AgentSettings, model: string | undefined): Promise<string>;
}

export function createSessionChoices(options: {
  readonly config: () => AgentsView;
  readonly store: Pick<Store, "session" | "updateSession">;
  readonly standings: ModelStandings;
  readonly now: () => number;
}): SessionChoices {
  const { config, store, standings, now } = options;
  return {
    agentOf: (call) => agentSettings(config(), knownAgentId(config(), call.route.agentId)),
    async made(call) {
      const settings = (await store.session(call.route.sessionKey))?.settings ?? {};
      const made = choices.filter((choice) => typeof settings[choice] === "string");
      return Object.fromEntries(made.map((choice) => [choice, settings[choice]]));
    },
    async set({ route }, choice, value) {
      await store.updateSession(route.sessionKey, { agentId: route.agentId, at: now(), settings: { [choice]: value } });
    },
    async answering(agent, asked) {
      try {
        const allowed = asked === undefined || resolveModel(asked, agent.models) !== undefined;
        const { engine, model, skipped } = await standings.of(agent, allowed ? asked : undefined);
        const others = skipped.map((one) => renderSkipped(one, now())).join(", ");
        if (model !== undefined) return `\`${model}\`${others === "" ? "" : `, in place of ${others}`}`;
        return others === "" ? `no model, the engine \`${engine}\`` : `none at present: ${others}`;
      } catch (thrown) {
        return `none (${reasonOf(thrown)})`;
      }
    },
  };
}
