/**
 * A chat, an account with its rate limits, and what a turn does there: a growing preview, then the reply through the
 * outbox.
 */
import type { Address, Reply } from "service-gateway/sdk";
import { ChannelError, type ChannelPreview, type Part } from "service-gateway/sdk/channel";
import { Value } from "typebox/value";
import { createContacts } from "../../../core/channels/connection/contact.ts";
import type { LiveAccount } from "../../../core/channels/live-account.ts";
import type { Log } from "../../../core/log/log.ts";
import { admission } from "../../../core/path/admission.ts";
import { type DeliveryResult, deliver } from "../../../core/path/delivery.ts";
import { Trace } from "../../../core/path/endings/ending.ts";
import { renderSayings } from "../../../core/path/formatting.ts";
import type { ChannelConnection } from "../../../core/sdk/contract.ts";
import type { OutboxRow } from "../../../core/state/outbox-row.ts";
import type { Store } from "../../../core/state/store.ts";
import { createHooks } from "../../../core/stations/stations.ts";
import { type AccountOptions, accountOptions } from "../../../plugins/botchat/options.ts";
import { createLimits, type Limits } from "../../../plugins/botchat/send/limits.ts";
import { createPreview } from "../../../plugins/botchat/send/preview.ts";
import { createReach } from "../../../plugins/botchat/send/reach.ts";
import { renderReply } from "../../../plugins/botchat/send/render.ts";
import { createSender } from "../../../plugins/botchat/send/send.ts";
import { createShown, type Shown } from "../../../plugins/botchat/send/shown.ts";
import { createFakeChat, type FakeChat } from "./fake-chat.ts";

/** The platform's limits. */
const limits = { perBotPerSecond: 30, perChatPerSecond: 1, perGroupPerMinute: 20 };
const now = () => Date.now();
const log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const done = async () => {};

export interface Room {
  readonly chat: FakeChat;
  readonly settings: AccountOptions;
  readonly pace: Limits;
  readonly shown: Shown;
  readonly address: Address;
}

export function openRoom(
  options: { readonly chat?: string; readonly settings?: object; readonly latency?: () => number } = {},
): Room {
  const { chat = "1001", settings = {}, latency = () => 20 } = options;
  return {
    chat: createFakeChat({ now, latency, limits }),
    settings: Value.Default(accountOptions, settings) as AccountOptions,
    pace: createLimits({ now, limits }),
    shown: createShown(),
    address: { channel: "botchat", account: "default", chat },
  };
}

export function openPreview(
  room: Room,
  more: { readonly trigger?: string; readonly thread?: string } = {},
): ChannelPreview {
  const { thread, trigger } = more;
  return createPreview({
    ...room,
    address: { ...room.address, ...(thread !== undefined && { thread }) },
    api: async () => room.chat.api("preview"),
    log,
    resume: [],
    reach: createReach(() => () => {}),
    onMessage: () => {},
    onUncertain: () => {},
    ...(trigger !== undefined && { trigger }),
  });
}

const replyOf = (text: string): Reply => ({ text, media: [], buttons: [] });

/** The HTML of each message that a text is split into. */
export function messagesOf(text: string, { settings, address }: Room): readonly string[] {
  return renderReply(replyOf(text), settings, address).map(({ body }) =>
    String((body as { readonly payload: { readonly text: string } }).payload.text),
  );
}

/** Sends a reply as the outbox does: with the real station, and a store that accepts everything. */
export async function answer(room: Room, text: string, previews: readonly string[]): Promise<DeliveryResult> {
  const { address, settings, pace, chat, shown } = room;
  const hooks = createHooks({ onObserverError: () => {} });
  const sender = createSender(chat.api("outbox"), { keyboards: { keep: done, of: async () => undefined }, shown });
  const store = { sent: done, sending: done, notSent: done, unsendable: done, doubted: done } as unknown as Store;
  hooks.tap("soak", "delivery", (part: Part, to, signal) => {
    const ended = pace.sending(to.chat);
    return sender.send(part, to, signal).finally(ended);
  });
  const rendering = {
    connection: { render: (reply: Reply) => renderReply(reply, settings, address) },
  } as unknown as LiveAccount;
  const sayings = await renderSayings(replyOf(text), address, { account: rendering, previews, inPlace: true });
  const rows = sayings.map(
    (saying, index): OutboxRow => ({
      ...saying,
      id: index + 1,
      unitId: "unit",
      index,
      state: index === 0 ? "sending" : "waiting",
      attempts: 0,
      doubts: 0,
    }),
  );
  const api = chat.api("outbox");
  const remove = async (messageId: string) => {
    await api
      .call("deleteMessage", { chat_id: address.chat, message_id: Number(messageId) })
      .catch((error: unknown) => {
        if (!(error instanceof ChannelError && error.reason === "message_gone")) throw error;
      });
  };
  const admit: ChannelConnection["admit"] = (part, to, signal) =>
    shown.has(part, to)
      ? undefined
      : pace.admit(to.chat, { messages: part.replaces === undefined ? 1 : 0, joins: false }, signal);
  const capabilities = { maxChars: 4_096 };
  const account = () => ({ connection: { remove, admit }, capabilities, options: settings }) as unknown as LiveAccount;
  const signal = new AbortController().signal;
  const probe = async () => ({ ok: true, detail: "" });
  const contact = createContacts({
    connection: () => ({ probe }),
    log: { ...log, child: () => log } as unknown as Log,
  }).of;
  const sending = {
    hooks,
    store,
    trace: new Trace(now, (text) => text),
    now,
    random: () => 0.5,
    signal,
    resumed: false,
    account,
    contact,
    away: () => undefined,
  };
  const first = rows[0] && admission(rows[0], sending);
  return await deliver(rows, { ...sending, admission: first });
}
