/** Receives updates by webhook: a small listener, meant to run behind a reverse proxy. */
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Json } from "service-gateway/sdk";
import { type ChannelAccount, ChannelError, type ChannelStatus } from "service-gateway/sdk/channel";
import type { AccountOptions } from "../options.ts";
import type { BotApi } from "../wire/api.ts";
import { createBackoff, pause } from "../wire/backoff.ts";
import { failureOf, lostWebhook, registrationFailure } from "./failure.ts";
import { number, record } from "./fields.ts";
import type { Gatherer } from "./gather.ts";
import { everywhere } from "./listeners.ts";
import { updateKinds } from "./parse.ts";

const maxBodyBytes = 1024 * 1024;
const bodyTimeMs = 30_000;

export interface WebhookOptions {
  readonly api: BotApi;
  readonly account: ChannelAccount<AccountOptions>;
  readonly identity: NonNullable<ChannelStatus["identity"]>;
  readonly signal: AbortSignal;
  readonly url: string;
  readonly secret: string;
  readonly gatherer: Gatherer;
  onUpdate(update: Json): void;
}

const digest = (value: string) => createHash("sha256").update(value).digest();

function answer(response: ServerResponse, status: number, { close = false, retryAfterSeconds = 0 } = {}): void {
  response.writeHead(status, {
    "content-length": 0,
    ...(close && { connection: "close" }),
    ...(retryAfterSeconds > 0 && { "retry-after": String(retryAfterSeconds) }),
  });
  response.end();
}

/** The body, or the HTTP status that rejects it. */
async function readBody(request: IncomingMessage): Promise<string | number> {
  if (Number(request.headers["content-length"] ?? 0) > maxBodyBytes) return 413;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) return 413;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseBody(body: string): { readonly update: Json; readonly updateId: number } | undefined {
  try {
    const update = JSON.parse(body) as Json;
    const updateId = number(record(update)?.update_id);
    return updateId === undefined ? undefined : { update, updateId };
  } catch {
    return undefined;
  }
}

/** `onTaken` is called for each update, whether or not it could be stored. */
function createListener(options: WebhookOptions, onTaken: (failure?: unknown) => void): Server {
  const { account, identity, secret } = options;
  const expected = digest(secret);

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?")[0];
    if (request.method === "GET" && path === "/healthz") return answer(response, 200);
    if (path !== account.options.webhookPath) return answer(response, 404, { close: true });
    if (request.method !== "POST") return answer(response, 405, { close: true });
    const given = request.headers["x-telegram-bot-api-secret-token"];
    // Checked before a byte of the body is read, over digests of equal length.
    const caller = account.judgeCaller(request, () => typeof given === "string" && timingSafeEqual(digest(given), expected));
    if (!caller.ok) return answer(response, caller.status, { close: true, ...caller });
    const body = await readBody(request);
    if (typeof body === "number") return answer(response, body, { close: true });
    const found = parseBody(body);
    if (found === undefined) return answer(response, 400);
    const at = { id: String(found.updateId), identity: identity.id, ...options.gatherer.place(found.update) };
    await options.gatherer.noted();
    try {
      await account.receive(found.update, at);
    } catch (error) {
      onTaken(error);
      throw error;
    }
    onTaken();
    answer(response, 200);
    options.onUpdate(found.update);
  }

  const server = createServer({ requestTimeout: bodyTimeMs, headersTimeout: 10_000 }, (request, response) => {
    take(request, response).catch(() => {
      // Not committed: the platform keeps the update and sends it again.
      if (!response.headersSent) answer(response, 503, { close: true });
      else response.destroy();
    });
  });
  return server;
}

function bind(server: Server, { webhookHost: host, webhookPort: port }: AccountOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why =
        error.code === "EADDRINUSE" ? "the port is taken: set webhookPort" : `${error.code ?? "failed"}: check webhookHost and webhookPort`;
      reject(new ChannelError("listen_failed", { detail: `the webhook listener cannot bind ${host}:${port}, ${why}` }));
    });
    server.listen(port, host, resolve);
  });
}

/** The platform was reached and rejected the address, so advice about the network would be wrong. */
function isSameAddress(a: string, b: string): boolean {
  return a === b || (URL.canParse(a) && URL.canParse(b) && new URL(a).href === new URL(b).href);
}

/**
 * Binds, registers with the platform, retries until it accepts, and keeps the registration in place. `closed` resolves after the account
 * has closed.
 */
export async function listen(options: WebhookOptions): Promise<{ readonly closed: Promise<void> }> {
  const { api, account, identity, signal, url, secret } = options;
  let lastContactAt = account.now();
  /** The same, by a monotonic clock. */
  let heardAt = performance.now();
  const heard = () => {
    lastContactAt = account.now();
    heardAt = performance.now();
  };
  const server = createListener(options, (failure) => {
    heard();
    if (failure === undefined) account.status({ state: "connected", identity, lastContactAt });
    else account.status({ state: "waiting", identity, lastContactAt, ...failureOf(failure) });
  });
  await bind(server, account.options);
  const { webhookHost: host, webhookPort: port } = account.options;
  if (everywhere.has(host)) {
    const hint = "Bind 127.0.0.1 where the proxy in front runs on this machine, or let only the proxy reach it.";
    account.log.warn({ option: "webhookHost", host, port, hint }, "the webhook listener listens on all addresses of this machine");
  }
  const closed = new Promise<void>((resolve) => {
    const end = () => {
      server.close(() => resolve());
      server.closeAllConnections();
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });

  const stallMs = account.options.polling.stallSeconds * 1_000;

  /**
   * Checks with the platform if nothing arrived for a while: the removal of a webhook, such as by a program that polls, is not announced.
   */
  async function staysSet(): Promise<boolean> {
    for (let left = stallMs; left > 0 && !signal.aborted; left = heardAt + stallMs - performance.now()) await pause(left, signal);
    if (signal.aborted) return true;
    const { url: set = "" } = await api.call("getWebhookInfo", {}, signal);
    if (isSameAddress(set, url)) return true;
    account.status({ state: "waiting", identity, lastContactAt, ...lostWebhook(set) });
    return false;
  }

  async function register(): Promise<void> {
    const backoff = createBackoff({ minMs: account.options.polling.minDelayMs, maxMs: account.options.polling.maxDelayMs });
    let isSet = false;
    while (!signal.aborted) {
      try {
        if (!isSet) await api.call("setWebhook", { url, secret_token: secret, allowed_updates: [...updateKinds] }, signal);
        backoff.reset();
        heard();
        account.status({ state: "connected", identity, lastContactAt });
        isSet = await staysSet();
      } catch (error) {
        if (signal.aborted) return;
        // The registration is unknown now, so "connected" is reported only after an answer.
        isSet = false;
        if (error instanceof ChannelError && error.reason === "unauthorized") {
          account.status({ state: "failed", identity, ...failureOf(error) });
          return;
        }
        account.status({ state: "waiting", identity, ...registrationFailure(error) });
        const asked = error instanceof ChannelError ? error.retryAfterMs : undefined;
        await pause(Math.max(asked ?? 0, backoff.next()), signal);
      }
    }
  }
  void register();
  return { closed };
}
