/** The bot's link to the gateway: it is made again after each loss, with the session that is stored. */
import { type ChannelAccount, ChannelError, type LiveConnection } from "service-gateway/sdk/channel";
import type { Api } from "./api.ts";
import type { Events } from "./events.ts";
import { type Fields, id, number, record, text } from "./fields.ts";
import { connectGateway, type GatewayConnection, intents, type Session } from "./gateway.ts";
import { createIntake, type Intake } from "./intake.ts";
import { botOf, type Options } from "./options.ts";
import { identityOf, readsContent } from "./probe.ts";
import type { Progress } from "./progress.ts";

export interface Link {
  /** For `keepConnected`. */
  connect(signal: AbortSignal): Promise<LiveConnection>;
  /** Leaves the gateway, so that the session can be resumed, and waits until what arrived is stored. */
  leave(): Promise<void>;
  /** The id of the bot's application. */
  application(): Promise<string | undefined>;
}

/** A platform that does not answer the end of a connection is not waited for. */
const goodbyeMs = 2_000;

export function createLink({
  account,
  api,
  progress,
  events,
  onConnected,
}: {
  readonly account: Pick<ChannelAccount<Options>, "options" | "calling" | "signal">;
  readonly api: Api;
  readonly progress: Progress;
  readonly events: Events;
  onConnected(): void;
}): Link {
  const { token } = account.options;
  let live: { readonly gateway: GatewayConnection; readonly intake: Intake } | undefined;
  let known: Fields | undefined;
  /** The address for resumptions did not answer. */
  let isResumeUrlDead = false;

  const about = async (signal: AbortSignal) => await ask(api, "/oauth2/applications/@me", signal);

  async function addressOf(session: Session | undefined, signal: AbortSignal): Promise<string> {
    if (session !== undefined && !isResumeUrlDead && api.hosts.isGateway(session.url)) return session.url;
    const { url, session_start_limit: limit } = await ask(api, "/gateway/bot", signal);
    const { remaining, reset_after: resetMs } = record(limit) ?? {};
    const detail = "The bot has begun as many sessions as Discord allows in a day";
    if (session === undefined && remaining === 0)
      throw new ChannelError("flood_wait", { retryable: true, retryAfterMs: number(resetMs) ?? 60_000, detail });
    const address = text(url);
    // The token goes to the platform's own hosts alone.
    if (address !== undefined && api.hosts.isGateway(address)) return address;
    throw new ChannelError("unknown_host", {
      retryable: true,
      detail: "Discord named a gateway on a host that is not its own",
    });
  }

  async function connect(signal: AbortSignal): Promise<LiveConnection> {
    await progress.load(botOf(token));
    const identity = identityOf(await ask(api, "/users/@me", signal));
    const { session } = progress.state();
    if (known === undefined || session === undefined) known = await about(signal);
    const hasContent = readsContent(known);
    const gateway = connectGateway({
      ...{ url: await addressOf(session, signal), token, session, calling: account.calling },
      intents: intents.basic | (hasContent ? intents.messageContent : 0),
      onDispatch: (dispatch) => intake.take(dispatch),
      onInvalidSession: () => progress.change({ session: undefined }),
    });
    const intake = createIntake({ progress, events, onFailure: gateway.end });
    live = { gateway, intake };
    endAtAbort(gateway, signal);
    try {
      await gateway.ready;
      // From now on, nothing is lost with the process.
      await progress.saved();
      isResumeUrlDead = false;
    } catch (error) {
      isResumeUrlDead = session !== undefined && !isResumeUrlDead;
      throw error;
    }
    onConnected();
    const code = "content_intent_missing";
    const detail = "The Message Content Intent is off: in servers the bot reads only messages that mention it.";
    return { identity, lost: gateway.lost, ...(!hasContent && { code, detail }) };
  }

  return {
    connect,
    async leave() {
      if (live === undefined) return;
      const { gateway, intake } = live;
      gateway.end(new Error("The account closes"));
      await within(goodbyeMs, Promise.all([gateway.closed, intake.settled().then(progress.saved)]));
    },
    async application() {
      known ??= await about(account.signal);
      return id(known.id);
    },
  };
}

function endAtAbort(gateway: GatewayConnection, signal: AbortSignal): void {
  const end = () => gateway.end(new Error("The account closes"));
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  void gateway.closed.then(() => signal.removeEventListener("abort", end));
}

/** Only a wrong token ends the account. Every other refusal passes, such as that of a proxy for a minute. */
async function ask(api: Api, path: string, signal: AbortSignal): Promise<Fields> {
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

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  await Promise.race([work.catch(() => {}), late.promise]);
  clearTimeout(timer);
}
