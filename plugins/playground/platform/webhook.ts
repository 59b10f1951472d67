/**
 * Delivers updates by POST: in order within a chat, in parallel across chats, and repeatedly until the answer is a 2xx.
 */
import { type IncomingMessage, request } from "node:http";
import { request as secureRequest } from "node:https";
import { asBytes, onEvent, onMessage } from "service-gateway/sdk/channel";
import { LimitedBody } from "service-gateway/sdk/reading";
import type { Feed } from "./feed.ts";
import type { Update } from "./wire.ts";

export interface WebhookTarget {
  readonly url: string;
  readonly secret: string | undefined;
  readonly maxConnections: number;
}

export interface Webhook {
  active(): boolean;
  set(target: WebhookTarget | undefined): void;
  info(): Readonly<Record<string, unknown>>;
  close(): void;
}

export interface WebhookOptions {
  readonly feed: Feed;
  readonly seconds: () => number;
  /** Runs a method that the webhook's answer requests. */
  readonly onReply: (body: Readonly<Record<string, unknown>>) => void;
  /** Milliseconds before an update is retried; doubles up to a minute. */
  readonly retryMs?: number;
}

const answerTimeoutMs = 60_000;
const maxAnswerBytes = 1024 * 1024;

export function createWebhook({ feed, seconds, onReply, retryMs = 250 }: WebhookOptions): Webhook {
  let target: WebhookTarget | undefined;
  let aborter = new AbortController();
  let failure: { readonly date: number; readonly message: string } | undefined;
  /** Chats with a delivery in progress or waiting for a retry. */
  const busy = new Set<number>();
  const timers = new Set<NodeJS.Timeout>();

  function pump(): void {
    if (target === undefined) return;
    const seen = new Set<number>(busy);
    for (const update of feed.waiting()) {
      if (busy.size >= target.maxConnections) return;
      const chat = chatOf(update);
      if (seen.has(chat)) continue;
      seen.add(chat);
      busy.add(chat);
      void deliver(target, update, chat, retryMs);
    }
  }

  async function deliver(to: WebhookTarget, update: Update, chat: number, wait: number): Promise<void> {
    const { signal } = aborter;
    try {
      const body = await send(to, update, signal);
      if (signal.aborted) return;
      feed.confirm(update.update_id);
      busy.delete(chat);
      if (body !== undefined) onReply(body);
      pump();
    } catch (error) {
      if (signal.aborted) return;
      failure = { date: seconds(), message: error instanceof Error ? error.message : String(error) };
      const timer = setTimeout(() => {
        timers.delete(timer);
        void deliver(to, update, chat, Math.min(wait * 2, 60_000));
      }, wait);
      timers.add(timer);
    }
  }

  function stop(): void {
    aborter.abort();
    aborter = new AbortController();
    for (const timer of timers) clearTimeout(timer);
    timers.clear();
    busy.clear();
  }

  feed.onPush(pump);
  return {
    active: () => target !== undefined,
    set(next) {
      stop();
      target = next;
      failure = undefined;
      pump();
    },
    info: () => ({
      url: target?.url ?? "",
      ...(target === undefined ? {} : { max_connections: target.maxConnections, ip_address: "127.0.0.1" }),
      ...(failure === undefined ? {} : { last_error_date: failure.date, last_error_message: failure.message }),
    }),
    close() {
      target = undefined;
      stop();
    },
  };
}

function chatOf(update: Update): number {
  const body = Object.values(update).find((value) => typeof value === "object") as
    | { chat?: { id: number }; message?: { chat?: { id: number } } }
    | undefined;
  return body?.chat?.id ?? body?.message?.chat?.id ?? 0;
}

function send(
  target: WebhookTarget,
  update: Update,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const body = JSON.stringify(update);
  const open = target.url.startsWith("https:") ? secureRequest : request;
  return new Promise((resolve, reject) => {
    const outgoing = open(target.url, {
      method: "POST",
      signal,
      timeout: answerTimeoutMs,
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        ...(target.secret === undefined ? {} : { "x-telegram-bot-api-secret-token": target.secret }),
      },
    });
    const source = "the webhook of a bot";
    onEvent(outgoing, "timeout", { source, handle: () => outgoing.destroy(new Error("Read timeout expired")) });
    onEvent<readonly [NodeJS.ErrnoException]>(outgoing, "error", {
      source,
      handle: (error) => reject(error.code === "ECONNREFUSED" ? new Error("Connection refused") : error),
    });
    const take = (answer: IncomingMessage): void => {
      const status = answer.statusCode ?? 0;
      const body = new LimitedBody(maxAnswerBytes);
      const keep = (chunk: Buffer): void => {
        if (!body.add(chunk)) outgoing.destroy(new Error("The webhook answered with too much data"));
      };
      const end = (): void => {
        if (status < 200 || status > 299)
          reject(new Error(`Wrong response from the webhook: ${status} ${answer.statusMessage ?? ""}`.trim()));
        else resolve(readReply(body.bytes()));
      };
      onMessage(answer, "data", { source, check: asBytes, handle: keep });
      onEvent(answer, "error", { source, handle: reject });
      onEvent(answer, "end", { source, handle: end });
    };
    onEvent(outgoing, "response", { source, handle: take });
    outgoing.end(body);
  });
}

/** Reads the method that a webhook's answer requests as JSON; `undefined` if there is none. */
function readReply(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  if (bytes[0] !== 0x7b) return undefined;
  try {
    const value = JSON.parse(bytes.toString("utf8")) as Readonly<Record<string, unknown>>;
    return typeof value.method === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
