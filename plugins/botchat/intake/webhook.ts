/**
 * Receives updates by webhook: a small listener, meant to run behind a reverse proxy. Each node has one; one node
 * registers the webhook.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Json } from "service-gateway/sdk";
import {
  type ChannelAccount,
  ChannelError,
  type ChannelStatus,
  createSourceFaultLog,
  onEvent,
} from "service-gateway/sdk/channel";
import type { AccountOptions } from "../options.ts";
import { number, record } from "./fields.ts";
import type { Gatherer } from "./gather.ts";
import { everywhere } from "./listeners.ts";

const maxBodyBytes = 1024 * 1024;
const bodyTimeMs = 30_000;

export interface ListenerOptions {
  readonly account: ChannelAccount<AccountOptions>;
  readonly identity: NonNullable<ChannelStatus["identity"]>;
  readonly signal: AbortSignal;
  readonly secret: string;
  readonly gatherer: Gatherer;
  onUpdate(update: Json): void;
}

export interface Listener {
  /** Calls `onTaken` for each update from now on, with the reason if it could not be stored. */
  watch(onTaken: (failure?: unknown) => void): void;
  /** Resolves after the account has closed, or has paused. */
  readonly closed: Promise<void>;
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

interface Identified {
  readonly update: Json;
  readonly updateId: number;
}

function parseBody(body: string): Identified | undefined {
  try {
    const update = JSON.parse(body) as Json;
    const updateId = number(record(update)?.update_id);
    return updateId === undefined ? undefined : { update, updateId };
  } catch {
    return undefined;
  }
}

/** `onTaken` is called for each update, whether or not it could be stored. */
function createListeningServer(options: ListenerOptions, onTaken: (failure?: unknown) => void): Server {
  const { account, identity, secret } = options;
  const expected = digest(secret);

  async function store({ update, updateId }: Identified): Promise<void> {
    const { gatherer } = options;
    await gatherer.recall(update);
    const at = { id: String(updateId), identity: identity.id, ...gatherer.place(update) };
    await gatherer.noted();
    await account.receive(update, at);
  }

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?")[0];
    if (request.method === "GET" && path === "/healthz") return answer(response, 200);
    if (path !== account.options.webhookPath) return answer(response, 404, { close: true });
    if (request.method !== "POST") return answer(response, 405, { close: true });
    const given = request.headers["x-telegram-bot-api-secret-token"];
    // Checked before a byte of the body is read, over digests of equal length.
    const caller = account.judgeCaller(
      request,
      () => typeof given === "string" && timingSafeEqual(digest(given), expected),
    );
    if (!caller.ok) return answer(response, caller.status, { close: true, ...caller });
    const body = await readBody(request);
    if (typeof body === "number") return answer(response, body, { close: true });
    const found = parseBody(body);
    if (found === undefined) return answer(response, 400);
    try {
      await store(found);
    } catch (error) {
      onTaken(error);
      throw error;
    }
    onTaken();
    answer(response, 200);
    options.onUpdate(found.update);
  }

  const server = createServer({ requestTimeout: bodyTimeMs, headersTimeout: 10_000 });
  onEvent<readonly [IncomingMessage, ServerResponse]>(server, "request", {
    source: "a caller of the webhook",
    fault: createSourceFaultLog(account.log),
    handle: (request, response) =>
      take(request, response).catch(() => {
        // Not committed: the platform keeps the update and sends it again.
        if (!response.headersSent) answer(response, 503, { close: true });
        else response.destroy();
      }),
  });
  return server;
}

function bind(server: Server, { webhookHost: host, webhookPort: port }: AccountOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    onEvent<readonly [NodeJS.ErrnoException]>(server, "error", {
      ...{ source: "the webhook listener", once: true },
      handle({ code }) {
        const why =
          code === "EADDRINUSE"
            ? "the port is taken: set webhookPort"
            : `${code ?? "failed"}: check webhookHost and webhookPort`;
        reject(
          new ChannelError("listen_failed", { detail: `the webhook listener cannot bind ${host}:${port}, ${why}` }),
        );
      },
    });
    server.listen(port, host, resolve);
  });
}

/** Binds. From then on, updates are stored whether or not this process has registered the webhook. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { account, signal } = options;
  let onTaken: (failure?: unknown) => void = () => {};
  const server = createListeningServer(options, (failure) => onTaken(failure));
  await bind(server, account.options);
  const { webhookHost: host, webhookPort: port } = account.options;
  if (everywhere.has(host)) {
    const hint = "Bind 127.0.0.1 where the proxy in front runs on this machine, or let only the proxy reach it.";
    account.log.warn(
      { option: "webhookHost", host, port, hint },
      "the webhook listener listens on all addresses of this machine",
    );
  }
  const closed = new Promise<void>((resolve) => {
    const end = () => {
      server.close(() => resolve());
      server.closeAllConnections();
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
  return {
    watch(watcher) {
      onTaken = watcher;
    },
    closed,
  };
}
