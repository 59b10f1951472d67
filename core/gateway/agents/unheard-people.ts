/** People whose voice messages nothing transcribes: each of them reads that once. */
import { type Engines, unheardPeople } from "../../agents/index.ts";
import { agentSettings, type GatewayConfig, knownAgentId } from "../../config/index.ts";
import type { Inbound, Route } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";

const notYet = "I cannot listen to voice messages yet. Please write to me.";
/** How long it is remembered who has read that. */
const rememberMs = 365 * 24 * 3_600_000;

/** Resolves with what the person reads; `undefined` if the agent takes its turn. */
export type NotifyUnheard = (inbound: Inbound, route: Route) => Promise<string | undefined>;

export function createNotifyUnheard({
  config,
  engines,
  store,
  now,
}: {
  readonly config: () => GatewayConfig;
  readonly engines: Engines;
  readonly store: Pick<Store, "update">;
  readonly now: () => number;
}): NotifyUnheard {
  /** Whether the models of the agent listen themselves, or an engine without a model answers. */
  function isHeardOtherwise({ agentId }: Route): boolean {
    const { engine: id, model } = agentSettings(config(), knownAgentId(config(), agentId));
    if (id === undefined && model === undefined) return true;
    const all = engines.ids().flatMap((one) => engines.get(one) ?? []);
    const engine = id === undefined ? all.find(({ needsModel }) => needsModel === true) : engines.get(id);
    return engine === undefined || engine.needsModel !== true || engine.hears === true;
  }

  return async (inbound, route) => {
    if (isHeardOtherwise(route)) return undefined;
    const { id, channel, account, sender } = inbound;
    const key = [channel, account, sender.id].join(":");
    // An event that runs again gets the same answer.
    const first = await store.update(unheardPeople, key, (before) => before ?? id, { expiresAt: now() + rememberMs });
    return first === id ? notYet : undefined;
  };
}
