/** Selects the agent that answers and the session key of its conversation. */

import { type AgentsView, type Binding, type DmScope, knownAgentId } from "../../config/index.ts";
import type { Inbound } from "../../contract/index.ts";
import type { LastRecipient, Store } from "../../state/index.ts";

/** Escapes the separator in platform ids, so that an id can never be read as a longer key. */
function part(id: string): string {
  return /^[\w-]*$/.test(id) ? id : id.replace(/[%:\s]/g, (character) => encodeURIComponent(character));
}

export function mainSessionKey(agentId: string): string {
  return `agent:${part(agentId)}:main`;
}

/** The agent in a chat session's key; `undefined` for other keys, such as `hook:...`. */
export function agentOfKey(sessionKey: string): string | undefined {
  const found = /^agent:([^:]+):./.exec(sessionKey)?.[1];
  return found === undefined ? undefined : decodeURIComponent(found);
}

function directKey(
  { agentId, inbound, person }: { readonly agentId: string; readonly inbound: Inbound; readonly person?: string },
  dmScope: DmScope,
): string {
  // A word of its own, so that no id of a platform can be read as the name of a person.
  if (person !== undefined && dmScope !== "main") return `agent:${part(agentId)}:person:${part(person)}`;
  const peer = part(inbound.sender.id);
  switch (dmScope) {
    case "main":
      return mainSessionKey(agentId);
    case "per-peer":
      return `agent:${part(agentId)}:dm:${peer}`;
    case "per-channel-peer":
      return `agent:${part(agentId)}:${part(inbound.channel)}:dm:${peer}`;
    case "per-account-channel-peer":
      return `agent:${part(agentId)}:${part(inbound.channel)}:${part(inbound.account)}:dm:${peer}`;
  }
}

/** Two accounts in one group have separate conversations. The account `default` uses the short key. */
function chatPrefix(agentId: string, { channel, account }: Pick<Inbound, "channel" | "account">): string {
  return `agent:${part(agentId)}:${part(channel)}${account === "default" ? "" : `:${part(account)}`}`;
}

/** Lists the sessions to move when a group gets a new id: one for each agent, and those of known topics. */
export function movedSessions(
  move: { readonly channel: string; readonly account: string; readonly from: string; readonly to: string },
  { agentIds, knownKeys }: { readonly agentIds: readonly string[]; readonly knownKeys: readonly string[] },
): readonly { readonly from: string; readonly to: string }[] {
  return agentIds.flatMap((agentId) => {
    const [old, next] = [move.from, move.to].map((id) => `${chatPrefix(agentId, move)}:group:${part(id)}`) as [
      string,
      string,
    ];
    const topics = knownKeys.filter((key) => key.startsWith(`${old}:topic:`));
    return [old, ...topics].map((from) => ({ from, to: `${next}${from.slice(old.length)}` }));
  });
}

/**
 * The session key of a message. A message that no person wrote uses the session that it names, else the agent's main
 * session.
 */
export function sessionKeyFor(options: {
  readonly agentId: string;
  readonly inbound: Inbound;
  readonly dmScope?: DmScope;
  /** The name of the person, if the sender's ids are linked. */
  readonly person?: string;
}): string {
  const { agentId, inbound, dmScope = "main", person } = options;
  const { chat } = inbound;
  if (inbound.request?.sessionKey !== undefined) return inbound.request.sessionKey;
  if (chat.kind === "system") return mainSessionKey(agentId);
  if (chat.kind === "direct") {
    const key = directKey({ agentId, inbound, person }, dmScope);
    return chat.thread === undefined ? key : `${key}:thread:${part(chat.thread)}`;
  }
  const key = `${chatPrefix(agentId, inbound)}:${chat.kind}:${part(chat.id)}`;
  return chat.thread === undefined ? key : `${key}:topic:${part(chat.thread)}`;
}

/**
 * How specifically a binding matches the message; -1 when it does not match. A topic is more specific than a chat, a
 * chat than an account, and an account than a channel.
 */
function closeness({ match }: Binding, inbound: Inbound): number {
  if (match.channel !== inbound.channel) return -1;
  if (match.accountId !== undefined && match.accountId !== inbound.account) return -1;
  if (match.threadId !== undefined && String(match.threadId) !== inbound.chat.thread) return -1;
  if (match.peer !== undefined) {
    const kind = match.peer.kind === "dm" ? "direct" : match.peer.kind;
    const ids = kind === "direct" ? [inbound.chat.id, inbound.sender.id] : [inbound.chat.id];
    if (kind !== inbound.chat.kind || !ids.includes(String(match.peer.id))) return -1;
  }
  return (
    (match.peer === undefined ? 0 : 4) +
    (match.threadId === undefined ? 0 : 2) +
    (match.accountId === undefined ? 0 : 1)
  );
}

/**
 * The agent named by the request, else the agent of the most specific binding (the first one on a tie), else the
 * default agent.
 */
export function agentFor(config: AgentsView, inbound: Inbound): string {
  if (inbound.request?.agentId !== undefined) return knownAgentId(config, inbound.request.agentId);
  let best: { readonly agentId: string; readonly score: number } | undefined;
  for (const binding of config.bindings ?? []) {
    const score = closeness(binding, inbound);
    if (score >= 0 && score > (best?.score ?? -1)) best = { agentId: binding.agentId, score };
  }
  return knownAgentId(config, best?.agentId);
}

/**
 * Where a person wrote, to be stored as the main session's last recipient; `undefined` unless it is a direct message.
 */
export function recipientOf(inbound: Inbound): LastRecipient | undefined {
  if (inbound.authority !== "channel" || inbound.chat.kind !== "direct") return undefined;
  const { channel, account, chat, sender } = inbound;
  return { channel, account, chat: chat.id, thread: chat.thread, senderId: sender.id };
}

/** Begins a new conversation. The old transcript remains stored, and the session's settings still apply. */
export async function resetSession(
  store: Pick<Store, "updateSession">,
  session: { readonly key: string; readonly agentId: string; readonly at: number },
): Promise<void> {
  await store.updateSession(session.key, { agentId: session.agentId, at: session.at, newGeneration: true });
}
