/**
 * An emulated chat platform: a Bot API server on loopback, with people who write to its bots.
 *
 * It is independent of the gateway. Tests, the playground's page and `serve.ts` use it alike.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onEvent } from "service-gateway/sdk/channel";
import type { Core, OpenPress, PlatformEvent } from "./core.ts";
import { createFeed, type Feed } from "./feed.ts";
import { createFileStore, type FileStore } from "./files.ts";
import { createLimiter, type Limits } from "./limits.ts";
import { createPeople, type People } from "./people/people.ts";
import type { Approve } from "./server/approval.ts";
import { createAskedMessages } from "./server/asked.ts";
import { createCalling } from "./server/calling.ts";
import { type CallLog, createCallLog, type RecordedCall } from "./server/calls.ts";
import { createFaults, type Faults } from "./server/faults.ts";
import { createFileRoute } from "./server/file-route.ts";
import { callRefusal } from "./server/origin.ts";
import { createPageApi } from "./server/page-api.ts";
import { createWebhook, type Webhook } from "./webhook.ts";
import { type Bot, createBot, createWorld, defaultSeed, type World, type WorldSeed } from "./world.ts";

export type { PlatformEvent } from "./core.ts";
export { firstUpdateIdAt } from "./feed.ts";
export type { RecordedCall } from "./server/calls.ts";
export type { Chance, Mishap } from "./server/faults.ts";
export type { Message } from "./wire.ts";

export interface BotOptions {
  readonly token: string;
  readonly username: string;
  readonly name: string;
  /** Default: the digits before the token's colon. */
  readonly id?: number;
  /** If true, only mentions, replies and commands in groups reach the bot. Default: true. */
  readonly privacy?: boolean;
  readonly firstUpdateId?: number;
}

export interface PlatformOptions {
  /** A loopback address. Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: 0, any free port. */
  readonly port?: number;
  readonly bots: readonly BotOptions[];
  /** People and groups. Default: Ada, Bela and Chen, a group and a forum. */
  readonly seed?: WorldSeed;
  readonly limits?: Limits;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /** Whether to record calls. Default: true; benchmarks turn it off to save a little. */
  readonly recordCalls?: boolean;
  /** Milliseconds before a webhook is retried; doubles each time. Default: 250. */
  readonly webhookRetryMs?: number;
  /** Approves a pairing code that a bot has sent to a person, on request of the page. Rejects with the reason. */
  readonly approve?: Approve;
}

export interface Platform {
  /** The base URL, to be used as a bot's `apiRoot`. */
  readonly url: string;
  readonly world: World;
  /** The actions of people. */
  readonly act: People;
  readonly faults: Faults;
  /** The last 10,000 calls of the bots. */
  readonly calls: CallLog;
  readonly files: FileStore;
  /** The number of a bot's unconfirmed updates. */
  pending(username?: string): number;
  /** Adds a listener. Returns a function that removes it. */
  on(listener: (event: PlatformEvent) => void): () => void;
  /** Resolves with the first event for which `fits` is true. Rejects after `ms` (default: 5,000). */
  waitFor(fits: (event: PlatformEvent) => boolean, ms?: number): Promise<PlatformEvent>;
  close(): Promise<void>;
}

const loopback: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);

/** The wall clock, derived from the process's monotonic clock. */
const wallClock = (): number => Math.round(performance.timeOrigin + performance.now());

export async function createPlatform(options: PlatformOptions): Promise<Platform> {
  const { host = "127.0.0.1", port = 0, now = wallClock } = options;
  if (!loopback.has(host)) throw new Error(`the playground listens on loopback only, not on ${host}; use 127.0.0.1`);
  const bots = options.bots.map((entry, index) => botOf(entry, index));
  const listeners = new Set<(event: PlatformEvent) => void>();
  const feeds = new Map<number, Feed>();
  const webhooks = new Map<number, Webhook>();
  const seconds = (): number => Math.floor(now() / 1000);
  let ids = 0;
  const core: Core = {
    world: createWorld(bots, options.seed ?? defaultSeed, seconds),
    feeds,
    webhooks,
    files: createFileStore(),
    limiter: createLimiter(options.limits ?? {}, now),
    presses: new Map<string, OpenPress>(),
    now,
    seconds,
    newId: () => String(4_000_000_000_000_000_000n + BigInt(++ids)),
    emit(event) {
      asked.note(event);
      for (const listener of listeners) listener(event);
    },
  };
  const asked = createAskedMessages(core);
  const faults = createFaults();
  const calls = createCallLog(options.recordCalls ?? true);
  const byToken = new Map<string, Bot>(bots.map((bot) => [bot.token, bot]));
  const record = (call: Omit<RecordedCall, "seq">): void => {
    if (!calls.recording()) return;
    const about = asked.of(call.params);
    const seq = calls.add(about === undefined ? call : { ...call, about });
    if (listeners.size > 0) core.emit({ type: "call", seq });
  };
  const calling = createCalling({ core, faults, bots: byToken, record });
  for (const [index, bot] of bots.entries()) {
    const feed = createFeed(options.bots[index]?.firstUpdateId ?? 100_000_001 + index * 1_000_000);
    feeds.set(bot.user.id, feed);
    const onReply = (body: Readonly<Record<string, unknown>>): void => void calling.run(bot, body);
    webhooks.set(bot.user.id, createWebhook({ feed, seconds, onReply, retryMs: options.webhookRetryMs }));
  }
  const act = createPeople(core);
  const on = (listener: (event: PlatformEvent) => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const files = createFileRoute({ core, faults, bots: byToken });
  const pageApi = createPageApi({ core, act, faults, calls, on, approve: options.approve });

  const take = (request: IncomingMessage, response: ServerResponse): Promise<void> | undefined => {
    const target = request.url ?? "/";
    const mark = target.indexOf("?");
    const path = mark === -1 ? target : target.slice(0, mark);
    const query = mark === -1 ? "" : target.slice(mark + 1);
    const refused = /^\/(?:file\/)?bot/.test(path) ? callRefusal(request.headers) : undefined;
    if (refused !== undefined) {
      refuseCall(response, refused);
      return undefined;
    }
    const done = path.startsWith("/bot")
      ? calling.call(path, query, request, response)
      : path.startsWith("/file/bot")
        ? files.send(path, response)
        : pageApi.handle(path, query, request, response);
    return done.catch(() => void response.destroy());
  };
  const server = createServer({ keepAliveTimeout: 30_000 });
  onEvent(server, "request", { source: "a client of the playground", handle: take });
  await listen(server, port, host);
  const address = server.address() as AddressInfo;

  return {
    url: `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`,
    world: core.world,
    act,
    faults,
    calls,
    files: core.files,
    pending: (username) =>
      feeds
        .get((username === undefined ? bots[0] : bots.find((b) => b.user.username === username))?.user.id ?? 0)
        ?.pending() ?? 0,
    on,
    waitFor: (fits, ms = 5000) => waitFor(on, fits, ms),
    async close() {
      for (const webhook of webhooks.values()) webhook.close();
      for (const feed of feeds.values()) feed.close();
      pageApi.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function refuseCall(response: ServerResponse, description: string): void {
  response.writeHead(403, { "content-type": "application/json", connection: "close" });
  response.end(JSON.stringify({ ok: false, error_code: 403, description: `Forbidden: ${description}` }));
}

function botOf(entry: BotOptions, index: number): Bot {
  const id = entry.id ?? (Number.parseInt(entry.token, 10) || 7_000_000_001 + index);
  return createBot(
    entry.token,
    { id, is_bot: true, first_name: entry.name, username: entry.username },
    entry.privacy ?? true,
  );
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const taken = `port ${port} on ${host} is in use; choose another one, or end the program that listens there`;
    const stop = onEvent<readonly [NodeJS.ErrnoException]>(server, "error", {
      source: "the server of the playground",
      handle: (error) => reject(error.code === "EADDRINUSE" ? new Error(taken) : error),
    });
    server.listen({ port, host, backlog: 1024 }, () => {
      stop();
      resolve();
    });
  });
}

function waitFor(
  on: (listener: (event: PlatformEvent) => void) => () => void,
  fits: (event: PlatformEvent) => boolean,
  ms: number,
): Promise<PlatformEvent> {
  return new Promise((resolve, reject) => {
    const end = on((event) => {
      if (!fits(event)) return;
      clearTimeout(timer);
      end();
      resolve(event);
    });
    const timer = setTimeout(() => {
      end();
      reject(new Error(`nothing on the platform matched within ${ms} ms`));
    }, ms);
  });
}
