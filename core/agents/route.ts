/** The default route: the agent by bindings, the session by its rules, and the reply to where the message came from. */

import type { AgentsView } from "../config/index.ts";
import type { Address, Inbound, Route, TurnRequest } from "../contract/index.ts";
import type { Store } from "../state/index.ts";
import { agentFor, mainSessionKey, recipientOf, sessionKeyFor } from "./conversation/sessions.ts";
import { parseTarget } from "./target.ts";

export interface RouterOptions {
  readonly config: () => AgentsView;
  readonly store: Pick<Store, "session" | "updateSession">;
  /** The first account of a channel, for a recipient that names no account. */
  readonly defaultAccount: (channel: string) => string | undefined;
  /** Resolves a name such as `@name` to the platform's chat id. */
  readonly resolve: (target: string, channel: string, account: string) => Promise<string>;
  /** Whether the channel's chats have topics, so that a recipient may name one. */
  readonly threads: (channel: string) => boolean;
  readonly now: () => number;
}

export interface Router {
  /** Routes a message. Synchronous unless the store or the channel must be asked, because every message passes here. */
  route(inbound: Inbound): Route | Promise<Route>;
  /** The address of the last direct message in the agent's main session. */
  lastRecipient(agentId: string): Promise<Address | undefined>;
}

function sameAddress(a: Address | undefined, b: Address): boolean {
  return a !== undefined && a.channel === b.channel && a.account === b.account && a.chat === b.chat && a.thread === b.thread;
}

export function createRouter(options: RouterOptions): Router {
  const { config, store, now } = options;
  /** The last recipient of each agent, whether written or still waiting to be written. */
  const latest = new Map<string, Address>();
  const unwritten = new Set<string>();

  async function lastRecipient(agentId: string): Promise<Address | undefined> {
    return latest.get(agentId) ?? (await store.session(mainSessionKey(agentId)))?.lastRecipient;
  }

  /** When many messages arrive at once, only the last recipient is written. The next message makes up for a failed write. */
  function write(): void {
    for (const agentId of unwritten) {
      const lastRecipient = latest.get(agentId);
      if (lastRecipient === undefined) continue;
      store.updateSession(mainSessionKey(agentId), { agentId, at: now(), lastRecipient }).catch(() => latest.delete(agentId));
    }
    unwritten.clear();
  }

  /** Remembers the sender of a direct message as the main session's last recipient. Writes only on a change. */
  function remember(inbound: Inbound, agentId: string): Promise<void> | undefined {
    const recipient = recipientOf(inbound);
    if (recipient === undefined) return undefined;
    const last = latest.get(agentId);
    if (last === undefined) return lastRecipient(agentId).then((stored) => note(recipient, agentId, stored));
    note(recipient, agentId, last);
    return undefined;
  }

  function note(recipient: Address, agentId: string, last: Address | undefined): void {
    if (sameAddress(last, recipient)) return;
    latest.set(agentId, recipient);
    if (unwritten.size === 0) setImmediate(write);
    unwritten.add(agentId);
  }

  async function recipientFor(request: TurnRequest, agentId: string): Promise<Pick<Route, "to" | "undeliverable">> {
    if (request.deliver === false) return { to: null, undeliverable: "not_asked" };
    const last = await lastRecipient(agentId);
    const channel = request.channel ?? "last";
    if (channel === "last" && request.to === undefined)
      return last === undefined ? { to: null, undeliverable: "no_recipient" } : { to: last };
    const name = channel === "last" ? last?.channel : channel;
    if (name === undefined) return { to: null, undeliverable: "no_recipient" };
    const isLast = last?.channel === name;
    if (request.to === undefined) return isLast && last !== undefined ? { to: last } : { to: null, undeliverable: "no_recipient" };
    const account = isLast ? last?.account : options.defaultAccount(name);
    if (account === undefined) return { to: null, undeliverable: "no_recipient" };
    const { chat, ...topic } = parseTarget(request.to, { threads: options.threads(name) });
    return { to: { channel: name, account, chat: await options.resolve(chat, name, account), ...topic } };
  }

  return {
    lastRecipient,
    route(inbound) {
      const agentId = agentFor(config(), inbound);
      const dmScope = config().session?.dmScope;
      const sessionKey = sessionKeyFor({ agentId, inbound, ...(dmScope === undefined ? {} : { dmScope }) });
      const { request } = inbound;
      if (request !== undefined) {
        const isolated = request.sessionMode !== "persistent";
        return recipientFor(request, agentId).then((recipient) => ({ agentId, sessionKey, isolated, ...recipient }));
      }
      const { channel, account, chat } = inbound;
      const to: Address = { channel, account, chat: chat.id, ...(chat.thread === undefined ? {} : { thread: chat.thread }) };
      const route: Route = { agentId, sessionKey, isolated: false, to };
      return remember(inbound, agentId)?.then(() => route) ?? route;
    },
  };
}
