/** Decides which agents, models, channels and sessions a hook run may use. */

import { agentIds, agentSettings, defaultAgentId, type GatewayConfig, resolveAskedModel } from "../../config/index.ts";
import { knownChannelIds } from "./channel-ids.ts";
import { FieldProblem } from "./fields.ts";

/** What a configuration allows hooks to use, in requests and in mappings. */
export interface HookPolicies {
  readonly agents: { readonly exists: (id: string) => boolean; readonly defaultId: () => string };
  /** Whether an agent may use a model, given as alias or full name. */
  readonly models: { readonly allowed: (model: string, agentId: string) => boolean };
  readonly channels: {
    /** Whether such a platform exists, installed or not. */
    readonly known: (id: string) => boolean;
    /** Whether the channel is installed and enabled. */
    readonly available: (id: string) => boolean;
    /** The ids of the installed and enabled channels. */
    readonly list: () => readonly string[];
    /** Which channel a word means that is the name of a platform, as a sentence; `undefined` for other words. */
    readonly meant: (word: string) => string | undefined;
    /**
     * What is wrong with the fields of a reply that are for a channel, as a sentence; `undefined` also if it is not
     * installed.
     */
    readonly platformProblem: (id: string, platform: object) => string | undefined;
  };
}

export interface AgentPolicy extends HookPolicies {
  readonly settings: () => {
    readonly defaultSessionKey?: string | undefined;
    readonly allowRequestSessionKey: boolean;
    readonly allowedSessionKeyPrefixes?: readonly string[] | undefined;
    readonly allowedAgentIds?: readonly string[] | undefined;
  };
  readonly newId: () => string;
}

export function hookPolicies(
  config: () => GatewayConfig,
  installed: {
    /** The channels that plugins provide. */
    readonly channels: () => Iterable<string>;
    /** Whether a channel is installed and enabled. */
    readonly available: (id: string) => boolean;
    readonly meant: HookPolicies["channels"]["meant"];
    readonly platformProblem: HookPolicies["channels"]["platformProblem"];
  },
): HookPolicies {
  const channels = () => [...installed.channels()];
  return {
    agents: { exists: (id) => agentIds(config()).includes(id), defaultId: () => defaultAgentId(config()) },
    models: {
      allowed: (model, agentId) =>
        resolveAskedModel(model, agentSettings(config(), agentId).models, config()) !== undefined,
    },
    channels: {
      known: (id) => knownChannelIds.has(id) || channels().includes(id),
      available: installed.available,
      list: () => channels().filter(installed.available),
      meant: installed.meant,
      platformProblem: installed.platformProblem,
    },
  };
}

/**
 * Selects the agent. `named` is the request's choice, or `undefined`. The rules apply to the agent that would actually
 * run.
 */
export function chooseAgent(named: string | undefined, policy: Pick<AgentPolicy, "agents" | "settings">): string {
  const { agents } = policy;
  const agentId = named !== undefined && named !== "" && agents.exists(named) ? named : agents.defaultId();
  const allowed = policy.settings().allowedAgentIds;
  if (named === undefined || allowed === undefined || allowed.includes("*") || allowed.includes(agentId))
    return agentId;
  throw new FieldProblem("agent_not_allowed", "agentId", "agentId: hooks may not run this agent.");
}

/** The origin of a run. */
export interface Asker {
  /**
   * A request needs permission to choose its session. A mapping, with its templates and transform, has the operator's
   * permission.
   */
  readonly by: "request" | "mapping";
  /** True if no session was requested and the configured one is unsuitable, so that a new one is used. */
  readonly freshSession?: boolean;
}

export type SessionMode = "isolated" | "persistent";

/**
 * Selects the session of a run: the requested key, else the configured one, else a new one. A chosen key names a
 * conversation, which continues unless the request says otherwise.
 */
export function chooseSession(
  ask: Asker & { readonly requested: string | undefined; readonly mode: SessionMode | undefined },
  policy: Pick<AgentPolicy, "settings" | "newId">,
): { readonly sessionKey: string; readonly sessionMode: SessionMode } {
  const settings = policy.settings();
  if (
    ask.by === "request" &&
    (ask.requested !== undefined || ask.mode === "persistent") &&
    !settings.allowRequestSessionKey
  ) {
    const field = ask.requested === undefined ? "sessionMode persistent" : "sessionKey";
    throw refused(`${field} is not allowed in requests; hooks.allowRequestSessionKey would allow it.`);
  }
  const chosen = ask.requested ?? (ask.freshSession === true ? undefined : settings.defaultSessionKey);
  // A new session that nothing else uses; prefixes do not apply to it.
  if (chosen === undefined) return { sessionKey: `hook:${policy.newId()}`, sessionMode: ask.mode ?? "isolated" };
  const session = { sessionKey: chosen, sessionMode: ask.mode ?? "persistent" };
  if (ask.requested === undefined) return session;
  const why = sessionKeyRefusal(ask.requested, settings.allowedSessionKeyPrefixes);
  if (why !== undefined) throw refused(`sessionKey ${why}.`);
  return session;
}

/**
 * Why a session key is not allowed, without the key; `undefined` if it is. Chat sessions have keys of the form
 * `agent:...`; a hook may use one only if an allowed prefix explicitly names it.
 */
export function sessionKeyRefusal(key: string, prefixes: readonly string[] | undefined): string | undefined {
  const prefix = prefixes?.find((candidate) => key.startsWith(candidate));
  if (prefixes !== undefined && prefix === undefined) return "does not begin with an allowed prefix";
  return isChatKey(key) && (prefix === undefined || !isChatKey(prefix)) ? "must not name a chat session" : undefined;
}

function isChatKey(text: string): boolean {
  return text.normalize("NFKC").trim().toLowerCase().startsWith("agent:");
}

function refused(message: string): FieldProblem {
  return new FieldProblem("session_key_not_allowed", "sessionKey", message);
}
