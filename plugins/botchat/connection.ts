/** One live account: connects the calls of the host with the platform. */
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Json } from "service-gateway/sdk";
import { type ChannelAccount, type ChannelConnection, pause } from "service-gateway/sdk/channel";
import { createIdentity } from "./identity.ts";
import { createIntake, type Intake } from "./intake/intake.ts";
import { membershipLine } from "./intake/membership.ts";
import { parseUpdate } from "./intake/parse.ts";
import { answerPress, buttonScope } from "./intake/press.ts";
import { createMedia } from "./media.ts";
import { createMenu, type Menu } from "./menu.ts";
import type { AccountOptions } from "./options.ts";
import { createProbe } from "./probe.ts";
import { resolveRecipient } from "./recipient.ts";
import { createChatCalls } from "./send/chat-calls.ts";
import { createStoredLimits } from "./send/flood-waits.ts";
import { createKeyboards } from "./send/keyboards.ts";
import { createReach } from "./send/reach.ts";
import { renderReply } from "./send/render.ts";
import { createSender, type Sender } from "./send/send.ts";
import { createShown } from "./send/shown.ts";
import { createStickers } from "./stickers.ts";
import { botIdOf, checkToken, checkWebhookSecret } from "./token.ts";
import { type BotApi, createBotApi } from "./wire/api.ts";
import { createTransport } from "./wire/transport.ts";

interface Live {
  readonly api: BotApi;
  readonly sender: Sender;
  readonly menu: Menu;
}

/** How long a running send may take when the account closes. */
const closeMs = 5_000;

export function createConnection(account: ChannelAccount<AccountOptions>): ChannelConnection {
  const { log, signal: closing } = account;
  let { options } = account;
  const token = checkToken(options.botToken);
  checkWebhookSecret(options);
  const botId = botIdOf(token);
  const identity = createIdentity(account, botId);
  const stop = new AbortController();
  const signal = AbortSignal.any([closing, stop.signal]);
  const intakeStop = new AbortController();
  const intakeSignal = AbortSignal.any([signal, intakeStop.signal]);
  const { limits, applyWaits } = createStoredLimits(account, botId);
  const shown = createShown();
  const reach = createReach(account.calling);
  const transport = createTransport({
    proxy: options.proxy,
    autoSelectFamily: options.network.autoSelectFamily,
  });
  let opened: Promise<Live> | undefined;
  /** The result of `opened`. */
  let loaded: Live | undefined;
  let running: Promise<void> = Promise.resolve();

  async function openApi(): Promise<Live> {
    const api = await createBotApi({
      token,
      apiRoot: options.apiRoot,
      transport,
      calling: reach.calling,
      ...(options.timeoutSeconds !== undefined && { timeoutMs: options.timeoutSeconds * 1_000 }),
      pollTimeoutMs: options.polling.stallSeconds * 1_000,
    });
    const sender = createSender(api, { keyboards: createKeyboards(account.store), shown });
    loaded = { api, sender, menu: createMenu({ api, account, custom: () => options.customCommands }) };
    return loaded;
  }
  const live = () => (opened ??= applyWaits().then(openApi));
  const api = async () => (await live()).api;
  const stickers = createStickers({ directory: dirname(account.directory), botId, now: account.now });
  const fetchMedia = createMedia({ api, transport, token, options, directory: account.directory, stickers });
  const { settled, ...calls } = createChatCalls({
    ...{ limits, shown, reach, live, log, signal },
    loaded: () => loaded,
    settings: () => options,
  });
  const parse = (raw: Json, more?: readonly Json[]) =>
    parseUpdate(raw, identity.current(), more, { buttons: buttonScope(options.capabilities) });

  let introduced: Promise<Intake | undefined> | undefined;

  async function introduce(): Promise<Intake | undefined> {
    const api = (await live()).api;
    const me = await identity.introduce(api, signal);
    if (me === undefined) return undefined;
    const onUpdate = (update: Json) => {
      void answerPress(update, { api, account, parse, signal });
      const change = membershipLine(update);
      if (change !== undefined) log.info(change, "the bot's rights in a chat have changed");
    };
    return createIntake({ api, account, identity: me, signal: intakeSignal, onUpdate });
  }

  /** A rejected token is tried again by the next call. Resolves with `undefined` if the account was closed before. */
  function introduceOnce(): Promise<Intake | undefined> {
    introduced ??= introduce().catch((error: unknown) => {
      introduced = undefined;
      throw error;
    });
    return introduced;
  }

  async function standBy(): Promise<void> {
    const intake = await introduceOnce();
    if (intake !== undefined) running = (await intake.listen()).ended;
  }

  async function start(): Promise<void> {
    account.status({ state: "connecting" });
    if (loaded !== undefined) await applyWaits();
    const intake = await introduceOnce();
    if (intake === undefined) return;
    running = (await intake.open()).ended;
    void (await live()).menu.register(account.commands());
  }

  return {
    start,
    standBy,
    parse,
    render: (reply, { chat }, about) => renderReply(reply, options, { ...about, chat }),
    fetchMedia,
    findMedia: async (_kind, query, limit) => stickers.search(query, limit),
    ...createProbe({ api, botId, webhookUrl: options.webhookUrl, now: account.now, signal }),
    ...calls,
    update(next) {
      const before = options.customCommands;
      // Read with the same schema as the options that the account was opened with.
      options = next as AccountOptions;
      if (opened === undefined || isDeepStrictEqual(before, options.customCommands)) return;
      void opened.then(({ menu }) => menu.register(account.commands())).catch(() => {});
    },
    async menu(commands) {
      await (await live()).menu.register(commands);
    },
    resolve: (target) => resolveRecipient(target, api, signal),
    async pause() {
      intakeStop.abort();
      await running.catch(() => {});
    },
    async close() {
      stop.abort();
      limits.close();
      await running.catch(() => {});
      // If running sends were cut off, it would be unknown whether they arrived.
      const waited = new AbortController();
      await Promise.race([settled(), pause(closeMs, waited.signal)]);
      waited.abort();
      await transport.close();
    },
  };
}
