/**
 * One chat of the platform in this process, behind the client's interface: with its rate limits, its waits, and random
 * faults.
 */
import type { BotApi } from "../../../plugins/botchat/wire/api.ts";
import { refusalError, wireError } from "../../../plugins/botchat/wire/platform-error.ts";
import { WireError } from "../../../plugins/botchat/wire/wire.ts";
import { createLimiter, type Limits } from "../../../plugins/playground/platform/limits.ts";
import type { ChatCall } from "./judge.ts";

export interface FakeMessage {
  readonly id: string;
  html: string;
  readonly thread: string | undefined;
  readonly replyTo: number | undefined;
  readonly silent: boolean;
}

export type Fault = "flood" | "refuse" | "reset-before" | "reset-after" | "hang";

export interface FakeChat {
  readonly messages: Map<string, FakeMessage>;
  readonly calls: ChatCall[];
  /** A client whose calls are recorded under this name. */
  api(by: string): BotApi;
  /** The fault of the next call. */
  fault: (method: string, by: string) => Fault | undefined;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export function createFakeChat(options: {
  readonly now: () => number;
  readonly latency: () => number;
  readonly limits: Limits;
}): FakeChat {
  const { now, latency } = options;
  const limiter = createLimiter(options.limits, now);
  let ids = 0;

  function carryOut(
    method: string,
    payload: Record<string, unknown>,
    chat: FakeChat,
    unchanged: () => void,
  ): FakeMessage {
    if (method === "sendMessage") {
      ids += 1;
      const reply = payload.reply_parameters as { readonly message_id: number } | undefined;
      const thread = payload.message_thread_id;
      const message: FakeMessage = {
        id: String(ids),
        html: String(payload.text),
        thread: thread === undefined ? undefined : String(thread),
        replyTo: reply?.message_id,
        silent: payload.disable_notification === true,
      };
      chat.messages.set(message.id, message);
      return message;
    }
    const message = chat.messages.get(String(payload.message_id));
    if (message === undefined) throw refused(method, 400, "Bad Request: message to edit not found");
    if (method === "deleteMessage") chat.messages.delete(message.id);
    else if (message.html === payload.text) {
      unchanged();
      throw refused(method, 400, "Bad Request: message is not modified");
    } else message.html = String(payload.text);
    return message;
  }

  const refused = (method: string, code: number, description: string, retryAfter?: number) =>
    refusalError(method, {
      error_code: code,
      description,
      ...(retryAfter !== undefined && { parameters: { retry_after: retryAfter } }),
    });

  const chat: FakeChat = {
    messages: new Map(),
    calls: [],
    fault: () => undefined,
    api: (by) => ({
      renew() {},
      async call(method, given, signal) {
        const payload = given as unknown as Record<string, unknown>;
        const note = (fate: ChatCall["fate"], messageId?: string) =>
          void chat.calls.push({ method, at: now(), by, fate, messageId });
        const fault = chat.fault(method, by);
        if (fault === "hang") {
          await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
          note("unanswered");
          throw wireError(method, new WireError("ABORTED", true));
        }
        await pause(latency());
        if (fault === "flood") {
          note("flood");
          throw refused(method, 429, "Too Many Requests: retry after 2", 2);
        }
        if (fault === "refuse") {
          note("refused");
          throw refused(method, 502, "Bad Gateway");
        }
        if (fault === "reset-before") {
          note("lost");
          throw wireError(method, new WireError("ECONNREFUSED", false));
        }
        if (method !== "deleteMessage") {
          try {
            limiter.spend(
              1,
              String(payload.chat_id),
              method === "sendMessage" && String(payload.chat_id).startsWith("-"),
            );
          } catch {
            note("limited");
            throw refused(method, 429, "Too Many Requests: retry after 1", 1);
          }
        }
        const message = carryOut(method, payload, chat, () => note("unchanged", String(payload.message_id)));
        note(fault === "reset-after" ? "unknown" : "done", message.id);
        await pause(latency());
        if (fault === "reset-after") throw wireError(method, new WireError("ECONNRESET", true));
        return { message_id: Number(message.id) } as never;
      },
    }),
  };
  return chat;
}
