/** The connection of one account. */
import {
  type ChannelAccount,
  type ChannelConnection,
  ChannelError,
  keepConnected,
  type LiveConnection,
} from "service-gateway/sdk/channel";
import { render } from "./content.ts";
import { createFetchMedia } from "./files.ts";
import { createHomeserver, path, string } from "./homeserver.ts";
import { createInvitations } from "./invitations.ts";
import { parse } from "./message.ts";
import type { Options } from "./options.ts";
import { type Bot, createProbe } from "./probe.ts";
import { createRooms } from "./rooms.ts";
import { createSending } from "./sending.ts";
import { createSync } from "./sync.ts";
import { createTimeline } from "./timeline.ts";

export function openConnection(account: ChannelAccount<Options>): ChannelConnection {
  let { options } = account;
  const server = createHomeserver(account);
  const rooms = createRooms(account, server);
  const invitations = createInvitations(account, server, rooms);
  const timeline = createTimeline(account, server, rooms);
  const sync = createSync({ account, options: () => options, server, rooms, invitations, timeline });
  /** The access rules may have changed since the invitations were considered. */
  let isReconsidering = true;
  let asked: Promise<string> | undefined;
  let running: Promise<void> = Promise.resolve();

  async function askId(signal: AbortSignal | undefined): Promise<string> {
    const { user_id: id } = await server.call({ name: "whoami", path: "client/v3/account/whoami", signal });
    return String(id);
  }

  /** The id that the token belongs to. */
  async function id(signal?: AbortSignal): Promise<string> {
    asked ??= askId(signal);
    const asking = asked;
    return await asking.catch((error: unknown) => {
      if (asked === asking) asked = undefined;
      throw error;
    });
  }

  async function me(signal?: AbortSignal): Promise<Bot> {
    // A token can end at any time.
    asked = undefined;
    const own = await id(signal);
    const name = "profile";
    const profile = await server
      .call({ name, path: path`client/v3/profile/${own}`, signal })
      .catch((error: unknown) => {
        if (error instanceof ChannelError && error.reason === "chat_not_found") return {};
        throw error;
      });
    const shown = string((profile as { readonly displayname?: unknown }).displayname);
    return { id: own, ...(shown !== undefined && shown.trim() !== "" && { name: shown }) };
  }

  /** Only a token that is refused needs the operator. All others may be faults of a proxy that end. */
  function lasting(error: unknown): unknown {
    if (!(error instanceof ChannelError) || error.retryable || error.reason === "unauthorized") return error;
    const { reason, message: detail, hint } = error;
    return new ChannelError(reason, { retryable: true, detail, ...(hint !== undefined && { hint }) });
  }

  async function connect(signal: AbortSignal): Promise<LiveConnection> {
    const own = await me(signal);
    const localpart = own.id.slice(1).split(":", 1)[0] ?? own.id;
    const bot = { id: own.id, names: [...new Set([own.name ?? localpart, localpart])] };
    await sync.begin(bot, signal);
    // An attempt that took too long is over: another one receives.
    signal.throwIfAborted();
    async function loop(): Promise<void> {
      // What waits is fetched at once.
      for (let waits = false; !signal.aborted; waits = true) {
        if (isReconsidering || invitations.isDue()) {
          isReconsidering = false;
          await invitations.reconsider(bot, signal);
        }
        await sync.next(bot, signal, { waits });
      }
    }
    const lost = loop().catch((error: unknown) => Promise.reject(lasting(error)));
    running = lost.catch(() => {});
    return {
      identity: { id: own.id, username: own.id.slice(1), ...(own.name !== undefined && { name: own.name }) },
      lost,
    };
  }

  return {
    start: () =>
      keepConnected(account, (signal) => connect(signal).catch((error: unknown) => Promise.reject(lasting(error))), {
        // The first answer of a homeserver with many rooms takes long.
        timeoutMs: 120_000,
      }),
    parse,
    render,
    ...createSending({ account, options: () => options, server, rooms, me: id }),
    ...createProbe(account, server, { invitations, me }),
    fetchMedia: createFetchMedia(account, server),
    update(changed) {
      options = changed as Options;
      isReconsidering = true;
    },
    async close() {
      // The signal of the account ends each call.
      await running;
    },
  };
}
