/** What a configuration allows hooks to ask for: agents, models, channels. The same for requests and for what mappings say. */
import { modelNames, resolveModel } from "../agents/models.ts";
import { agentIds, defaultAgentId } from "../agents/settings.ts";
import type { GatewayConfig } from "../config/schema.ts";
import type { AgentDeps } from "./agent.ts";
import { knownChannelIds } from "./channel-ids.ts";

export function hookPolicies(
  config: () => GatewayConfig,
  installed: {
    /** Whether a plugin brings the channel. */
    readonly channel: (id: string) => boolean;
    /** Whether it is enabled, too. */
    readonly available: (id: string) => boolean;
  },
): Pick<AgentDeps, "agents" | "models"> & { readonly channels: Pick<AgentDeps["channels"], "known" | "available"> } {
  return {
    agents: { exists: (id) => agentIds(config()).includes(id), defaultId: () => defaultAgentId(config()) },
    models: {
      allowed(model) {
        const { models } = config().agents.defaults;
        const name = resolveModel(model, models);
        return models === undefined || (name !== undefined && modelNames(models).includes(name));
      },
    },
    channels: { known: (id) => knownChannelIds.has(id) || installed.channel(id), available: installed.available },
  };
}
