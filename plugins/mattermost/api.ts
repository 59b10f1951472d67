/** Calls of the REST API. Each ends with the server's JSON, or with a `ChannelError` that says what became of it. */
import { ChannelError, refusedCall, unansweredCall } from "service-gateway/sdk/channel";
import { fetchWhole } from "service-gateway/sdk/reading";
import { meanings } from "./errors.ts";
import { parseJson, record, text } from "./fields.ts";

export interface CallOptions {
  /** Sent as JSON, unless it is a form. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
  /** The call creates a message: after a failure within the server, it may be there. */
  readonly creates?: true;
}

export interface Api {
  /** The address that paths are appended to, such as `https://chat.example.org/api/v4/`. */
  readonly root: string;
  readonly headers: Readonly<Record<string, string>>;
  call(method: "GET" | "POST" | "PUT" | "DELETE", path: string, options?: CallOptions): Promise<unknown>;
}

/** An answer with a thousand long posts. */
const mostBytes = 64 * 1_048_576;

export function createApi({
  url,
  token,
  calling,
  stop,
}: {
  readonly url: string;
  readonly token: string;
  readonly calling: () => () => void;
  /** Ends every call. */
  readonly stop: AbortSignal;
}): Api {
  const root = `${url.replace(/\/+$/, "")}/api/v4/`;
  const headers = { authorization: `Bearer ${token}` };

  async function call(
    method: "GET" | "POST" | "PUT" | "DELETE",
    path: string,
    { body, signal, timeoutMs = 30_000, creates }: CallOptions = {},
  ): Promise<unknown> {
    const name = `${method} ${path.split("?")[0]}`;
    const done = calling();
    const sent =
      body === undefined
        ? { headers }
        : body instanceof FormData
          ? { headers, body }
          : { headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) };
    const answer = await fetchWhole(root + path, {
      method,
      ...sent,
      maxBytes: mostBytes,
      timeoutMs,
      signal: signal === undefined ? stop : AbortSignal.any([signal, stop]),
    }).catch((error: unknown) => {
      throw unansweredCall(error, { call: name });
    });
    const json = parseJson(answer.text);
    if (!answer.ok || json === undefined) throw refusal({ ...answer, body: json }, { call: name, creates });
    done();
    return json;
  }

  return { root, headers, call };
}

/** The fault of an answer that is not a success. */
function refusal(
  answer: { readonly status: number; readonly headers: Headers; readonly body?: unknown },
  { call, creates }: { readonly call: string; readonly creates?: true | undefined },
): ChannelError {
  const { id, message } = record(answer.body);
  const meaning = meanings[text(id)];
  const words = id === undefined ? {} : { detail: `${text(message).slice(0, 300)} (${text(id)})` };
  const error = refusedCall(answer, { call, ...words, ...meaning });
  // A server that fails, or a proxy that loses it, may have created the message before.
  const mayBeThere = creates === true && (answer.status === 500 || answer.status === 502);
  if (meaning?.unknown !== true && !mayBeThere) return error;
  return new ChannelError(error.reason, {
    detail: error.message,
    retryable: true,
    fate: "unknown",
    ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
  });
}
