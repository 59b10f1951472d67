/** Calls of the Web API: https://docs.slack.dev/apis/web-api */
import { ChannelError, refusedCall, retryAfterOf, unansweredCall, within } from "service-gateway/sdk/channel";
import { fetchWhole, type WholeResponse } from "service-gateway/sdk/reading";
import { refusedBySlack } from "./errors.ts";
import { type Fields, record, text } from "./fields.ts";

type Argument = string | number | boolean | object | undefined;

export interface SlackApi {
  call(method: string, args?: Readonly<Record<string, Argument>>, how?: CallHow): Promise<Fields>;
  /** Milliseconds until the method may be called again. */
  heldMs(method: string): number;
  /** The scopes of the bot's token, as the last answer named them. */
  scopes(): readonly string[] | undefined;
  /** Lets the calls in progress end, for at most five seconds: of a call that is cut off, the fate is unknown. */
  close(): Promise<void>;
}

interface CallHow {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** Call with the app-level token. */
  readonly asApp?: true;
}

const maxBytes = 16 * 1_048_576;
const closeMs = 5_000;

export function createApi({
  apiUrl,
  botToken,
  appToken = "",
  now,
  calling,
}: {
  readonly apiUrl: string;
  readonly botToken: string;
  readonly appToken?: string;
  now(): number;
  calling(): () => void;
}): SlackApi {
  const root = apiUrl.replace(/\/+$/, "");
  /** Slack limits each method for itself. */
  const heldUntil = new Map<string, number>();
  const running = new Set<Promise<unknown>>();
  const stop = new AbortController();
  let scopes: readonly string[] | undefined;
  const heldMs = (method: string) => Math.max(0, (heldUntil.get(method) ?? 0) - now());

  function hold(method: string, error: ChannelError): ChannelError {
    if (error.reason === "flood_wait") heldUntil.set(method, now() + (error.retryAfterMs ?? 1_000));
    return error;
  }

  function read(method: string, response: WholeResponse): Fields {
    const body = parsed(response.text);
    const answer = { status: response.status, headers: response.headers, body };
    if (response.ok && body?.ok === true) return body;
    const error = text(body?.error);
    if (error === undefined) throw hold(method, refusedCall(answer, { call: method }));
    if (response.status >= 500) throw refusedCall(answer, { call: method, detail: error });
    const needed = text(body?.needed);
    const retryAfterMs = retryAfterOf(answer);
    const about = { ...(needed !== undefined && { needed }), ...(retryAfterMs !== undefined && { retryAfterMs }) };
    throw hold(method, refusedBySlack(method, { error, ...about }));
  }

  return {
    heldMs,
    scopes: () => scopes,
    async call(method, args = {}, { signal, timeoutMs = 30_000, asApp } = {}) {
      const wait = heldMs(method);
      if (wait > 0)
        throw new ChannelError("flood_wait", {
          retryable: true,
          retryAfterMs: wait,
          detail: `${method}: Slack asked to wait`,
        });
      const done = calling();
      const request = fetchWhole(`${root}/${method}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${asApp === true ? appToken : botToken}`,
          "content-type": "application/x-www-form-urlencoded; charset=utf-8",
        },
        body: formOf(args),
        maxBytes,
        timeoutMs,
        signal: signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]),
      });
      running.add(request);
      const response = await request
        .catch((error: unknown) => {
          throw unansweredCall(error, { call: method });
        })
        .finally(() => running.delete(request));
      const names = asApp === true ? null : response.headers.get("x-oauth-scopes");
      if (names !== null) scopes = names.split(",").map((name) => name.trim());
      const body = read(method, response);
      done();
      return body;
    },
    async close() {
      if (running.size > 0) await within(Promise.allSettled(running), closeMs, stop.signal);
      stop.abort();
    },
  };
}

/** Methods that read take no JSON, so all get a form; objects in it are JSON. */
function formOf(args: Readonly<Record<string, Argument>>): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(args))
    if (value !== undefined) form.set(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  return form.toString();
}

function parsed(body: string): Fields | undefined {
  try {
    return record(JSON.parse(body));
  } catch {
    return undefined;
  }
}
