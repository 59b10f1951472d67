/** The default route: the agent by bindings, the session by its rules, and the reply to where the message came from. */

import type { IdentityLinks, LinkedPerson } from "../access/index.ts";
import type { AgentsView } from "../config/index.ts";
import type { Address, Inbound, Route, TurnRequest } from "../contract/index.ts";
import type { ChannelCapabilities } from "../sdk/contract.ts";
import type { LastRecipient, Store } from "../state/index.ts";
import { agentFor, mainSessionKey, recipientOf, sessionKeyFor } from "./conversation/sessions.ts";
import { parseTarget } from "./target.ts";

export interface RouterOptions {
  readonly config: () => AgentsView;
  readonly store: Pick<Store, "session" | "updateSession">;
  /** The first account of a channel, for a recipient that names no account. */
  readonly defaultAccount: (channel: string) => string | undefined;
  /** Resolves a name such as `@name` to the platform's chat id. */
  readonly resolve: (target: string, channel: string, account: string) => Promise<string>;
  /** Whether the policy of a direct chat still admits its sender. Otherwise no webhook or heartbeat replies there. */
  readonly admits: (recipient: Address, senderId: string) => Promise<boolean>;
  /** Whether the configuration or a plugin names the channel. */
  readonly isKnown: (channel: string) => boolean;
  /** Whether the chats of an account have topics, so that a recipient may name one, and what those look like. */
  readonly topics: (at: Pick<Address, "channel" | "account">) => Pick<ChannelCapabilities, "threads" | "messageIds">;
  readonly links: Pick<IdentityLinks, "fresh" | "personOf" | "lastPlace" | "wrote">;
  readonly now: () => number;
  /** Another person than before, or from another chat, wrote to an agent in a direct chat. */
  readonly onRecipient?: (recipient: LastRecipient) => void;
}

export interface Router {
  /** Routes a message. Synchronous unless the store or the channel must be asked, because every message passes here. */
  route(inbound: Inbound): Route | Promise<Route>;
  /**
   * The address of the last direct message in the agent's main session; `undefined` also if its sender may no longer
   * write there.
   */
  lastRecipient(agentId: string): Promise<Address | undefined>;
}

/**
 * How long a stored recipient is not read again: messages arrive in bursts. Then it is, because the command line may
 * have erased it, or another node may have stored another one.
 */
const trustedMs = 1_000;

interface Known {
  readonly recipient: LastRecipient;
  /** By the monotonic clock. */
  readonly until: number;
}

/** The account of a recipient whose channel has no open account. A reply there waits until there is one. */
const anyAccount = "";

const addressOf = ({ senderId: _senderId, ...address }: LastRecipient): Address => address;

function isSame(a: LastRecipient | undefined, b: LastRecipient): boolean {
  const sameChat =
    a !== undefined && a.channel === b.channel && a.account === b.account && a.chat === b.chat && a.thread === b.thread;
  return sameChat && a.senderId === b.senderId;
}

export function createRouter(options: RouterOptions): Router {
  const { config, store, now } = options;
  /** The last recipient of each agent, while it is being written and for a moment after. */
  const latest = new Map<string, Known>();
  const unwritten = new Set<string>();

  function known(agentId: string): LastRecipient | undefined {
    const found = latest.get(agentId);
    return found !== undefined && performance.now() < found.until ? found.recipient : undefined;
  }

  function trust(agentId: string, recipient: LastRecipient): void {
    latest.set(agentId, { recipient, until: performance.now() + trustedMs });
  }

  async function lastOf(agentId: string): Promise<LastRecipient | undefined> {
    return known(agentId) ?? (await store.session(mainSessionKey(agentId)))?.lastRecipient;
  }

  /** In a record without a sender, the chat of a direct message stands for the sender, as it does on most platforms. */
  const isAdmitted = (last: LastRecipient) => options.admits(addressOf(last), last.senderId ?? last.chat);

  /**
   * When many messages arrive at once, only the last recipient is written. The next message makes up for a failed
   * write.
   */
  function write(): void {
    for (const agentId of unwritten) {
      const writing = latest.get(agentId);
      if (writing === undefined) continue;
      const lastRecipient = writing.recipient;
      const isNewest = () => latest.get(agentId) === writing;
      store.updateSession(mainSessionKey(agentId), { agentId, at: now(), lastRecipient }).then(
        () => isNewest() && trust(agentId, lastRecipient),
        () => isNewest() && latest.delete(agentId),
      );
    }
    unwritten.clear();
  }

  /** Remembers the sender of a direct message as the main session's last recipient. Writes only on a change. */
  function remember(inbound: Inbound, agentId: string): Promise<void> | undefined {
    const recipient = recipientOf(inbound);
    if (recipient === undefined) return undefined;
    const last = known(agentId);
    // Another message may have been noted meanwhile.
    if (last === undefined) return lastOf(agentId).then((stored) => note(recipient, agentId, known(agentId) ?? stored));
    note(recipient, agentId, last);
    return undefined;
  }

  function note(recipient: LastRecipient, agentId: string, last: LastRecipient | undefined): void {
    if (isSame(last, recipient)) {
      if (known(agentId) === undefined) trust(agentId, recipient);
      return;
    }
    options.onRecipient?.(recipient);
    latest.set(agentId, { recipient, until: Number.POSITIVE_INFINITY });
    if (unwritten.size === 0) setImmediate(write);
    unwritten.add(agentId);
  }

  async function exactRecipient(address: Address): Promise<Pick<Route, "to" | "undeliverable">> {
    const account = address.account === "" ? (options.defaultAccount(address.channel) ?? anyAccount) : address.account;
    return { to: { ...address, account, chat: await options.resolve(address.chat, address.channel, account) } };
  }

  async function recipientFor(request: TurnRequest, agentId: string): Promise<Pick<Route, "to" | "undeliverable">> {
    if (request.deliver === false) return { to: null, undeliverable: "not_asked" };
    if (request.address !== undefined) return await exactRecipient(request.address);
    const last = await lastOf(agentId);
    const channel = request.channel ?? "last";
    const name = channel === "last" ? last?.channel : channel;
    if (name === undefined) return { to: null, undeliverable: "no_recipient" };
    const isLast = last?.channel === name;
    if (request.to === undefined) {
      if (!isLast || last === undefined) return { to: null, undeliverable: "no_recipient" };
      return (await isAdmitted(last)) ? { to: addressOf(last) } : { to: null, undeliverable: "recipient_refused" };
    }
    // The target of a heartbeat may be a channel that never was there, and then its events must not wait for it.
    if (request.heartbeat !== undefined && !isLast && !options.isKnown(name))
      return { to: null, undeliverable: "no_recipient" };
    const account = (isLast ? last?.account : options.defaultAccount(name)) ?? anyAccount;
    const { chat, ...topic } = parseTarget(request.to, options.topics({ channel: name, account }));
    return { to: { channel: name, account, chat: await options.resolve(chat, name, account), ...topic } };
  }

  /** What a person asked for in a direct chat, such as a reminder, goes to where that person wrote last. */
  async function newestPlace(inbound: Inbound, person: LinkedPerson | undefined): Promise<Address | undefined> {
    const { request, chat } = inbound;
    if (person === undefined || request?.address === undefined || chat.kind !== "direct") return undefined;
    const place = await options.links.lastPlace(person);
    const isTheirs = ({ channel, senderId }: LastRecipient) =>
      person.ids.some((one) => one.channel === channel && one.id === senderId);
    // The place may be of an id that was taken away from the person.
    return place !== undefined && isTheirs(place) && (await isAdmitted(place)) ? addressOf(place) : undefined;
  }

  async function routeRequest(
    inbound: Inbound,
    route: Pick<Route, "agentId" | "sessionKey" | "person">,
  ): Promise<Route> {
    const { request = {} } = inbound;
    const isolated = request.sessionMode !== "persistent";
    const address = await newestPlace(inbound, options.links.personOf(inbound));
    const recipient = await recipientFor(address === undefined ? request : { ...request, address }, route.agentId);
    return { ...route, isolated, ...recipient };
  }

  function routeNow(inbound: Inbound): Route | Promise<Route> {
    const agentId = agentFor(config(), inbound);
    const dmScope = config().session?.dmScope;
    const linked = options.links.personOf(inbound);
    const sessionKey = sessionKeyFor({ agentId, inbound, dmScope, person: linked?.name });
    const [first] = linked?.ids ?? [];
    const person = linked && first && { name: linked.name, ...first };
    const from = { agentId, sessionKey, ...(person !== undefined && { person }) };
    if (inbound.request !== undefined) return routeRequest(inbound, from);
    const { channel, account, chat } = inbound;
    const to: Address = { channel, account, chat: chat.id, thread: chat.thread };
    const route: Route = { ...from, isolated: false, to };
    const recipient = recipientOf(inbound);
    if (linked !== undefined && recipient !== undefined) options.links.wrote(linked, recipient);
    return remember(inbound, agentId)?.then(() => route) ?? route;
  }

  return {
    async lastRecipient(agentId) {
      const last = await lastOf(agentId);
      return last !== undefined && (await isAdmitted(last)) ? addressOf(last) : undefined;
    },
    route: (inbound) => options.links.fresh()?.then(() => routeNow(inbound)) ?? routeNow(inbound),
  };
}
