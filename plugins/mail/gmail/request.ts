/** Requests to Google, with a timeout, a limit on the answer, and failures described so that a user can act on them. */
import { fetchWhole, ResponseLimitError } from "service-gateway/sdk/reading";
import { SourceError } from "../source.ts";

export interface Tokens {
  /** A valid access token. `refused` is one that the API no longer accepts. */
  token(refused?: string): Promise<string>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

interface Sending {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
}

/** Google answered with an error. */
export class ApiError extends SourceError {
  readonly status: number;

  constructor(
    kind: SourceError["kind"],
    message: string,
    fix: string,
    { status, retryAfterMs }: { readonly status: number; readonly retryAfterMs: number },
  ) {
    super(kind, message, fix, { retryAfterMs });
    this.status = status;
  }
}

/** Parsing a larger answer would delay other work; for such a mail only the header fields are read. */
const maxAnswerBytes = 4 * 1_048_576;
const again = "It is retried automatically.";

/** Resolves with any status. Rejects if there was no answer, or one that is too large. */
export async function send(
  url: string,
  { method = "GET", headers = {}, body, timeoutMs = 30_000, signal }: Sending,
): Promise<Answer> {
  const { host } = new URL(url);
  try {
    const response = await fetchWhole(url, {
      method,
      headers: { accept: "application/json", ...headers },
      body,
      maxBytes: maxAnswerBytes,
      timeoutMs,
      signal,
    });
    return { status: response.status, headers: response.headers, body: parse(response.text) };
  } catch (error) {
    if (error instanceof ResponseLimitError && error.limit === "bytes")
      throw new SourceError("too_large", `${host} sent too much data at once.`, "The next request asks for less.");
    const { cause, message } = error as Error & { readonly cause?: { readonly code?: string } };
    const why =
      error instanceof ResponseLimitError ? `no answer within ${timeoutMs / 1_000} s` : (cause?.code ?? message);
    throw new SourceError("outage", `The connection to ${host} failed: ${why}.`, again);
  }
}

/** Calls an API with an access token, which is renewed once if it is refused. */
export async function call(
  tokens: Tokens,
  url: string,
  { doing, json, ...sending }: Omit<Sending, "headers" | "body"> & { readonly doing: string; readonly json?: object },
): Promise<unknown> {
  const attempt = (token: string) =>
    send(url, {
      ...sending,
      headers: {
        authorization: `Bearer ${token}`,
        ...(json === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
  const token = await tokens.token();
  let answer = await attempt(token);
  if (answer.status === 401) answer = await attempt(await tokens.token(token));
  if (answer.status >= 200 && answer.status < 300) return answer.body;
  throw errorOf(answer, doing);
}

interface GoogleError {
  readonly status?: string;
  readonly errors?: readonly { readonly reason?: string }[];
  readonly details?: readonly { readonly reason?: string; readonly metadata?: Readonly<Record<string, string>> }[];
}

/**
 * `doing` is what the gateway attempted, such as `read the mailbox`. The answer's text is left out, because it may
 * quote the request.
 */
export function errorOf({ status, headers, body }: Answer, doing: string): ApiError {
  const { error = {} } = (body ?? {}) as { readonly error?: GoogleError | string };
  const { errors = [], details = [], status: code } = typeof error === "string" ? {} : error;
  const reasons = [code, ...errors.map(({ reason }) => reason), ...details.map(({ reason }) => reason)].filter(isCode);
  const refusalText = `Google refused to ${doing} (${[status, ...new Set(reasons)].join(", ")}).`;
  const retryAfterMs = retryAfter(headers);
  const made = (kind: SourceError["kind"], fix: string) =>
    new ApiError(kind, refusalText, fix, { status, retryAfterMs });
  if (status === 429 || status >= 500 || reasons.some((reason) => /rateLimitExceeded|RATE_LIMIT/i.test(reason)))
    return made("outage", again);
  // The token is new, so the permission is valid. Either this passes on its own, or the permission ends.
  if (status === 401) return made("outage", again);
  const disabled = details.find(({ reason }) => reason === "SERVICE_DISABLED");
  if (disabled !== undefined) return made("setup", switchOn(disabled.metadata?.activationUrl));
  if (reasons.some((reason) => /SCOPE_INSUFFICIENT|insufficientPermissions/i.test(reason)))
    return made("setup", "Grant the permission again, and leave every box ticked.");
  if (status === 403) return made("setup", "Check what the credentials are allowed to do in the Google Cloud console.");
  if (status === 404) return made("setup", "Check the names in hooks.gmail.");
  return made("outage", again);
}

/** Shows only URLs of Google. */
function switchOn(activationUrl: string | undefined): string {
  const isGoogle =
    activationUrl !== undefined && /^https:\/\/([a-z0-9-]+\.)*google\.com\/[\w./?=&%-]*$/i.test(activationUrl);
  return isGoogle ? `Switch the API on: ${activationUrl}` : "Switch the API on in the Google Cloud console.";
}

const isCode = (reason: string | undefined): reason is string => reason !== undefined && /^\w{1,60}$/.test(reason);

/** In seconds, or as a date; at most an hour. */
function retryAfter(headers: Headers): number {
  const value = headers.get("retry-after") ?? "";
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.parse(headers.get("date") ?? "");
  return Number.isFinite(ms) ? Math.min(3_600_000, Math.max(0, ms)) : 0;
}

/** A proxy in between may answer with a web page. */
function parse(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
