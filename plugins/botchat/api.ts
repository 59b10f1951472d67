/** The Bot API over grammY's client and our transport; calls with files go past the client, whose forms know no types. */
import type { Api, RawApi } from "grammy";
import { ChannelError } from "service-gateway/sdk";
import { loadLibrary } from "./library.ts";
import { type Form, formOf } from "./multipart.ts";
import { junkError, type Refused, refusalError, wireError } from "./platform-error.ts";
import { createSignals } from "./signals.ts";
import type { Transport } from "./transport.ts";
import { type Stoppable, WireError } from "./wire.ts";

export type Method = Extract<keyof RawApi, string>;
type Fn<M extends Method> = RawApi[M] extends (...args: infer A) => infer R ? { readonly args: A; readonly result: Awaited<R> } : never;
export type Payload<M extends Method> = Fn<M>["args"][0] extends infer P
  ? P extends { aborted: boolean }
    ? Record<string, never>
    : P
  : never;
export type Result<M extends Method> = Fn<M>["result"];

export interface BotApi {
  /** Throws `ChannelError` only, with no address and no token in it. */
  call<M extends Method>(method: M, payload: Payload<M>, signal?: AbortSignal): Promise<Result<M>>;
  /** Drops the connections and makes new ones. */
  renew(): void;
}

export interface BotApiOptions {
  readonly token: string;
  readonly apiRoot: string;
  readonly transport: Transport;
  /** Milliseconds for a call; unset: 60,000, and 500,000 while a file is sent. */
  readonly timeoutMs?: number;
  /** Milliseconds for `getUpdates`, which the platform holds on purpose. */
  readonly pollTimeoutMs: number;
}

/** The outer limit is grammY's own; ours is always reached before, and it knows whether the request went out. */
const outerLimitSeconds = 3_700;
const callMs = 60_000;
const uploadMs = 500_000;

interface FetchInit {
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly signal: Stoppable;
}

/** What grammY reads of a response is `json()`; it throws `ChannelError`, which grammY hands back inside its own error. */
function createFetch({ transport, ...options }: BotApiOptions) {
  return async (address: string, init: FetchInit) => {
    const method = address.slice(address.lastIndexOf("/") + 1);
    const held = method === "getUpdates";
    const timeoutMs = held ? options.pollTimeoutMs : (options.timeoutMs ?? callMs);
    const { connection: _hopByHop, ...headers } = init.headers;
    const answer = await transport.request(address, { method: "POST", headers, body: init.body, signal: init.signal, timeoutMs, held });
    return { json: () => parseAnswer(method, answer.status, answer.text) };
  };
}

type Envelope = { readonly ok: true; readonly result: unknown } | ({ readonly ok: false } & Refused);

/** The platform's envelope, checked: grammY would take any JSON for it. */
function parseAnswer(method: string, status: number, text: string): Envelope {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw junkError(method, status);
  }
  if (typeof parsed !== "object" || parsed === null) throw junkError(method, status);
  const { ok, error_code: code, description } = parsed as { ok?: unknown; error_code?: unknown; description?: unknown };
  if (ok === true && "result" in parsed) return { ok, result: parsed.result };
  if (ok !== false) throw junkError(method, status);
  return { ...parsed, ok, error_code: typeof code === "number" ? code : status, description: String(description ?? "no description") };
}

const cleaned = (text: string, token: string) => text.split(token).join("[token]").slice(0, 500);

/** Walks grammY's wrappers to what happened, and rebuilds it. */
function toChannelError(method: string, thrown: unknown, token: string): ChannelError {
  const clean = (text: string) => cleaned(text, token);
  const inner = thrown instanceof Error && "error" in thrown ? (thrown as { error: unknown }).error : thrown;
  if (inner instanceof ChannelError) return inner;
  if (inner instanceof WireError) return wireError(method, inner);
  if (inner instanceof Error && "error_code" in inner && "description" in inner) {
    const refused = inner as unknown as Refused;
    return refusalError(method, {
      ...refused,
      error_code: refused.error_code,
      description: clean(refused.description),
      ...(refused.parameters && { parameters: refused.parameters }),
    });
  }
  const text = inner instanceof Error ? inner.message : String(inner);
  const late = /timed out/.test(text);
  return new ChannelError(late ? "timeout" : "call_failed", { fate: "unknown", retryable: late, detail: `${method}: ${clean(text)}` });
}

export async function createBotApi(options: BotApiOptions): Promise<BotApi> {
  const { Api: GrammyApi } = await loadLibrary();
  const fetch = createFetch(options) as unknown as typeof globalThis.fetch;
  const apiRoot = options.apiRoot.replace(/\/+$/, "");
  const api: Api = new GrammyApi(options.token, {
    apiRoot,
    timeoutSeconds: outerLimitSeconds,
    fetch: fetch as never,
  });
  const signals = createSignals();
  const raw = api.raw as unknown as Record<string, (payload: unknown, signal?: unknown) => Promise<unknown>>;

  async function upload(method: string, { headers, body }: Form, signal: Stoppable | undefined): Promise<unknown> {
    const address = `${apiRoot}/bot${options.token}/${method}`;
    const timeoutMs = options.timeoutMs ?? uploadMs;
    const sent = { method: "POST", headers, body, timeoutMs, ...(signal && { signal }) } as const;
    const { status, text } = await options.transport.request(address, sent);
    const answer = parseAnswer(method, status, text);
    if (answer.ok) return answer.result;
    throw refusalError(method, { ...answer, description: cleaned(answer.description, options.token) });
  }

  return {
    async call(method, payload, signal) {
      try {
        // `raw` makes methods on demand. Those without parameters are made with an empty payload bound already.
        const run = raw[method] as (payload: unknown, signal?: unknown) => Promise<unknown>;
        const bound = method === "getMe" || method === "getWebhookInfo";
        const stoppable = signal === undefined ? undefined : signals.share(signal);
        const form = formOf(payload as object);
        if (form !== undefined) return (await upload(method, form, stoppable)) as never;
        return (await (bound ? run(stoppable) : run(payload, stoppable))) as never;
      } catch (thrown) {
        throw toChannelError(method, thrown, options.token);
      }
    },
    renew: () => options.transport.renew(),
  };
}
