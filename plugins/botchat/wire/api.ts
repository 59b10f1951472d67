/** The Bot API through grammY, with our own transport: a transformer answers every call itself. */
import type { Api, RawApi, Transformer } from "grammy";
import { ChannelError } from "service-gateway/sdk/channel";
import { loadLibrary } from "./library.ts";
import { formOf } from "./multipart.ts";
import { junkError, type Refused, refusalError, wireError } from "./platform-error.ts";
import { createSignals } from "./signals.ts";
import type { Transport } from "./transport.ts";
import { type Stoppable, WireError } from "./wire.ts";

export type Method = Extract<keyof RawApi, string>;
type Fn<M extends Method> = RawApi[M] extends (...args: infer A) => infer R
  ? { readonly args: A; readonly result: Awaited<R> }
  : never;
export type Payload<M extends Method> = Fn<M>["args"][0] extends infer P
  ? P extends { aborted: boolean }
    ? Record<string, never>
    : P
  : never;
export type Result<M extends Method> = Fn<M>["result"];

export interface BotApi {
  /** Calls a method. Throws only `ChannelError`, without URL and token. */
  call<M extends Method>(method: M, payload: Payload<M>, signal?: AbortSignal): Promise<Result<M>>;
  /** Drops all connections and opens new ones. */
  renew(): void;
}

export interface BotApiOptions {
  readonly token: string;
  readonly apiRoot: string;
  readonly transport: Transport;
  /** Time limit for a call in milliseconds. Default: 60,000, and 500,000 while a file is sent. */
  readonly timeoutMs?: number;
  /** Called when a call begins. The returned function is called when the platform has performed it. */
  readonly calling?: () => () => void;
  /** Time limit for `getUpdates` in milliseconds; the platform delays its answer on purpose. */
  readonly pollTimeoutMs: number;
}

const callMs = 60_000;
const uploadMs = 500_000;
const jsonHeaders = { "content-type": "application/json" } as const;

/**
 * Replaces the library's own client, which would add a controller, a timer and a race of three promises to each call,
 * duplicating the transport, and would send every file as `application/octet-stream`.
 */
function createPlatform({ token, transport, ...options }: BotApiOptions): Transformer {
  const root = `${options.apiRoot.replace(/\/+$/, "")}/bot${token}`;
  /** One URL for each method that has been called. */
  const addresses = new Map<string, URL>();
  const addressOf = (method: string): URL => {
    const address = addresses.get(method) ?? new URL(`${root}/${method}`);
    addresses.set(method, address);
    return address;
  };
  const timeoutOf = (method: string, file: boolean) => {
    if (method === "getUpdates") return options.pollTimeoutMs;
    return options.timeoutMs ?? (file ? uploadMs : callMs);
  };
  const answer = (method: string, payload: object, signal: Stoppable | undefined): Promise<Envelope> => {
    const form = formOf(payload);
    const request = {
      method: "POST",
      headers: form?.headers ?? jsonHeaders,
      body: form?.body ?? JSON.stringify(payload),
      timeoutMs: timeoutOf(method, form !== undefined),
      held: method === "getUpdates",
      signal,
    } as const;
    const succeeded = options.calling?.();
    return transport.request(addressOf(method), request).then(({ status, text }) => {
      const envelope = parseAnswer(method, status, text);
      if (envelope.ok) succeeded?.();
      return envelope;
    });
  };
  return (_client, method, payload, signal) => answer(method, payload, signal) as never;
}

type Envelope = { readonly ok: true; readonly result: unknown } | ({ readonly ok: false } & Refused);

/** Parses and validates the platform's answer. grammY would accept any JSON. */
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
  return {
    ...parsed,
    ok,
    error_code: typeof code === "number" ? code : status,
    description: String(description ?? "no description"),
  };
}

const cleaned = (text: string, token: string) => text.split(token).join("[token]").slice(0, 500);

/**
 * Converts an error, without the token. A refusal by the platform is the library's own error with the platform's text.
 */
function toChannelError(method: string, thrown: unknown, token: string): ChannelError {
  if (thrown instanceof ChannelError) return thrown;
  if (thrown instanceof WireError) return wireError(method, thrown);
  if (thrown instanceof Error && "error_code" in thrown && "description" in thrown) {
    const { error_code, description, parameters } = thrown as unknown as Refused;
    return refusalError(method, {
      error_code,
      description: cleaned(description, token),
      ...(parameters && { parameters }),
    });
  }
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return new ChannelError("call_failed", { fate: "unknown", detail: `${method}: ${cleaned(text, token)}` });
}

export async function createBotApi(options: BotApiOptions): Promise<BotApi> {
  const { Api: GrammyApi } = await loadLibrary();
  const api: Api = new GrammyApi(options.token);
  api.config.use(createPlatform(options));
  const signals = createSignals();
  const raw = api.raw as unknown as Record<string, (payload: unknown, signal?: unknown) => Promise<unknown>>;
  return {
    call(method, payload, signal) {
      // `raw` creates methods on demand. Methods without parameters already have an empty payload bound.
      const run = raw[method] as (payload: unknown, signal?: unknown) => Promise<never>;
      const bound = method === "getMe" || method === "getWebhookInfo";
      const stoppable = signal === undefined ? undefined : signals.share(signal);
      return (bound ? run(stoppable) : run(payload, stoppable)).catch((thrown: unknown) => {
        throw toChannelError(method, thrown, options.token);
      });
    },
    renew: () => options.transport.renew(),
  };
}
