/** The calls to the platform, and what each failure means. Replace the three calls with those of your platform. */
import { ChannelError } from "service-gateway/sdk/channel";
import { type BoundedRequest, fetchWhole, type WholeResponse } from "service-gateway/sdk/reading";
import type { Options } from "./index.ts";

/** An event as the platform sends it. */
export interface Event {
  readonly id: number;
  readonly chat: string;
  readonly from: string;
  readonly name: string;
  readonly text: string;
  readonly at: number;
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
    }).catch((cause: unknown) => {
      throw unreachable(cause);
    });
    if (!response.ok) throw init.method === "POST" ? refused(response) : notAnswered(response);
    const body = parse(response.text) as T;
    answered();
    return body;
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unreachable(cause);
  }
}

/** Failures before anything was sent. After every other one, the platform may have the message. */
const neverSent = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT/;

function unreachable(cause: unknown): ChannelError {
  const code = String((cause as { readonly cause?: { readonly code?: unknown } }).cause?.code ?? "");
  const fate = neverSent.test(code) ? "not-sent" : "unknown";
  // The cause is left out: it may contain the address with credentials.
  return new ChannelError("network", {
    detail: `The platform cannot be reached (${code || "no answer"})`,
    retryable: true,
    fate,
  });
}

/** A message that is refused. These reasons are the gateway's own, which knows what to say about them. */
function refused({ status, headers }: WholeResponse): ChannelError {
  if (status === 429) return askedToWait(headers);
  if (status === 401) return new ChannelError("unauthorized");
  if (status === 403) return new ChannelError("blocked_by_user");
  if (status === 404) return new ChannelError("chat_not_found");
  // A server error: the platform may have taken the message before it failed.
  if (status >= 500)
    return new ChannelError("platform_error", {
      detail: `The platform answered ${status}`,
      retryable: true,
      fate: "unknown",
    });
  return new ChannelError("bad_request", { detail: `The platform answered ${status}` });
}

/**
 * `me` and `events`: only a wrong token ends the account. Everything else passes, such as a proxy that answers
 * 404 for a minute.
 */
function notAnswered({ status, headers }: WholeResponse): ChannelError {
  if (status === 429) return askedToWait(headers);
  if (status === 401) return new ChannelError("unauthorized");
  return new ChannelError("platform_error", { detail: `The platform answered ${status}`, retryable: true });
}

/** `Retry-After` is a number of seconds or a date. Where it is neither, the gateway chooses the wait. */
function askedToWait(headers: Headers): ChannelError {
  const asked = headers.get("retry-after") ?? "";
  const retryAfterMs = /^\d+$/.test(asked) ? Number(asked) * 1_000 : Date.parse(asked) - Date.now();
  return new ChannelError("flood_wait", { retryable: true, retryAfterMs });
}
