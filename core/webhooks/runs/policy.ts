/** Which agent and which session a hook run may ask for. */
import { FieldProblem } from "./fields.ts";

export interface AgentPolicy {
  readonly agents: { readonly exists: (id: string) => boolean; readonly defaultId: () => string };
  readonly settings: () => {
    readonly defaultSessionKey?: string | undefined;
    readonly allowRequestSessionKey: boolean;
    readonly allowedSessionKeyPrefixes?: readonly string[] | undefined;
    readonly allowedAgentIds?: readonly string[] | undefined;
  };
  readonly newId: () => string;
}

/** `named`: what the request says; `undefined` when it names none. The rule is applied to the agent that would run. */
export function chooseAgent(named: string | undefined, policy: AgentPolicy): string {
  const { agents } = policy;
  const agentId = named !== undefined && named !== "" && agents.exists(named) ? named : agents.defaultId();
  const allowed = policy.settings().allowedAgentIds;
  if (named === undefined || allowed === undefined || allowed.includes("*") || allowed.includes(agentId)) return agentId;
  throw new FieldProblem("agent_not_allowed", "agentId", "agentId: hooks may not run this agent.");
}

/** Who asks for a run. */
export interface Asker {
  /** A request needs leave to choose its session; a mapping, with its templates and its transform, has it from the operator. */
  readonly by: "request" | "mapping";
  /** No session is asked for, and the configured one will not do either. */
  readonly freshSession?: boolean;
}

export type SessionMode = "isolated" | "persistent";

/**
 * The session of a run: the key that was asked for, else the configured one, else a new one. A chosen key names a conversation, which
 * goes on unless the asker says otherwise.
 */
export function chooseSession(
  ask: Asker & { readonly requested: string | undefined; readonly mode: SessionMode | undefined },
  policy: AgentPolicy,
): { readonly sessionKey: string; readonly sessionMode: SessionMode } {
  const settings = policy.settings();
  if (ask.by === "request" && (ask.requested !== undefined || ask.mode === "persistent") && !settings.allowRequestSessionKey) {
    const field = ask.requested === undefined ? "sessionMode persistent" : "sessionKey";
    throw refused(`${field} is not allowed in requests; hooks.allowRequestSessionKey would allow it.`);
  }
  const chosen = ask.requested ?? (ask.freshSession === true ? undefined : settings.defaultSessionKey);
  // A session that nothing else uses; no prefix is asked of it.
  if (chosen === undefined) return { sessionKey: `hook:${policy.newId()}`, sessionMode: ask.mode ?? "isolated" };
  const session = { sessionKey: chosen, sessionMode: ask.mode ?? "persistent" };
  if (ask.requested === undefined) return session;
  const why = sessionKeyRefusal(ask.requested, settings.allowedSessionKeyPrefixes);
  if (why !== undefined) throw refused(`sessionKey ${why}.`);
  return session;
}

/**
 * Why a key may not be used, without its name; `undefined`: it may. Chat sessions have keys of the form `agent:...`; a
 * hook gets into one only where a prefix says so in as many words.
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
