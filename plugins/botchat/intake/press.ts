/** Presses of inline buttons. */
import type { Json } from "service-gateway/sdk";
import {
  type ChannelAccount,
  ChannelError,
  type InboundChat,
  type Parsed,
  type Silent,
} from "service-gateway/sdk/channel";
import type { AccountOptions } from "../options.ts";
import type { BotApi } from "../wire/api.ts";
import { type Fields, id, record, text } from "./fields.ts";
import { type ChannelInbound, parseChat, parseSender, threadOf } from "./place.ts";

/** Where buttons work. `allowlist` and `all`: everywhere; the gateway decides whose press is accepted. */
export type ButtonScope = "off" | "dm" | "group" | "all" | "allowlist";

/** The old form is a list of enabled features. */
export function buttonScope(capabilities: AccountOptions["capabilities"]): ButtonScope {
  if (!Array.isArray(capabilities)) return (capabilities as { readonly inlineButtons: ButtonScope }).inlineButtons;
  return capabilities.includes("inlineButtons") ? "all" : "off";
}

export function isExcluded(scope: ButtonScope, { kind }: Pick<InboundChat, "kind">): boolean {
  return scope === "off" || (scope === "dm" && kind !== "direct") || (scope === "group" && kind === "direct");
}

const excluded = "buttons_excluded";

function pressExcluded(scope: ButtonScope, { kind }: Pick<InboundChat, "kind">): Silent {
  const needed = kind === "direct" ? "dm" : "group";
  return {
    silent: excluded,
    detail:
      scope === "off"
        ? "Buttons are switched off."
        : `Buttons work in ${scope === "dm" ? "direct chats" : "groups"} only.`,
    option: ["capabilities", "inlineButtons"],
    hint: `Set it to "allowlist", or to "${needed}" for ${needed === "dm" ? "direct chats" : "groups"} only.`,
  };
}

export function parsePress(query: Fields, scope: ButtonScope): ChannelInbound | Silent | undefined {
  const message = record(query.message);
  const chatFields = record(message?.chat);
  const chat = parseChat(chatFields);
  const sender = parseSender(record(query.from));
  const data = text(query.data);
  if (sender === undefined) return undefined;
  // A press on an inline-mode message or a game has no chat to reply in.
  if (message === undefined || chat === undefined || data === undefined) return { silent: "press_without_chat" };
  if (isExcluded(scope, chat)) return pressExcluded(scope, chat);
  const thread = threadOf(message, chatFields);
  const messageId = id(message.message_id);
  return {
    kind: "press",
    chat: { ...chat, ...(thread && { thread }) },
    sender,
    text: `callback_data: ${data}`,
    media: [],
    mention: true,
    // The platform does not send the time of a press; the date is that of the message with the button.
    timestamp: 0,
    ...(messageId && { messageId }),
  };
}

/** The platform's limit for the text of a notice. */
const maxNotice = 200;

export interface AnswerPress {
  readonly api: BotApi;
  readonly account: Pick<ChannelAccount, "check" | "log">;
  readonly parse: (update: Json) => Parsed;
  readonly signal: AbortSignal;
}

/**
 * Answers a press at once, outside the lane, so that the button does not seem stuck while a turn runs. The gate is
 * asked first, and refused senders get a short notice. If the gate fails, the press gets no answer.
 */
export async function answerPress(update: Json, { api, account, parse, signal }: AnswerPress): Promise<void> {
  const query = text(record(record(update)?.callback_query)?.id);
  if (query === undefined) return;
  try {
    const notice = await noticeFor(update, parse(update), account);
    const call = { callback_query_id: query, ...(notice !== undefined && { text: notice.slice(0, maxNotice) }) };
    await api.call("answerCallbackQuery", call, signal);
  } catch (error) {
    if (signal.aborted) return;
    account.log.debug(
      { reason: error instanceof ChannelError ? error.reason : "failed" },
      "a button press could not be answered",
    );
  }
}

async function noticeFor(update: Json, parsed: Parsed, account: AnswerPress["account"]): Promise<string | undefined> {
  if (parsed === null || parsed === undefined) return "This button does nothing.";
  if ("silent" in parsed)
    return parsed.silent === excluded ? "Buttons are switched off here." : "This button does nothing here.";
  const verdict = await account.check(update);
  return verdict.allowed ? undefined : verdict.notice;
}
