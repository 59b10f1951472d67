/** One live account: connects the calls of the host with Slack. */
import {
  type ChannelAccount,
  type ChannelConnection,
  ChannelError,
  keepConnected,
  type LiveConnection,
  pause,
} from "service-gateway/sdk/channel";
import { createApi } from "./api.ts";
import { type Fields, record, text } from "./fields.ts";
import { createIdentity } from "./identity.ts";
import { createFetchMedia } from "./media.ts";
import { isPlatformUrl, type Options } from "./options.ts";
import { createProbe } from "./probe.ts";
import { createIntake } from "./receive/intake.ts";
import { parseStored } from "./receive/parse.ts";
import { createPosted } from "./receive/posted.ts";
import { openSocketMode, type SocketMode } from "./receive/socket.ts";
import { createChats } from "./send/chats.ts";
import { noticeTo } from "./send/ephemeral.ts";
import { createSender } from "./send/parts.ts";
import { createPreview } from "./send/preview.ts";
import { createReact } from "./send/reactions.ts";
import { renderReply } from "./send/render.ts";

/** How often an account without a socket looks whether Slack answers. */
const lookEveryMs = 60_000;

export function createConnection(account: ChannelAccount<Options>): ChannelConnection {
  const { log, signal, now, newId } = account;
  let { options } = account;
  const { appToken, signingSecret, apiUrl } = options;
  const api = createApi({ ...options, now, calling: account.calling });
  const chats = createChats(api, account);
  const identity = createIdentity(api, account);
  const removed = Promise.withResolvers<never>();
  removed.promise.catch(() => {});
  let socket: SocketMode | undefined;
  let isPaused = false;
  let catching: Promise<void> = Promise.resolve();

  const intake = createIntake({
    ...{ account, api, who: identity.who, options: () => options },
    learnChat: chats.learn,
    onRemoved: removed.reject,
    notify: (payload, notice) => noticeTo(api, payload, notice),
  });

  async function take(kind: string, payload: Fields): Promise<void> {
    // Not confirmed, so Slack sends it again, to the next connection.
    if (isPaused || signal.aborted) throw new Error("the account does not receive any more");
    await intake.take(kind, payload);
  }

  if (signingSecret !== undefined) {
    const answer = createPosted(account, { signingSecret, take });
    const handler: typeof answer = (request) => (isPaused ? { status: 503 } : answer(request));
    account.route({ path: "events", maxBytes: 1_000_000, handler });
  }

  async function socketUrl(stop?: AbortSignal): Promise<string> {
    const how = { asApp: true, timeoutMs: 20_000, ...(stop !== undefined && { signal: stop }) } as const;
    const url = text((await api.call("apps.connections.open", {}, how)).url);
    if (url !== undefined && isPlatformUrl(url, apiUrl)) return url;
    throw new ChannelError("bad_answer", { detail: "apps.connections.open: no address of Slack", retryable: true });
  }

  /** Without a socket, nothing else shows that Slack is away. */
  async function answers(stop: AbortSignal): Promise<void> {
    for (await pause(lookEveryMs, stop); !stop.aborted; await pause(lookEveryMs, stop))
      await api.call("auth.test", {}, { signal: stop });
  }

  /** A socket that was closed on purpose is not to be opened again. */
  const endOf = ({ lost }: SocketMode) =>
    lost.catch((error: unknown) => (isPaused ? new Promise<never>(() => {}) : Promise.reject(error)));

  async function connect(stop: AbortSignal): Promise<LiveConnection> {
    const { user, name: username } = await identity.renew();
    if (appToken !== undefined)
      socket = await openSocketMode(
        { log, url: socketUrl, take: (of) => take(text(of.type) ?? "", record(of.payload) ?? {}) },
        stop,
      );
    if (isPaused) socket?.close();
    const gap = new AbortController();
    catching = intake.backlog.catchUp(AbortSignal.any([signal, gap.signal]));
    const lost = socket === undefined ? answers(stop) : endOf(socket);
    const me = { id: user, ...(username !== undefined && { username }) };
    return { identity: me, lost: Promise.race([lost, removed.promise]).finally(() => gap.abort()) };
  }

  return {
    start: () => keepConnected(account, connect),
    parse: (raw) => parseStored(raw, options),
    render: renderReply,
    ...createSender(api, { chats, apiUrl, now, newId, log }),
    react: createReact(api, chats),
    preview: createPreview(api, { chats, log }),
    fetchMedia: createFetchMedia(account, api),
    ...createProbe(api, { options: () => options, isConnected: () => socket !== undefined }),
    update(next) {
      // Read with the same schema as the options that the account was opened with.
      options = next as Options;
    },
    async pause() {
      isPaused = true;
      socket?.close();
    },
    async close() {
      isPaused = true;
      socket?.close();
      await api.close();
      await catching.catch(() => {});
      await intake.seen.save();
    },
  };
}
