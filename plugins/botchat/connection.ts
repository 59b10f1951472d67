/** One live account: what the host calls, tied to the platform. */
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Json } from "service-gateway/sdk";
import { type ChannelAccount, type ChannelConnection, ChannelError, type ChannelPreview } from "service-gateway/sdk/channel";
import { createIdentity } from "./identity.ts";
import { openIntake } from "./intake/intake.ts";
import { membershipLine } from "./intake/membership.ts";
import { parseUpdate } from "./intake/parse.ts";
import { answerPress, buttonScope } from "./intake/press.ts";
import { createMedia } from "./media.ts";
import { createMenu, type Menu } from "./menu.ts";
import type { AccountOptions } from "./options.ts";
import { createProbe } from "./probe.ts";
import { createKeyboards } from "./send/keyboards.ts";
import { createLimits } from "./send/limits.ts";
import { messagesIn } from "./send/part-body.ts";
import { createPreview } from "./send/preview.ts";
import { renderReply } from "./send/render.ts";
import { actionTarget, createSender, type Sender } from "./send/send.ts";
import { createShown } from "./send/shown.ts";
import { createStickers } from "./stickers.ts";
import { botIdOf, checkToken } from "./token.ts";
import { type BotApi, createBotApi } from "./wire/api.ts";
import { pause } from "./wire/backoff.ts";
import { createTransport } from "./wire/transport.ts";

interface Live {
  readonly api: BotApi;
  readonly sender: Sender;
  readonly menu: Menu;
}

/** How long a running send may take when the account closes. */
const closeMs = 5_000;
/** A reaction gives way to messages, and is set all the same while it still says something. */
const mostReactionMs = 3_000;

/** What an earlier process showed is still there, though nothing is shown any more: the answer takes it over, or it goes. */
const noPreview = (resume: readonly string[]): ChannelPreview => ({ update() {}, close: async () => resume });

export function createConnection(account: ChannelAccount<AccountOptions>): ChannelConnection {
  const { log, signal: closing } = account;
  let { options } = account;
  const token = checkToken(options.botToken);
  if (options.webhookUrl !== undefined && options.webhookSecret === undefined) {
    throw new ChannelError("webhook_secret_missing", {
      detail: "webhookUrl is set but webhookSecret is not: set a secret of letters, digits, _ and -",
    });
  }
  const botId = botIdOf(token);
  const identity = createIdentity(account, botId);
  const stop = new AbortController();
  const signal = AbortSignal.any([closing, stop.signal]);
  const intakeStop = new AbortController();
  const intake = AbortSignal.any([signal, intakeStop.signal]);
  // Not by the wall clock: one that is set back would hold a chat for as long.
  const limits = createLimits({ now: () => performance.now(), limits: options.limits });
  const shown = createShown();
  const transport = createTransport({
    ...(options.proxy !== undefined && { proxy: options.proxy }),
    ...(options.network.autoSelectFamily !== undefined && { autoSelectFamily: options.network.autoSelectFamily }),
  });
  let opened: Promise<Live> | undefined;
  /** What `opened` came to. */
  let loaded: Live | undefined;
  /** Sends that are under way. */
  const open = new Set<Promise<unknown>>();
  let running: Promise<void> = Promise.resolve();

  async function openApi(): Promise<Live> {
    const api = await createBotApi({
      token,
      apiRoot: options.apiRoot,
      transport,
      calling: account.calling,
      ...(options.timeoutSeconds !== undefined && { timeoutMs: options.timeoutSeconds * 1_000 }),
      pollTimeoutMs: options.polling.stallSeconds * 1_000,
    });
    const sender = createSender(api, { keyboards: createKeyboards(account.store), shown });
    loaded = { api, sender, menu: createMenu({ api, account, custom: () => options.customCommands }) };
    return loaded;
  }
  const live = () => (opened ??= openApi());
  const stickers = createStickers({ directory: dirname(account.directory), botId, now: account.now });
  const fetchMedia = createMedia({
    api: async () => (await live()).api,
    transport,
    token,
    options,
    directory: account.directory,
    stickers,
  });

  /** While the platform wants nothing in a chat, nothing is tried there. */
  function refuseHeld(chat: string): void {
    const held = limits.held(chat);
    if (held > 0) throw new ChannelError("flood_wait", { retryable: true, retryAfterMs: held, detail: "the platform asked to wait" });
  }

  /** A flood wait holds its chat, whatever ran into it. */
  function heeded(chat: string, error: unknown): unknown {
    if (error instanceof ChannelError && error.reason === "flood_wait") limits.hold(chat, error.retryAfterMs ?? 1_000);
    return error;
  }

  const parse = (raw: Json, more?: readonly Json[]) =>
    parseUpdate(raw, identity.current(), more, { buttons: buttonScope(options.capabilities) });

  async function start(): Promise<void> {
    account.status({ state: "connecting" });
    const { api, menu } = await live();
    const me = await identity.introduce(api, signal);
    if (me === undefined) return;
    const onUpdate = (update: Json) => {
      void answerPress(update, { api, account, parse, signal });
      const change = membershipLine(update);
      if (change !== undefined) log.info(change, "what the bot may do in a chat has changed");
    };
    running = (await openIntake({ api, account, identity: me, signal: intake, onUpdate })).ended;
    void menu.register(account.commands());
  }

  return {
    start,
    parse,
    render: (reply, { chat }, about) => renderReply(reply, options, { ...about, chat }),
    fetchMedia,
    findMedia: async (_kind, query, limit) => stickers.search(query, limit),
    ...createProbe({ api: async () => (await live()).api, botId, webhookUrl: options.webhookUrl, now: account.now, signal }),
    admit(part, address, admitSignal) {
      if (shown.has(part, address)) return undefined;
      return limits.admit(address.chat, part.replaces === undefined ? messagesIn(part) : 0, admitSignal);
    },
    async send(part, address, sendSignal) {
      const { sender } = loaded ?? (await live());
      refuseHeld(address.chat);
      const done = limits.sending(address.chat);
      const sending = sender.send(part, address, sendSignal);
      open.add(sending);
      try {
        return await sending;
      } catch (error) {
        throw heeded(address.chat, error);
      } finally {
        open.delete(sending);
        done();
      }
    },
    async remove(messageId, address, removeSignal) {
      const { api } = await live();
      refuseHeld(address.chat);
      try {
        await api.call("deleteMessage", { chat_id: address.chat, message_id: Number(messageId) }, removeSignal);
      } catch (error) {
        if (!(error instanceof ChannelError && error.reason === "message_gone")) throw heeded(address.chat, error);
      }
    },
    preview(address, { resume, trigger, onMessage }) {
      if (options.streamMode === "off" || options.blockStreaming === true) return noPreview(resume);
      return createPreview({
        api: async () => (await live()).api,
        address,
        settings: options,
        pace: limits,
        shown,
        log,
        resume,
        ...(trigger !== undefined && { trigger }),
        onMessage,
      });
    },
    async react(messageId, emoji, address, patience = signal) {
      const { api } = await live();
      const delay = limits.delay(address.chat);
      // A timer may be early by one.
      if (delay > 0) await pause(Math.min(delay + 1, mostReactionMs), patience === signal ? signal : AbortSignal.any([signal, patience]));
      if (patience.aborted) throw new ChannelError("aborted", { retryable: true, detail: "the reaction is no longer needed" });
      refuseHeld(address.chat);
      const reaction = emoji === null ? [] : [{ type: "emoji" as const, emoji: emoji as never }];
      try {
        await api.call("setMessageReaction", { chat_id: address.chat, message_id: Number(messageId), reaction }, signal);
      } catch (error) {
        throw heeded(address.chat, error);
      }
    },
    async typing(address) {
      const { api } = await live();
      if (limits.delay(address.chat) > 0) return;
      await api.call("sendChatAction", { ...actionTarget(address), action: "typing" } as never, signal);
    },
    update(next) {
      const before = options.customCommands;
      // Read with the same schema as those that the account was opened with.
      options = next as AccountOptions;
      if (opened === undefined || isDeepStrictEqual(before, options.customCommands)) return;
      void opened.then(({ menu }) => menu.register(account.commands())).catch(() => {});
    },
    async menu(commands) {
      await (await live()).menu.register(commands);
    },
    async resolve(target) {
      const bare = target.trim().replace(/^(?:(?:botchat|telegram|tg):)+(?:group:)?/i, "");
      const name = bare.replace(/^(?:https?:\/\/)?t\.me\/(\w{4,32})$/i, "@$1");
      if (/^-?\d{1,20}$/.test(name)) return name;
      if (!/^@\w{4,32}$/.test(name))
        throw new ChannelError("chat_not_found", { detail: "a recipient is a numeric chat id, a @name or its t.me address" });
      const chat = await (await live()).api.call("getChat", { chat_id: name }, signal);
      return String(chat.id);
    },
    async pause() {
      intakeStop.abort();
      await running.catch(() => {});
    },
    async close() {
      stop.abort();
      limits.close();
      await running.catch(() => {});
      // If they were cut off, it would be unknown whether they arrived.
      const waited = new AbortController();
      await Promise.race([Promise.allSettled([...open]), pause(closeMs, waited.signal)]);
      waited.abort();
      await transport.close();
    },
  };
}
