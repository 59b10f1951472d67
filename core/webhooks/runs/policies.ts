/** The agents, models and channels that a configuration allows hooks to use, in requests and in mappings. */
import { agentIds, agentSettings, defaultAgentId, type GatewayConfig, resolveModel } from "../../config/index.ts";
import type { AgentDeps } from "./agent.ts";
import { knownChannelIds } from "./channel-ids.ts";

export function hookPolicies(
  config: () => GatewayConfig,
  installed: {
    /** The channels that plugins provide. */
    readonly channels: () => Iterable<string>;
    /** Whether a channel is installed and enabled. */
    readonly available: (id: string) => boolean;
  },
): Pick<AgentDeps, "agents" | "models"> & { readonly channels: Pick<AgentDeps["channels"], "known" | "available" | "list"> } {
  const channels = () => [...installed.channels()];
  return {
    agents: { exists: (id) => agentIds(config()).includes(id), defaultId: () => defaultAgentId(config()) },
    models: { allowed: (model, agentId) => resolveModel(model, agentSettings(config(), agentId).models) !== undefined },
    channels: {
      known: (id) => knownChannelIds.has(id) || channels().includes(id),
      available: installed.available,
      list: () => channels().filter(installed.available),
    },
  };
}
