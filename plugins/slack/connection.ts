/** One live account: connects the calls of the host with Slack. */
import {
  type ChannelAccount,
  type ChannelConnection,
  ChannelError,
  editingPreview,
  growingMarkdown,
  keepConnected,
  type LiveConnection,
  type MarkupMessage,
} from "service-gateway/sdk/channel";
import { createApi } from "./api.ts";
import { createChats } from "./chats.ts";
import { type Fields, isTimestamp, record, text } from "./fields.ts";
import { createIntake, type Who } from "./intake.ts";
import { createFetchMedia } from "./media.ts";
import { isPlatformUrl, type Options } from "./options.ts";
import { parseStored } from "./parse.ts";
import { answerPosted } from "./posted.ts";
import { createProbe } from "./probe.ts";
import { maxChars, renderReply, textFields } from "./render.ts";
import { createSender, noticeTo } from "./send.ts";
import { openSocketMode, type SocketMode } from "./socket.ts";
import { wait } from "./wait.ts";

/** Slack limits edits to one a second in a channel. */
const previewEveryMs = 1_000;
/** How often an account without a socket looks whether Slack answers. */
const lookEveryMs = 60_000;

export function createConnection(account: ChannelAccount<Options>): ChannelConnection {
  const { log, signal, now } = account;
  let { options } = account;
  const { appToken, signingSecret } = options;
  const api = createApi({ ...options, now, calling: account.calling });
  const chats = createChats(api, account);
  const removed = Promise.withResolvers<never>();
  removed.promise.catch(() => {});
  let introduced: Promise<Who> | undefined;
  let socket: SocketMode | undefined;
  let isPaused = false;
  let catching: Promise<void> = Promise.resolve();

  async function introduce(): Promise<Who> {
    const me = await api.call("auth.test", {}, { signal });
    const [user, bot, team, enterprise] = [text(me.user_id), text(me.bot_id), text(me.team_id), text(me.enterprise_id)];
    if (user === undefined || team === undefined)
      throw new ChannelError("bad_answer", { detail: "auth.test: no bot", retryable: true });
    const username = text(me.user);
    account.status({ state: "connecting", identity: { id: user, ...(username !== undefined && { username }) } });
    return { user, team, ...(bot !== undefined && { bot }), ...(enterprise !== undefined && { enterprise }) };
  }
  const who = () =>
    (introduced ??= introduce().catch((error: unknown) => {
      introduced = undefined;
      throw error;
    }));

  const intake = createIntake({
    ...{ account, api, who, options: () => options },
    learnChat: chats.learn,
    onRemoved: removed.reject,
    notify: (payload, notice) => noticeTo(api, payload, notice),
  });

  async function take(kind: string, payload: Fields): Promise<void> {
    // Not confirmed, so Slack sends it again, to the next connection.
    if (isPaused || signal.aborted) throw new Error("the account does not receive any more");
    await intake.take(kind, payload);
  }

  if (signingSecret !== undefined)
    account.route({
      path: "events",
      maxBytes: 1_000_000,
      handler: (request) => answerPosted(request, { signingSecret, account, take }),
    });

  async function connect(stop: AbortSignal): Promise<LiveConnection> {
    introduced = undefined;
    const { user } = await who();
    const gap = new AbortController();
    if (appToken !== undefined) socket = await listen(stop);
    const lost = socket === undefined ? answers(stop) : endOf(socket);
    if (isPaused) socket?.close();
    catching = intake.backlog.catchUp(AbortSignal.any([signal, gap.signal]));
    return { identity: { id: user }, lost: Promise.race([lost, removed.promise]).finally(() => gap.abort()) };
  }

  function listen(stop: AbortSignal): Promise<SocketMode> {
    return openSocketMode(
      {
        log,
        take: (envelope) => take(text(envelope.type) ?? "", record(envelope.payload) ?? {}),
        async url(by) {
          const { url } = await api.call(
            "apps.connections.open",
            {},
            { asApp: true, timeoutMs: 20_000, ...(by && { signal: by }) },
          );
          if (typeof url !== "string" || !isPlatformUrl(url, options.apiUrl))
            throw new ChannelError("bad_answer", {
              detail: "apps.connections.open: no address of Slack",
              retryable: true,
            });
          return url;
        },
      },
      stop,
    );
  }

  /** A socket that was closed on purpose is not to be opened again. */
  const endOf = ({ lost }: SocketMode) =>
    lost.catch((error: unknown) => (isPaused ? new Promise<never>(() => {}) : Promise.reject(error)));

  /** Without a socket, nothing else shows that Slack is away. */
  async function answers(stop: AbortSignal): Promise<unknown> {
    for (;;) {
      await wait(lookEveryMs, stop);
      if (stop.aborted) return undefined;
      await api.call("auth.test", {}, { signal: stop });
    }
  }

  const messages = { dialect: "mrkdwn", limit: maxChars } as const;

  return {
    start: () => keepConnected(account, connect),
    parse: (raw) => parseStored(raw, options),
    render: renderReply,
    ...createSender({ api, chats, apiUrl: options.apiUrl, now }),
    fetchMedia: createFetchMedia(account, api),
    ...createProbe(api, { options: () => options, isConnected: () => socket !== undefined }),
    preview({ chat, thread }, how) {
      return editingPreview<MarkupMessage>(
        {
          messagesOf: growingMarkdown(messages),
          textOf: ({ markup }) => markup,
          async post({ markup }, _index, stop) {
            const channel = await chats.find(chat, stop);
            const fields = textFields({ text: markup });
            const { ts } = await api.call(
              "chat.postMessage",
              { channel, ...fields, thread_ts: thread },
              { signal: stop },
            );
            if (!isTimestamp(ts)) throw new ChannelError("bad_answer", { fate: "unknown" });
            return ts;
          },
          async edit(ts, { markup }, stop) {
            await api.call(
              "chat.update",
              { channel: await chats.find(chat, stop), ts, text: markup },
              { signal: stop },
            );
          },
          async remove(ts, stop) {
            await api.call("chat.delete", { channel: await chats.find(chat, stop), ts }, { signal: stop });
          },
        },
        { ...how, pace: { everyMs: previewEveryMs, delay: () => api.heldMs("chat.update") }, log },
      );
    },
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
      await intake.backlog.close();
    },
  };
}
