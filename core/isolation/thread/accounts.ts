/**
 * The accounts of a plugin's channels in its worker: what `open` receives, and the calls of the main thread into the
 * connections.
 */

import { connectionProblem } from "../../host/connection.ts";
import { createJudgeCaller, type JudgeCaller, refusalOf } from "../../http/callers.ts";
import { createClientAddress } from "../../http/client-address.ts";
import type {
  ChannelAccount,
  ChannelConnection,
  ChannelDefinition,
  ChannelPreview,
  ChannelRequest,
  ChannelRequestHead,
  ChannelRoute,
} from "../../sdk/contract.ts";
import type { Handlers, Peer } from "../peer.ts";
import { type AccountFacts, type Facts, type OpeningAccount, optionalFunctions, signalPlaces } from "../protocol.ts";
import { createThreadLog } from "./log.ts";
import { createThreadStore } from "./store.ts";

interface Open {
  readonly connection: ChannelConnection;
  readonly stop: AbortController;
  facts: AccountFacts;
  /** By path. */
  readonly routes: ReadonlyMap<string, ChannelRoute>;
}

export interface ThreadAccounts {
  readonly handlers: Handlers;
  follow(facts: Facts): void;
}

export function createThreadAccounts(options: {
  readonly peer: () => Peer;
  readonly channel: (id: string) => ChannelDefinition;
  readonly newId: () => string;
}): ThreadAccounts {
  const open = new Map<number, Open>();
  const previews = new Map<number, ChannelPreview>();
  const judges = new Map<number, JudgeCaller>();
  let trustedProxies: readonly string[] = [];

  function accountOf(
    { number, id, options: values, directory }: OpeningAccount,
    of: { facts: AccountFacts; readonly routes: Map<string, ChannelRoute> },
    stop: AbortController,
  ): ChannelAccount {
    const peer = options.peer();
    let calls = 0;
    return {
      ...{ id, options: values, directory, signal: stop.signal, now: Date.now, newId: options.newId },
      log: createThreadLog(peer, number),
      store: createThreadStore(peer, number),
      secrets: {
        get: (name) => peer.ask("account.secret", [number, "get", name]),
        set: (name, text) => peer.ask("account.secret", [number, "set", name, text]),
        delete: (name) => peer.ask("account.secret", [number, "delete", name]),
      },
      receive: (raw, at) => peer.ask("account.receive", [number, raw, at]),
      check: (raw) => peer.ask("account.check", [number, raw]),
      sent: (messageId, report, at) => peer.ask("account.sent", [number, messageId, report, at]),
      room: () => peer.ask("account.room", [number]),
      status: (status) => peer.tell("account.status", [number, status]),
      calling() {
        calls += 1;
        const call = calls;
        peer.tell("account.calling", [number, call]);
        return () => peer.tell("account.called", [number, call]);
      },
      route({ path, methods, maxBytes, refuse, handler }) {
        of.routes.set(path, { path, handler, ...(refuse !== undefined && { refuse }) });
        const limits = { ...(methods !== undefined && { methods }), ...(maxBytes !== undefined && { maxBytes }) };
        peer.tell("account.route", [number, { path, ...limits, refuses: refuse !== undefined }]);
      },
      judgeCaller: createJudgeCaller({
        elapsed: () => performance.now(),
        clientAddress: createClientAddress(() => trustedProxies),
        onLimited: (client, seconds) =>
          peer.tell("log", [
            number,
            "warn",
            { client, seconds },
            "callers with a wrong secret are refused for a while",
          ]),
      }),
      debounceMs: () => of.facts.debounceMs,
      commands: () => of.facts.commands,
    };
  }

  function connectionOf(number: number): ChannelConnection {
    const found = open.get(number);
    if (found === undefined) throw new Error("the account is not open in the worker");
    return found.connection;
  }

  function routeOf(number: number, path: string): ChannelRoute {
    const found = open.get(number)?.routes.get(path);
    if (found === undefined) throw new Error("the account has no such route in the worker");
    return found;
  }

  /** The main thread knows the address of the client; the limits are those of this thread. */
  function judgeOf(number: number, head: ChannelRequestHead): ChannelRequestHead["judge"] {
    const judge =
      judges.get(number) ??
      createJudgeCaller({
        elapsed: () => performance.now(),
        clientAddress: (request) => (request as unknown as ChannelRequestHead).clientAddress,
      });
    judges.set(number, judge);
    return (isRight) => refusalOf(judge(head as never, isRight));
  }

  const handlers: Handlers = {
    "account.open"([opening]: readonly [OpeningAccount]) {
      const stop = new AbortController();
      const of = { facts: opening.facts, routes: new Map<string, ChannelRoute>() };
      const connection = options.channel(opening.channel).open(accountOf(opening, of, stop) as never);
      const problem = connectionProblem(connection);
      if (problem !== undefined) throw new Error(problem);
      open.set(opening.number, Object.assign(of, { connection, stop }));
      return optionalFunctions.filter((name) => connection[name] === undefined);
    },
    "account.call"([number, name, ...args]: readonly [number, keyof ChannelConnection, ...unknown[]], signal) {
      const connection = connectionOf(number);
      const place = signalPlaces[name];
      const all = place === undefined ? args : Object.assign([...args], { [place]: signal });
      return (connection[name] as (...given: readonly unknown[]) => unknown).call(connection, ...all);
    },
    "account.refuse"([number, path, head]: readonly [number, string, ChannelRequestHead]) {
      return routeOf(number, path).refuse?.({ ...head, judge: judgeOf(number, head) });
    },
    "account.request"([number, path, request]: readonly [number, string, ChannelRequest]) {
      const body = Buffer.from(request.body);
      return routeOf(number, path).handler({ ...request, body, judge: judgeOf(number, request) });
    },
    "account.fetchMedia"(
      [number, media, { maxBytes, describer }]: readonly [
        number,
        never,
        { readonly maxBytes: number; readonly describer?: number },
      ],
      signal,
    ) {
      const describe = (image: { readonly path: string; readonly mimeType: string }) =>
        options.peer().ask<string | undefined>("account.describe", [describer, image]);
      return connectionOf(number).fetchMedia?.(media, {
        maxBytes,
        signal,
        ...(describer !== undefined && { describe }),
      });
    },
    "preview.open"([number, id, address, given]: readonly [
      number,
      number,
      never,
      { readonly resume: readonly string[]; readonly trigger?: string; readonly key?: string },
    ]) {
      const onMessage = (messageIds: readonly string[]) => options.peer().tell("preview.message", [id, messageIds]);
      const onUncertain = () => options.peer().tell("preview.uncertain", [id]);
      const preview = connectionOf(number).preview?.(address, { ...given, onMessage, onUncertain });
      if (preview !== undefined) previews.set(id, preview);
    },
    "preview.update"([id, text]: readonly [number, string]) {
      previews.get(id)?.update(text);
    },
    async "preview.close"([id]: readonly [number]) {
      const preview = previews.get(id);
      previews.delete(id);
      return await preview?.close();
    },
    "account.abort"([number]: readonly [number]) {
      open.get(number)?.stop.abort();
    },
    async "account.close"([number]: readonly [number]) {
      const found = open.get(number);
      found?.stop.abort();
      await found?.connection.close();
      open.delete(number);
      judges.delete(number);
    },
  };

  return {
    handlers,
    follow(facts) {
      trustedProxies = facts.trustedProxies;
      for (const [number, one] of open) one.facts = facts.accounts[number] ?? one.facts;
    },
  };
}
