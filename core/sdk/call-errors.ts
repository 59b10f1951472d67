/** What a failed HTTP call to a platform means: its reason, whether it may have had an effect, when to repeat it. */
import { ChannelError } from "../contract/index.ts";

/**
 * What every platform means by a status. Reasons that only some mean, such as a person who blocked the bot, are the
 * channel's to name.
 */
const reasons: Readonly<Record<number, string>> = {
  401: "unauthorized",
  403: "no_rights",
  404: "chat_not_found",
  408: "timeout",
  413: "too_large",
  429: "flood_wait",
};

/** A server in between did not get the platform's answer in time. The platform may have performed the call. */
const lateStatuses: ReadonlySet<number> = new Set([408, 504, 524]);

/**
 * The answer to a call, as `refusedCall` reads it. `WholeResponse` of `service-gateway/sdk/reading` is one, with its
 * parsed `body`.
 *
 * @example
 * const answer: CallAnswer = { status: 429, headers: response.headers, body: { retry_after: 0.5 } };
 */
export interface CallAnswer {
  readonly status: number;
  readonly headers?: Pick<Headers, "get">;
  /** The platform's JSON, parsed. Absent: the answer is not the platform's, such as the page of a proxy. */
  readonly body?: unknown;
}

/**
 * The error for an answer that refuses a call. Without `reason`, the status decides: 401 `unauthorized`, 403
 * `no_rights`, 404 `chat_not_found`, 413 `too_large`, 429 `flood_wait`, from 500 on `platform_error`, any other
 * `bad_request`; an answer that is not the platform's is a `bad_answer`. Pass the reason if the platform has codes of
 * its own, also in an answer with status 200.
 *
 * The fate is `not-sent`, because the platform answered that it did nothing. It is `unknown` after a time-out of a
 * server in between (408, 504, 524), and after a success that cannot be read. Time-outs, `flood_wait`, statuses from
 * 500 on, and successes that cannot be read are retryable, after `retryAfterOf` if the answer names a time. The detail
 * is `call`, the status and `detail`: do not put secrets into them.
 *
 * @example
 * const names: Record<string, string> = { channel_not_found: "chat_not_found", ratelimited: "flood_wait" };
 * if (!body.ok) throw refusedCall({ ...response, body }, { call: "chat.postMessage", reason: names[body.error] });
 */
export function refusedCall(
  answer: CallAnswer,
  about: {
    readonly call: string;
    readonly reason?: string;
    /** The platform's words. */
    readonly detail?: string;
    readonly hint?: string;
    readonly migratedTo?: string;
  },
): ChannelError {
  const { status, body } = answer;
  const isLate = lateStatuses.has(status);
  const isSuccess = status < 400 && about.reason === undefined;
  const reason = about.reason ?? reasonOf(answer);
  const words = about.detail ?? (body === undefined ? "the answer is not the platform's" : undefined);
  return new ChannelError(reason, {
    retryable: status >= 500 || isLate || isSuccess || reason === "flood_wait",
    fate: isLate || isSuccess ? "unknown" : "not-sent",
    detail: `${about.call}: ${status}${words === undefined ? "" : ` ${words}`}`,
    retryAfterMs: retryAfterOf(answer),
    ...(about.hint !== undefined && { hint: about.hint }),
    ...(about.migratedTo !== undefined && { migratedTo: about.migratedTo }),
  });
}

function reasonOf({ status, body }: CallAnswer): string {
  if (status >= 500) return "platform_error";
  if (body === undefined && status !== 413 && status !== 429) return "bad_answer";
  if (status < 400) return "bad_answer";
  return reasons[status] ?? "bad_request";
}

/**
 * How long a platform asks to wait, in milliseconds: `Retry-After` in seconds or as a date (compared with the `Date` of
 * the answer, not with the clock of this machine), Discord's `X-RateLimit-Reset-After`, or a field of the JSON answer:
 * `retry_after` in seconds (also within `parameters`, as Telegram has it), `retry_after_ms`. `undefined` if it names no
 * time. See RFC 9110, 10.2.3.
 *
 * @example
 * retryAfterOf({ status: 429, body: { retry_after: 0.5 } }); // 500
 */
export function retryAfterOf({ headers, body }: CallAnswer): number | undefined {
  const fields = fieldsOf(body);
  const ms = numberOf(fields.retry_after_ms);
  // A field is more precise than a header, which has whole seconds.
  const seconds =
    numberOf(fields.retry_after) ??
    numberOf(fieldsOf(fields.parameters).retry_after) ??
    numberOf(headers?.get("x-ratelimit-reset-after")) ??
    numberOf(headers?.get("retry-after"));
  if (ms !== undefined || seconds !== undefined) return ms ?? Math.ceil((seconds ?? 0) * 1_000);
  const words = headers?.get("retry-after") ?? "";
  const date = /[a-z]{3}/i.test(words) ? Date.parse(words) : Number.NaN;
  const waitMs = date - Date.parse(headers?.get("date") ?? "");
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function numberOf(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number >= 0 ? number : undefined;
}

/** Failures before a byte was sent. After every other one, the platform may have performed the call. */
const neverSent =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_CERT.*|.*CERT_.*|SELF_SIGNED.*)$/;
const timeouts = /^(?:TIMEOUT|TimeoutError|UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT|time)$/;

/**
 * The error for a call without an answer: `error` is what `fetch` or `fetchWhole` rejected with. The reason is
 * `network`, `timeout`, or `aborted` if the caller gave up. All are retryable. The fate is `not-sent` if no connection
 * was made, else `unknown`. A client that knows whether its request was sent passes `sent`. The detail has the code of
 * the error and not its message, which may contain an address with a secret.
 *
 * @example
 * const response = await fetchWhole(url, limits).catch((error: unknown) => {
 *   throw unansweredCall(error, { call: "createMessage" });
 * });
 */
export function unansweredCall(
  error: unknown,
  {
    call,
    sent,
    remedy = "",
  }: {
    readonly call: string;
    readonly sent?: boolean;
    /** What the operator can do, behind the detail. */
    readonly remedy?: string;
  },
): ChannelError {
  const code = failureCode(error);
  const wasSent = sent ?? !neverSent.test(code);
  const isAborted = code === "ABORTED" || code === "CLOSED" || code === "AbortError";
  return new ChannelError(isAborted ? "aborted" : timeouts.test(code) ? "timeout" : "network", {
    retryable: true,
    fate: wasSent ? "unknown" : "not-sent",
    detail: `${call}: no answer (${code}, ${wasSent ? "after" : "before"} the request went out)${remedy}`,
  });
}

/** The code of the innermost cause that has one. `fetch` wraps the error of the socket. */
function failureCode(error: unknown): string {
  let found = "UNKNOWN";
  let one: unknown = error;
  for (let depth = 0; depth < 5 && one !== undefined && one !== null; depth += 1) {
    const { code, name, limit, cause, errors } = fieldsOf(one);
    if (limit === "time") found = "TIMEOUT";
    else if (typeof code === "string" && /^[A-Z]\w{1,60}$/.test(code)) found = code;
    else if (name === "AbortError" || name === "TimeoutError") found = name;
    one = Array.isArray(errors) && errors.length > 0 ? errors[0] : cause;
  }
  return found;
}
