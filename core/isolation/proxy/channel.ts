/**
 * The channels of a plugin in a worker, as the core opens and calls them. Accounts stay open here while their worker
 * starts again.
 */
import { isDeepStrictEqual } from "node:util";
import { HostError, type Json, reasonOf } from "../../contract/index.ts";
import type { RemoteConnection } from "../../host/index.ts";
import type { AccountSecrets, ChannelAccount, ChannelDefinition, RouteAnswer } from "../../sdk/contract.ts";
import type { ChannelData } from "../declaration.ts";
import type { Handlers } from "../peer.ts";
import type { AccountFacts, OpeningAccount, RouteData } from "../protocol.ts";
import type { Supervisor } from "../supervisor.ts";
import { type Connected, createProxyConnections } from "./connection.ts";
import { defineChannel } from "./definition.ts";

export interface ProxyChannels {
  readonly handlers: Handlers;
  define(data: ChannelData): ChannelDefinition;
  /** What the accounts read at once, by number. */
  facts(): Readonly<Record<number, AccountFacts>>;
  account(number: number): ChannelAccount;
  down(reason: string, inMs: number): void;
  up(): Promise<void>;
}

const factsOf = ({ account }: Connected): AccountFacts => ({
  debounceMs: account.debounceMs(),
  commands: account.commands(),
});

/** Registers an address whose functions are asked in the worker. */
function addRoute(
  [number, { refuses, ...route }]: readonly [number, RouteData],
  {
    supervisor,
    accountOf,
  }: { readonly supervisor: () => Supervisor; readonly accountOf: (number: number) => ChannelAccount },
): void {
  const asked = <T>(call: string, request: object) =>
    supervisor().ask<T>(call, [number, route.path, { ...request, judge: undefined }]);
  accountOf(number).route({
    ...route,
    ...(refuses && { refuse: (request) => asked<RouteAnswer | undefined>("account.refuse", request) }),
    async handler(request) {
      const answer = await asked<RouteAnswer>("account.request", request);
      return answer?.body instanceof Uint8Array ? { ...answer, body: Buffer.from(answer.body) } : answer;
    },
  });
}

const secretCall =
  (accountOf: (number: number) => ChannelAccount) =>
  ([number, name, ...args]: readonly [number, keyof AccountSecrets, string, string]) =>
    accountOf(number).secrets[name](...args);

export function createProxyChannels(supervisor: () => Supervisor): ProxyChannels {
  const connected = new Map<number, Connected>();
  const connections = createProxyConnections(supervisor, (one) => void connected.delete(one.number));
  const definitions = new Map<string, { readonly data: ChannelData; readonly definition: ChannelDefinition }>();
  let lastNumber = 0;

  /** Opens it in the running worker; what is asked after that arrives there after it. */
  function openThere(one: Connected): Promise<readonly string[]> {
    const { number, channel, account, options } = one;
    const { id, directory } = account;
    const opening: OpeningAccount = { number, channel, id, options, directory, facts: factsOf(one) };
    const opened = supervisor().ask<readonly string[]>("account.open", [opening]);
    opened.catch(() => {});
    return opened;
  }

  function open(data: ChannelData, account: ChannelAccount): RemoteConnection {
    lastNumber += 1;
    const one: Connected = {
      ...{ number: lastNumber, channel: data.id, account, options: account.options },
      ...{ opened: Promise.resolve([]), state: "open", calling: new Map() },
    };
    connected.set(one.number, one);
    one.opened = supervisor().isUp()
      ? openThere(one)
      : supervisor()
          .whenUp()
          .then(() => one.opened);
    one.opened.catch(() => {});
    account.signal.addEventListener("abort", () => supervisor().tell("account.abort", [one.number]), { once: true });
    return connections.connect(one, data);
  }

  function accountOf(number: number): ChannelAccount {
    const one = connected.get(number);
    if (one === undefined) throw new HostError("account_closed", { channel: "the plugin", account: number });
    return one.account;
  }

  const handlers: Handlers = {
    "account.receive": ([number, raw, at]: readonly [number, Json, Parameters<ChannelAccount["receive"]>[1]]) =>
      accountOf(number).receive(raw, at),
    "account.check": ([number, raw]: readonly [number, Json]) => accountOf(number).check(raw),
    "account.sent": ([number, ...report]: readonly [number, ...Parameters<ChannelAccount["sent"]>]) =>
      accountOf(number).sent(...report),
    "account.secret": secretCall(accountOf),
    "account.room": ([number]: readonly [number]) => accountOf(number).room(),
    "account.status": ([number, status]: readonly [number, Parameters<ChannelAccount["status"]>[0]]) =>
      accountOf(number).status(status),
    "account.route": (registered: readonly [number, RouteData]) => addRoute(registered, { supervisor, accountOf }),
    "account.calling"([number, call]: readonly [number, number]) {
      connected.get(number)?.calling.set(call, accountOf(number).calling());
    },
    "account.called"([number, call]: readonly [number, number]) {
      const { calling } = connected.get(number) ?? {};
      calling?.get(call)?.();
      calling?.delete(call);
    },
  };

  return {
    handlers: { ...handlers, ...connections.handlers },
    define(data) {
      const before = definitions.get(data.id);
      if (before !== undefined && isDeepStrictEqual(before.data, data)) return before.definition;
      // The registry keeps it as every definition; the core calls it as one that may answer later.
      const definition = defineChannel(data, supervisor, (account) =>
        open(data, account),
      ) as unknown as ChannelDefinition;
      definitions.set(data.id, { data, definition });
      return definition;
    },
    facts: () => Object.fromEntries([...connected.values()].map((one) => [one.number, factsOf(one)])),
    account: accountOf,
    down(reason, inMs) {
      const detail = `The worker of the plugin ended: ${reason}. It starts again in ${Math.ceil(inMs / 1_000)} s.`;
      for (const { account, calling } of connected.values()) {
        calling.clear();
        account.status({ state: "waiting", detail });
      }
    },
    async up() {
      for (const one of connected.values()) one.opened = openThere(one);
      const again = {
        open: undefined,
        standby: connections.standBy,
        running: connections.start,
        closed: undefined,
      } as const;
      await Promise.all(
        [...connected.values()].map((one) =>
          again[one.state]?.(one).catch((error: unknown) => {
            if (one.state !== "closed") one.account.status({ state: "failed", detail: reasonOf(error) });
          }),
        ),
      );
    },
  };
}
