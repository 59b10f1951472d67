/** The connection of one account. */
import {
  type ChannelAccount,
  type ChannelConnection,
  ChannelError,
  keepConnected,
  type LiveConnection,
} from "service-gateway/sdk/channel";
import { createApi } from "./api.ts";
import { registerCommands } from "./commands.ts";
import { type Fields, id, number, record, text } from "./fields.ts";
import { connectGateway, type GatewayConnection, intents, type Session } from "./gateway.ts";
import { fetchFile } from "./inbound-files.ts";
import { createIntake, type Intake } from "./intake.ts";
import type { Options } from "./options.ts";
import { parse } from "./parse.ts";
import { createPlaces } from "./places.ts";
import { createProbe, identityOf, readsContent } from "./probe.ts";
import { createProgress } from "./progress.ts";
import { routeOf } from "./rate-limits.ts";
import { createReactions } from "./reactions.ts";
import { render } from "./render.ts";
import { createSender } from "./send.ts";
import { isSnowflake } from "./snowflake.ts";
import { botOf } from "./token.ts";
import { createWriters } from "./writers.ts";

/** A platform that does not answer the end of a connection is not waited for. */
const goodbyeMs = 2_000;

export function createConnection(account: ChannelAccount<Options>): ChannelConnection {
  const { options, store, now, log } = account;
  const api = createApi(account);
  const onError = (error: unknown) => log.warn({ error }, "the position in the events of Discord could not be stored");
  const progress = createProgress(store, onError);
  const places = createPlaces({ api, store, now, botId: () => progress.state().bot });
  const writers = createWriters(store);
  const sender = createSender({ api, places });
  const reactions = createReactions({ api, places });
  const { probe, members } = createProbe(api);
  const paused = new AbortController();
  const ending = AbortSignal.any([account.signal, paused.signal]);
  let live: { readonly gateway: GatewayConnection; readonly intake: Intake } | undefined;
  let application: Fields | undefined;
  /** The address for resumptions did not answer. */
  let isResumeUrlDead = false;
  let commands = account.commands;

  async function loaded(): Promise<void> {
    if (progress.state().unread !== undefined) return;
    await progress.load();
    const bot = botOf(options.token);
    // The account has another bot than before.
    if (bot !== undefined && progress.state().bot !== bot)
      progress.change({ bot, session: undefined, newest: undefined, first: undefined });
  }

  /** Only a wrong token ends the account. Every other refusal passes, such as that of a proxy for a minute. */
  async function get(path: string, signal: AbortSignal): Promise<Fields> {
    try {
      return record(await api.call("GET", path, { signal })) ?? {};
    } catch (error) {
      if (!(error instanceof ChannelError) || error.retryable || error.reason === "unauthorized") throw error;
      throw new ChannelError("platform_error", {
        ...{ retryable: true, detail: error.message, cause: error },
        hint: "If this goes on, check apiRoot: it ends with the version, as in https://discord.com/api/v10.",
      });
    }
  }

  /** The token goes to the platform's own hosts alone. */
  function trusted(url: string | undefined): string {
    if (url !== undefined && api.hosts.isGateway(url)) return url;
    throw new ChannelError("unknown_host", {
      retryable: true,
      detail: "Discord named a gateway on a host that is not its own",
    });
  }

  async function addressOf(session: Session | undefined, signal: AbortSignal): Promise<string> {
    if (session !== undefined && !isResumeUrlDead && api.hosts.isGateway(session.url)) return session.url;
    const { url, session_start_limit: limit } = await get("/gateway/bot", signal);
    const { remaining, reset_after: resetMs } = record(limit) ?? {};
    if (session === undefined && remaining === 0)
      throw new ChannelError("flood_wait", {
        retryable: true,
        retryAfterMs: number(resetMs) ?? 60_000,
        detail: "The bot has begun as many sessions as Discord allows in a day",
      });
    return trusted(text(url));
  }

  async function connect(signal: AbortSignal): Promise<LiveConnection> {
    await loaded();
    const me = identityOf(await get("/users/@me", signal));
    const { session } = progress.state();
    if (application === undefined || session === undefined) application = await get("/oauth2/applications/@me", signal);
    const hasContent = readsContent(application);
    const gateway = connectGateway({
      ...{ url: await addressOf(session, signal), token: options.token, session, calling: account.calling },
      intents: intents.basic | (hasContent ? intents.messageContent : 0),
      onDispatch: (dispatch) => intake.take(dispatch),
      onInvalidSession: () => progress.change({ session: undefined }),
    });
    const intake = createIntake({
      ...{ account, api, places, progress, writers, onFailure: gateway.end },
    });
    live = { gateway, intake };
    const end = () => gateway.end(new Error("The account closes"));
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    void gateway.closed.then(() => signal.removeEventListener("abort", end));
    try {
      await gateway.ready;
      isResumeUrlDead = false;
    } catch (error) {
      isResumeUrlDead = session !== undefined && !isResumeUrlDead;
      throw error;
    }
    offerCommands();
    const missing = hasContent
      ? {}
      : {
          code: "content_intent_missing",
          detail: "It reads only messages that mention it in servers: the Message Content Intent is off.",
        };
    return { identity: me, lost: gateway.lost, ...missing };
  }

  let isOffered = false;
  function offerCommands(): void {
    if (isOffered) return;
    isOffered = true;
    offer(commands()).catch((error: unknown) => {
      isOffered = false;
      log.warn(
        { reason: error instanceof ChannelError ? error.reason : "failed" },
        "the slash commands could not be registered",
      );
    });
  }

  async function offer(list: ReturnType<ChannelAccount["commands"]>): Promise<void> {
    application ??= await get("/oauth2/applications/@me", account.signal);
    const own = id(application.id);
    if (own !== undefined && options.slashCommands) await registerCommands(list, { api, application: own });
  }

  /** Leaves the gateway, so that the session can be resumed, and waits until what arrived is stored. */
  async function leave(): Promise<void> {
    paused.abort();
    if (live === undefined) return;
    const { gateway, intake } = live;
    gateway.end(new Error("The account closes"));
    await within(goodbyeMs, Promise.all([gateway.closed, intake.settled().then(progress.saved)]));
  }

  return {
    start: () => keepConnected({ ...account, signal: ending }, connect),
    parse,
    render,
    admit(part, address, signal) {
      if (part.onlyFor !== undefined) return undefined;
      const admitted = sender.routeOf(part, address).then(
        ({ method, path }) => api.limits.take(routeOf(method, path), signal),
        // The send itself finds out what is wrong with the address.
        () => undefined,
      );
      return admitted;
    },
    send: sender.send,
    remove: sender.remove,
    preview: sender.preview,
    react: reactions.react,
    typing: sender.typing,
    async menu(list) {
      commands = () => list;
      await offer(list);
    },
    fetchMedia: (media, how) => fetchFile(media, how, { api, account }),
    async resolve(target) {
      const name = target.trim().replace(/^<[#@]!?(\d+)>$/, "$1");
      if (isSnowflake(name)) return name;
      const found = places.named(name.replace(/^#/, ""));
      if (found.length === 1 && found[0] !== undefined) return found[0];
      const many =
        found.length > 1 ? `${found.length} channels have the name ${name}` : `no channel has the name ${name}`;
      throw new ChannelError("chat_not_found", {
        detail: many,
        hint: "Use the id of the person or of the channel: switch on Developer Mode in Discord, and copy it from their menu.",
      });
    },
    probe,
    members,
    pause: leave,
    close: leave,
  };
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  await Promise.race([work.catch(() => {}), late.promise]);
  clearTimeout(timer);
}
