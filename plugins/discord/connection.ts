/** The connection of one account: joins its parts. */
import { type ChannelAccount, type ChannelConnection, ChannelError, keepConnected } from "service-gateway/sdk/channel";
import { createApi } from "./api.ts";
import { createEvents } from "./events.ts";
import { fetchFile } from "./inbound-files.ts";
import { registerCommands } from "./interaction.ts";
import { createLink } from "./link.ts";
import type { Options } from "./options.ts";
import { parse } from "./parse.ts";
import { createPlaces } from "./places.ts";
import { previewOf } from "./preview.ts";
import { createProbe } from "./probe.ts";
import { createProgress } from "./progress.ts";
import { routeOf } from "./rate-limits.ts";
import { createReactions } from "./reactions.ts";
import { render } from "./render.ts";
import { createSender } from "./send.ts";
import { createWriters } from "./writers.ts";

export function createConnection(account: ChannelAccount<Options>): ChannelConnection {
  const { options, store, now, log } = account;
  const api = createApi(account);
  const progress = createProgress(store, (error) =>
    log.warn({ error }, "the position in the events of Discord could not be stored"),
  );
  const places = createPlaces({ api, store, now, botId: () => progress.state().bot });
  const events = createEvents({ account, api, places, progress, writers: createWriters(store) });
  const link = createLink({ account, api, progress, events, onConnected: () => offerOnce() });
  const sender = createSender({ api, places });
  const paused = new AbortController();
  let isOffered = false;

  async function offer(commands: ReturnType<ChannelAccount["commands"]>): Promise<void> {
    const application = options.slashCommands ? await link.application() : undefined;
    if (application !== undefined) await registerCommands(commands, { api, application });
  }

  /** A connection works without its menu. */
  function offerOnce(): void {
    if (isOffered) return;
    isOffered = true;
    offer(account.commands()).catch((error: unknown) => {
      isOffered = false;
      const reason = error instanceof ChannelError ? error.reason : "failed";
      log.warn({ reason }, "the slash commands could not be registered");
    });
  }

  async function leave(): Promise<void> {
    paused.abort();
    await link.leave();
  }

  return {
    start: () => keepConnected({ ...account, signal: AbortSignal.any([account.signal, paused.signal]) }, link.connect),
    parse,
    render,
    admit(part, address, signal) {
      if (part.onlyFor !== undefined) return undefined;
      const method = part.replaces === undefined ? "POST" : "PATCH";
      return sender.messagesOf(address).then(
        (path) => api.limits.take(routeOf(method, path), signal),
        // The send itself finds out what is wrong with the address.
        () => undefined,
      );
    },
    send: sender.send,
    remove: sender.remove,
    preview: (address, how) => previewOf(sender, address, how),
    ...createReactions({ api, places }),
    async typing(address) {
      await api.call("POST", `/channels/${await places.channelOf(address)}/typing`);
    },
    menu: offer,
    fetchMedia: (media, how) => fetchFile(media, how, { api, account }),
    resolve: async (target) => places.resolve(target),
    ...createProbe(api),
    pause: leave,
    close: leave,
  };
}
