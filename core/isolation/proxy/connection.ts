/** The connection of an account in a worker, as the core calls it. */
import { ChannelError, reasonOf } from "../../contract/index.ts";
import { type RemoteConnection, remote } from "../../host/index.ts";
import type { ChannelAccount, ChannelConnection, ChannelPreview } from "../../sdk/contract.ts";
import type { ChannelData } from "../declaration.ts";
import type { Handlers } from "../peer.ts";
import { ThreadEnded } from "../plugin-thread.ts";
import { signalPlaces } from "../protocol.ts";
import type { Supervisor } from "../supervisor.ts";
import { pureCalls } from "./pure-calls.ts";

/** An account that the core has opened. */
export interface Connected {
  readonly number: number;
  readonly channel: string;
  readonly account: ChannelAccount;
  options: Readonly<Record<string, unknown>>;
  /** Resolves with the functions that the channel does not have, once it is open in the worker. */
  opened: Promise<readonly string[]>;
  /** `standby`, `running`: it has done so once, so it does so again in each new worker. */
  state: "open" | "standby" | "running" | "closed";
  /** What the plugin has begun to call, by its number there. */
  readonly calling: Map<number, () => void>;
}

type PreviewOptions = Parameters<NonNullable<ChannelConnection["preview"]>>[1];

type Describe = (image: { readonly path: string; readonly mimeType: string }) => Promise<string | undefined>;

const allCapabilities = { edits: true, reactions: true, typing: true, menu: true, stickers: true };

export interface ProxyConnections {
  readonly handlers: Handlers;
  connect(one: Connected, data: ChannelData): RemoteConnection;
  /** Connects until it works or the channel refuses: a worker that ends meanwhile is followed by another. */
  start(one: Connected): Promise<void>;
  /** Does what a node does that is not to connect; nothing for a channel that has no `standBy`. */
  standBy(one: Connected): Promise<void>;
}

function callConnection<T>(
  supervisor: Supervisor,
  one: Connected,
  name: keyof ChannelConnection,
  args: readonly unknown[],
): Promise<T> {
  const place = signalPlaces[name];
  const signal = place === undefined ? undefined : (args[place] as AbortSignal | undefined);
  const data = place === undefined ? args : args.filter((_, index) => index !== place);
  return supervisor.ask("account.call", [one.number, name, ...data], signal);
}

/** A call to the platform. One that had begun when the worker ended may have had its effect. */
async function callPlatform<T>(
  supervisor: Supervisor,
  one: Connected,
  name: keyof ChannelConnection,
  args: readonly unknown[],
): Promise<T> {
  if (!supervisor.isUp()) {
    const { lastEnd } = supervisor.report();
    const reason = lastEnd?.reason ?? "for an unknown reason";
    const detail = `The worker of the channel is starting again. It ended: ${reason}`;
    throw new ChannelError("worker_down", { retryable: true, fate: "not-sent", detail });
  }
  try {
    return await callConnection<T>(supervisor, one, name, args);
  } catch (error) {
    if (!(error instanceof ThreadEnded)) throw error;
    throw new ChannelError("worker_ended", { retryable: true, fate: "unknown", detail: reasonOf(error), cause: error });
  }
}

/** `left`: the core has closed the account. */
export function createProxyConnections(supervisor: () => Supervisor, left: (one: Connected) => void): ProxyConnections {
  const describers = new Map<number, Describe>();
  const previews = new Map<number, Pick<PreviewOptions, "onMessage" | "onUncertain">>();
  let lastNumber = 0;
  const nextNumber = () => {
    lastNumber += 1;
    return lastNumber;
  };

  async function repeatedly(one: Connected, call: "start" | "standBy"): Promise<void> {
    for (;;) {
      await supervisor().whenUp();
      try {
        if ((await one.opened).includes(call)) return;
        await supervisor().ask("account.call", [one.number, call]);
        return;
      } catch (error) {
        if (!(error instanceof ThreadEnded) || one.state === "closed") throw error;
        // The next one opens it again.
      }
    }
  }

  async function start(one: Connected): Promise<void> {
    await repeatedly(one, "start");
    if (one.state !== "closed") one.state = "running";
  }

  async function standBy(one: Connected): Promise<void> {
    await repeatedly(one, "standBy");
    if (one.state === "open") one.state = "standby";
  }

  async function close(one: Connected): Promise<void> {
    one.state = "closed";
    left(one);
    if (!supervisor().isUp()) return;
    await supervisor()
      .ask("account.close", [one.number])
      .catch((error: unknown) => {
        if (!(error instanceof ThreadEnded)) throw error;
      });
  }

  function preview(one: Connected, address: unknown, options: PreviewOptions): ChannelPreview {
    const id = nextNumber();
    const { resume, trigger, key } = options;
    const made = supervisor();
    previews.set(id, options);
    made.ask("preview.open", [one.number, id, address, { resume, trigger, key }]).catch(() => {});
    let closed: Promise<readonly string[]> | undefined;
    return {
      update: (text) => made.tell("preview.update", [id, text]),
      close() {
        closed ??= made.ask<readonly string[]>("preview.close", [id]).finally(() => previews.delete(id));
        return closed;
      },
    };
  }

  async function fetchMedia(
    one: Connected,
    ...[media, { maxBytes, signal, describe }]: Parameters<NonNullable<ChannelConnection["fetchMedia"]>>
  ) {
    const describer = describe && nextNumber();
    if (describe && describer !== undefined) describers.set(describer, describe);
    try {
      const how = { maxBytes, describer };
      return await supervisor().ask<never>("account.fetchMedia", [one.number, media, how], signal);
    } finally {
      if (describer !== undefined) describers.delete(describer);
    }
  }

  function connect(one: Connected, { capabilities }: ChannelData): RemoteConnection {
    // If they depend on the account, the core calls what that account declares.
    const { edits, reactions, typing, menu, stickers } = capabilities ?? allCapabilities;
    const platform =
      <T>(name: keyof ChannelConnection) =>
      (...args: readonly unknown[]) =>
        callPlatform<T>(supervisor(), one, name, args);
    return {
      [remote]: { absent: one.opened.catch(() => []) },
      start: () => start(one),
      standBy: () => standBy(one),
      ...pureCalls(supervisor, one.number),
      send: platform("send"),
      close: () => close(one),
      admit: (...args) => callConnection<void>(supervisor(), one, "admit", args).catch(() => {}),
      pause: () => callConnection<void>(supervisor(), one, "pause", []).catch(() => {}),
      update(options) {
        one.options = options;
        void callConnection(supervisor(), one, "update", [options]).catch((error: unknown) =>
          one.account.log.warn({ error: reasonOf(error) }, "new options were not taken"),
        );
      },
      resolve: platform("resolve"),
      reaches: platform("reaches"),
      probe: platform("probe"),
      members: platform("members"),
      fetchMedia: (...args) => fetchMedia(one, ...args),
      ...(edits && { remove: platform("remove"), preview: (address, options) => preview(one, address, options) }),
      ...(reactions && { react: platform("react") }),
      ...(typing && { typing: platform("typing") }),
      ...(menu && { menu: platform("menu") }),
      ...(stickers && { findMedia: platform("findMedia") }),
    };
  }

  return {
    connect,
    start,
    standBy,
    handlers: {
      "account.describe": ([describer, image]: readonly [number, Parameters<Describe>[0]]) =>
        describers.get(describer)?.(image),
      "preview.message": ([id, messageIds]: readonly [number, readonly string[]]) =>
        previews.get(id)?.onMessage(messageIds),
      "preview.uncertain": ([id]: readonly [number]) => previews.get(id)?.onUncertain?.(),
    },
  };
}
