/** The thread of one plugin: loads it, sets it up, and runs what the main thread asks for. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { PluginError, reasonOf } from "../contract/index.ts";
import { checkMembers } from "../host/declaration/members.ts";
import { createLoader } from "../host/load.ts";
import { onEvent, onMessage } from "../listeners/index.ts";
import type { PluginDefinition, RouteAnswer, RouteRequest } from "../sdk/contract.ts";
import { createIds } from "../state/ids.ts";
import { noteCurrentCall } from "./current-call.ts";
import { declaredOf, Uncrossable } from "./declaration.ts";
import { asMessage, createPeer, type Handlers, type Peer } from "./peer.ts";
import type { Facts, OwnFacts, Pulse, ThreadData } from "./protocol.ts";
import { createThreadAccounts } from "./thread/accounts.ts";
import { channelHandlers } from "./thread/channels.ts";
import { engineHandlers } from "./thread/engines.ts";
import { createOwn, createThreadHost, registeredOf } from "./thread/host.ts";
import { createThreadSettings } from "./thread/settings.ts";
import { toolHandlers } from "./thread/tools.ts";

function serve(port: MessagePort, { source, cacheDirectory, callMemory }: ThreadData): void {
  const newId = createIds(Date.now);
  const stop = new AbortController();
  const own = createOwn();
  let definition: PluginDefinition | undefined;
  let address = "";
  const peerOf = (): Peer => peer;

  const found = <T>(list: readonly T[], test: (one: T) => boolean, what: string): T => {
    const one = list.find(test);
    if (one === undefined) throw new Error(`the plugin registers no ${what}`);
    return one;
  };
  const at = <T>(list: readonly T[], index: number): T => list[index] ?? found([], () => false, `number ${index}`);
  const channelOf = (id: string) =>
    found(
      [...own.channels, ...(definition?.channel === undefined ? [] : [definition.channel])],
      (one) => one.id === id,
      `channel ${id}`,
    );
  const settings = createThreadSettings((error) =>
    peer.tell("log", [null, "error", { error: reasonOf(error) }, "the plugin could not apply the configuration"]),
  );
  const accounts = createThreadAccounts({ peer: peerOf, newId, channel: channelOf });

  const handlers: Handlers = {
    ...accounts.handlers,
    ...channelHandlers(channelOf),
    ...engineHandlers({
      peer: peerOf,
      engine: (id) => found(own.engines, (engine) => engine.id === id, `engine ${id}`),
    }),
    ...toolHandlers(own),
    async load() {
      const loader = createLoader({ cacheDirectory, fresh: false });
      definition = checkMembers(source.name, await loader.load(source));
      return declaredOf(definition);
    },
    async setup([options, facts]: readonly [unknown, OwnFacts]) {
      if (definition === undefined) throw new Error("the plugin is not loaded");
      const { id } = definition;
      settings.follow(facts);
      const scope = createThreadHost({
        id,
        declared: definition,
        settings,
        own,
        peer,
        signal: stop.signal,
        newId,
        address: () => address,
      });
      try {
        await definition.setup(scope.host, options as never);
        return registeredOf(own);
      } catch (error) {
        if (error instanceof Uncrossable)
          throw new PluginError("plugin_isolation", { plugin: id, reason: error.message });
        throw error;
      } finally {
        scope.close();
      }
    },
    async ready([url]: readonly [string]) {
      address = url;
      for (const fn of own.ready) await fn();
    },
    pulse([facts]: readonly [Facts]): Pulse {
      accounts.follow(facts);
      const { external, arrayBuffers } = process.memoryUsage();
      return { externalBytes: Math.max(external, arrayBuffers), watched: own.watched.map((report) => attempt(report)) };
    },
    settings: ([facts]: readonly [OwnFacts]) => settings.follow(facts),
    "section.check": ([given, around]: readonly [unknown, never]) => definition?.section?.check?.(given, around) ?? [],
    command: ([index, call]: readonly [number, never]) => at(own.commands, index).run(call),
    async route([index, request]: readonly [number, RouteRequest]): Promise<RouteAnswer> {
      const { body } = request;
      return await at(own.routes, index).handler({
        ...request,
        body: body instanceof Uint8Array ? Buffer.from(body) : body,
      });
    },
    tap: ([index, args, hasSignal]: readonly [number, readonly unknown[], boolean], signal) =>
      at(own.taps, index).fn(...args, ...(hasSignal ? [signal] : [])),
    device: ([index, token]: readonly [number, string]) => at(own.devices, index)(token),
    "panel.entries": ([index]: readonly [number]) => at(own.panels, index).entries(),
    "panel.act": ([index, name, entry]: readonly [number, string, { readonly id: string }]) =>
      at(own.panels, index).acts?.[name]?.run(entry),
    "check.explain": ([index]: readonly [number]) => at(own.checks, index).explain(),
    "check.fix": ([index]: readonly [number]) => at(own.checks, index).fix?.(),
    async close() {
      for (const fn of [...own.close].reverse()) {
        try {
          await fn();
        } catch (error) {
          peer.tell("log", [null, "error", {}, `onClose failed: ${reasonOf(error)}`]);
        }
      }
      stop.abort();
    },
  };
  const peer = createPeer((message) => port.postMessage(message), handlers, noteCurrentCall(callMemory));
  onMessage(port, "message", { source: "the main thread", check: asMessage, handle: peer.receive });
  // As on the main thread, a rejection that no code handles ends nothing.
  onEvent<readonly [unknown]>(process, "unhandledRejection", {
    source: "the plugin",
    handle: (error) => peer.tell("log", [null, "error", { error: reasonOf(error) }, "unhandled promise rejection"]),
  });
}

function attempt(report: () => unknown): unknown {
  try {
    return report();
  } catch {
    return [];
  }
}

if (parentPort !== null) serve(parentPort, workerData as ThreadData);
