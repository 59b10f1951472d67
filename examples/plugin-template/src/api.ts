/** The calls to the platform, and what each failure means. Replace the three calls with those of your platform. */
import { type CallAnswer, ChannelError, refusedCall, retryAfterOf, unansweredCall } from "service-gateway/sdk/channel";
import { type BoundedRequest, fetchWhole } from "service-gateway/sdk/reading";
import type { Options } from "./index.ts";

/** An event as the platform sends it. */
export interface Event {
  readonly id: number;
  readonly chat: string;
  readonly from: string;
  readonly name: string;
  readonly text: string;
  readonly at: number;
  /** The person changed this message of theirs; `text` is the new one. */
  readonly edits?: number;
  /** The person deleted this message of theirs; `text` is empty. */
  readonly deletes?: number;
}

export interface Api {
  /** The bot's own id and name. */
  me(signal: AbortSignal): Promise<{ readonly id: string; readonly name: string }>;
  /** Events after an id. The platform holds the request until there is one, for 25 s at most. */
  events(after: number, signal: AbortSignal): Promise<readonly Event[]>;
  /** Resolves with the id of the new message. */
  post(chat: string, text: string, signal: AbortSignal): Promise<string>;
}

/**
 * Longest wait for an answer, in milliseconds. Events are held for 25 s: a platform that is silent for longer is
 * away.
 */
const patienceMs = 40_000;
/** The most that an answer may have. A server that sends more is not the platform. */
const maxBytes = 4 * 1_048_576;

/** `calling` reports each call: it returns what to call when the platform has answered. */
export function createApi({ server, token }: Options, calling: () => () => void): Api {
  async function call<T>(
    path: string,
    signal: AbortSignal,
    init: Pick<BoundedRequest, "method" | "body"> = {},
  ): Promise<T> {
    const answered = calling();
    const response = await fetchWhole(new URL(path, server), {
      ...init,
      signal,
      timeoutMs: patienceMs,
      maxBytes,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    }).catch((error: unknown) => {
      throw unansweredCall(error, { call: path });
    });
    const answer = { ...response, body: parse(response.text) };
    if (!response.ok) throw init.method === "POST" ? refused(answer, path) : notAnswered(answer, path);
    // A success that cannot be read: the platform may have taken the message.
    if (answer.body === undefined) throw refusedCall(answer, { call: path });
    answered();
    return answer.body as T;
  }

  return {
    me: (signal) => call("/me", signal),
    events: (after, signal) => call(`/events?after=${after}`, signal),
    async post(chat, text, signal) {
      const { id } = await call<{ readonly id: number }>("/messages", signal, {
        method: "POST",
        body: JSON.stringify({ chat, text }),
      });
      return String(id);
    },
  };
}

/** `undefined` for what is not the platform's, such as the page of a proxy. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * What this platform means by a status where it is not what most mean. Reasons such as these are the gateway's own,
 * which knows what to say about them.
 */
const reasons: Readonly<Record<number, string>> = { 403: "blocked_by_user" };

/** A message that is refused. */
function refused(answer: CallAnswer, call: string): ChannelError {
  return refusedCall(answer, { call, reason: reasons[answer.status] });
}

/**
 * `me` and `events`: only a wrong token ends the account. Everything else passes, such as a proxy that answers
 * 404 for a minute.
 */
function notAnswered(answer: CallAnswer, call: string): ChannelError {
  if (answer.status === 401) return refusedCall(answer, { call, reason: "unauthorized" });
  if (answer.status === 429) return refusedCall(answer, { call });
  const detail = `${call}: ${answer.status}`;
  return new ChannelError("platform_error", { detail, retryable: true, retryAfterMs: retryAfterOf(answer) });
}
