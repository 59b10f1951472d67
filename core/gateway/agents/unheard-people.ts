/** What people read whose voice messages were not understood, unless the model listens itself. */
import { type Engines, hearingModels, unheardPeople } from "../../agents/index.ts";
import { agentSettings, type GatewayConfig, knownAgentId } from "../../config/index.ts";
import type { Inbound, Route } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";
import type { UnheardSpeech } from "../../stations/index.ts";

const noWords = "I could not make out any words in your voice message. Please send it again, or write to me.";
/** What a model that listens itself may understand nevertheless. */
const mayBeHeard: ReadonlySet<string> = new Set(["speech_empty", "speech_failed", "speech_unavailable"]);

const notYet = "I cannot listen to voice messages yet. Please write to me.";
/** How long it is remembered who has read that. */
const rememberMs = 365 * 24 * 3_600_000;

export interface UnheardPeople {
  /** Resolves with what the person reads; `undefined` if the agent takes its turn. Rejects with what has failed. */
  answer(unheard: UnheardSpeech, inbound: Inbound, route: Route): Promise<string | undefined>;
}

export function createUnheardPeople({
  config,
  engines,
  store,
  now,
}: {
  readonly config: () => GatewayConfig;
  readonly engines: Engines;
  readonly store: Pick<Store, "update" | "session">;
  readonly now: () => number;
}): UnheardPeople {
  /** `undefined` if an engine without a model answers. */
  function engineOf({ agentId }: Route) {
    const { engine: id, model } = agentSettings(config(), knownAgentId(config(), agentId));
    if (id !== undefined) return engines.get(id);
    const all = engines.ids().flatMap((one) => engines.get(one) ?? []);
    return model === undefined ? undefined : all.find(({ needsModel }) => needsModel === true);
  }

  /** Whether a model that answers in this conversation listens to sound files. */
  async function isHeardByModel(route: Route): Promise<boolean> {
    const engine = engineOf(route);
    if (engine?.needsModel !== true) return engine?.hears === true;
    const chosen = (await store.session(route.sessionKey))?.settings.model;
    return (
      engine.hears === true ||
      hearingModels(config(), route.agentId, typeof chosen === "string" ? chosen : undefined).length > 0
    );
  }

  /** Each of them reads it once. */
  async function notify({ id, channel, account, sender }: Inbound, route: Route): Promise<string | undefined> {
    if (engineOf(route)?.needsModel !== true || (await isHeardByModel(route))) return undefined;
    const key = [channel, account, sender.id].join(":");
    // An event that runs again gets the same answer.
    const first = await store.update(unheardPeople, key, (before) => before ?? id, { expiresAt: now() + rememberMs });
    return first === id ? notYet : undefined;
  }

  return {
    async answer({ code, error }, inbound, route) {
      if (code === "speech_not_configured") return await notify(inbound, route);
      if (mayBeHeard.has(code) && (await isHeardByModel(route))) return undefined;
      if (error !== undefined) throw error;
      return noWords;
    },
  };
}
