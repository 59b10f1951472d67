/**
 * The HTTP client of an account, for calls and files, on top of undici's dispatcher.
 *
 * It uses the dispatcher directly for two reasons: it is several times faster than `fetch`, and only the dispatcher
 * shows whether a failed request had reached a socket, which decides whether a send may be repeated. Errors never
 * contain the URL, because the URL of a call contains the bot's token.
 */
import { createRequire } from "node:module";
import { Readable } from "node:stream";
import { ChannelError } from "service-gateway/sdk/channel";
import { LimitedBody } from "service-gateway/sdk/reading";
import type { Dispatcher } from "undici";
import { type DownloadOptions, download } from "./download.ts";
import { codeOf, type Stoppable, WireError } from "./wire.ts";

/** Maximum size of an answer in bytes. A hundred updates with the longest texts have about a tenth of it. */
const maxAnswerBytes = 16 * 1024 * 1024;

export interface WireRequest {
  readonly method: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Readable;
  readonly signal?: Stoppable;
  /** Time limit for the whole request in milliseconds, including connecting and waiting for a free connection. */
  readonly timeoutMs: number;
  /**
   * The server delays the answer on purpose. The request uses its own connection, so that it neither waits for calls
   * nor blocks them.
   */
  readonly held?: boolean;
}

export interface WireAnswer {
  readonly status: number;
  readonly text: string;
}

export interface Transport {
  /** Sends a request. Rejects only with `WireError`. */
  request(url: URL, request: WireRequest): Promise<WireAnswer>;
  /**
   * Streams a file without following redirects. Rejects with `WireError` (`TOO_LARGE`, `STATUS_404`, `TIMEOUT`, ...),
   * or with the `ChannelError` of `save`.
   */
  download<T>(url: string, options: DownloadOptions<T>): Promise<T>;
  /** Drops all connections and opens new ones. Requests in progress fail. */
  renew(): void;
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly proxy?: string;
  readonly autoSelectFamily?: boolean;
  /** Time limit for connecting, in milliseconds. */
  readonly connectTimeoutMs?: number;
}

/** Connection errors that may not occur with another address family. */
const familyCodes = new Set([
  "ENETUNREACH",
  "EHOSTUNREACH",
  "ETIMEDOUT",
  "ECONNREFUSED",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/**
 * Whether the server, or the proxy in front of it, may have addresses of both families. A SOCKS client chooses by
 * itself.
 */
function hasFamilies(proxy: string | undefined, target: URL): boolean {
  const { protocol, hostname } = proxy === undefined ? target : new URL(proxy);
  return /^https?:$/.test(protocol) && !/^[\d.]+$|^\[/.test(hostname);
}

/**
 * Loads only the dispatcher, which is a third of undici. Without fetch, caches, mocks and sockets, an account takes 6
 * MB less.
 */
function loadAgent(): typeof import("undici").Agent {
  return createRequire(import.meta.url)("undici/lib/dispatcher/agent.js") as typeof import("undici").Agent;
}

/** Loads undici and the SOCKS client on first use, because they take longer to load than the rest of the plugin. */
async function createDispatcher(options: TransportOptions, connections: number, family?: 4): Promise<Dispatcher> {
  const timeout = options.connectTimeoutMs ?? 10_000;
  const shared = {
    connections,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    keepAliveTimeoutThreshold: 2_000,
    connectTimeout: timeout,
  };
  const selection = family === 4 ? false : options.autoSelectFamily;
  const connect = {
    timeout,
    autoSelectFamily: selection,
    ...(family === 4 && { family }),
  };
  if (options.proxy === undefined) {
    const Agent = loadAgent();
    return new Agent({ ...shared, connect });
  }
  const proxy = new URL(options.proxy);
  if (proxy.protocol.startsWith("socks")) {
    const { socksDispatcher } = await import("fetch-socks");
    const account =
      proxy.username === ""
        ? {}
        : { userId: decodeURIComponent(proxy.username), password: decodeURIComponent(proxy.password) };
    const host = proxy.hostname.replace(/^\[|\]$/g, "");
    return socksDispatcher(
      { type: proxy.protocol.startsWith("socks4") ? 4 : 5, host, port: Number(proxy.port || 1080), ...account },
      { ...shared, connect },
    ) as unknown as Dispatcher;
  }
  const { Pool, ProxyAgent } = await import("undici");
  // A proxy that accepts a connection but does not respond is treated like one that accepts none.
  const clientFactory = (origin: URL, own: object) => new Pool(origin, { ...own, headersTimeout: timeout });
  return new ProxyAgent({ uri: options.proxy, ...shared, proxyTls: connect, clientFactory });
}

function late(exchange: Exchange): void {
  exchange.expire();
}

/** One request in progress. It is a class because hundreds may exist at once, and methods are cheaper than closures. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<WireAnswer>;
  readonly #signal: Stoppable | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #stop = () => this.fail("ABORTED");
  readonly #body = new LimitedBody(maxAnswerBytes);
  #control: Dispatcher.DispatchController | undefined;
  #stopped = false;
  #status = 0;
  readonly #resolve: (answer: WireAnswer) => void;
  readonly #reject: (error: WireError) => void;

  constructor({ signal, timeoutMs }: Pick<WireRequest, "signal" | "timeoutMs">) {
    const { promise, resolve, reject } = Promise.withResolvers<WireAnswer>();
    this.answer = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = signal;
    this.#timer = setTimeout(late, timeoutMs, this);
    signal?.addEventListener("abort", this.#stop);
  }

  fail(code: string): void {
    if (!this.#end()) return;
    // A proxy that demands authentication has read the request but has not forwarded it.
    this.#reject(new WireError(code, this.#control !== undefined && code !== "PROXY_AUTHENTICATION"));
    this.#control?.abort(new Error(code));
  }

  expire(): void {
    this.fail(this.#control !== undefined && this.#status === 0 ? "UND_ERR_HEADERS_TIMEOUT" : "TIMEOUT");
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Called just before the first byte is written. A request stopped earlier was certainly not sent.
    if (this.#stopped) controller.abort(new Error("ABORTED"));
    else this.#control = controller;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#body.add(chunk)) this.fail("ANSWER_TOO_LARGE");
  }

  onResponseEnd(): void {
    if (!this.#end()) return;
    this.#resolve({ status: this.#status, text: this.#body.bytes().toString("utf8") });
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.fail(codeOf(error));
  }

  /** Returns false if the request has already ended. */
  #end(): boolean {
    if (this.#stopped) return false;
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#stop);
    return true;
  }
}

function exchange(dispatcher: Dispatcher, url: URL, request: WireRequest): Promise<WireAnswer> {
  if (request.signal?.aborted) return Promise.reject(new WireError("ABORTED", false));
  const under = new Exchange(request);
  try {
    dispatcher.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method,
        // The exchange's own timer ends the request before these limits would.
        headersTimeout: 0,
        bodyTimeout: 0,
        ...(request.headers && { headers: request.headers }),
        body: request.body,
      },
      under,
    );
  } catch (thrown) {
    under.fail(codeOf(thrown));
  }
  return under.answer;
}

interface Line {
  /** Uses one address family. Tries the other one if the first did not connect and the request is repeatable. */
  reach<T>(target: URL, repeatable: boolean, run: (dispatcher: Dispatcher) => Promise<T>): Promise<T>;
  /** Closes every connection. The next call opens new ones. */
  drop(): Promise<void>;
}

/** A dispatcher, or the promise of one whose libraries are being loaded. */
interface Opened {
  readonly loading: Promise<Dispatcher>;
  dispatcher?: Dispatcher;
}

function open(loading: Promise<Dispatcher>): Opened {
  const opened: Opened = { loading };
  loading.then(
    (dispatcher) => {
      opened.dispatcher = dispatcher;
    },
    () => {},
  );
  return opened;
}

function createLine(options: TransportOptions, connections: number): Line {
  let current: Opened | undefined;
  let fallback: Opened | undefined;
  let preferFallback = false;
  const primary = () => (current ??= open(createDispatcher(options, connections)));
  const secondary = () => (fallback ??= open(createDispatcher(options, connections, 4)));
  const through = <T>({ dispatcher, loading }: Opened, run: (dispatcher: Dispatcher) => Promise<T>): Promise<T> =>
    dispatcher === undefined ? loading.then(run) : run(dispatcher);
  return {
    async drop() {
      const old = [current, fallback];
      current = undefined;
      fallback = undefined;
      preferFallback = false;
      await Promise.all(
        old.map(async (each) => (await each?.loading.catch(() => undefined))?.destroy().catch(() => {})),
      );
    },
    reach(target, repeatable, run) {
      const [first, second] = preferFallback ? [secondary, primary] : [primary, secondary];
      return through(first(), run).catch(async (thrown: unknown) => {
        // An error of the storage is not a failure of the connection.
        if (thrown instanceof ChannelError) throw thrown;
        const error = thrown instanceof WireError ? thrown : new WireError(codeOf(thrown), false);
        const curable = !error.sent && familyCodes.has(error.code) && repeatable && hasFamilies(options.proxy, target);
        if (!curable) throw error;
        try {
          const answer = await through(second(), run);
          preferFallback = !preferFallback;
          return answer;
        } catch (again) {
          throw again instanceof WireError && again.sent ? again : error;
        }
      });
    },
  };
}

export function createTransport(options: TransportOptions): Transport {
  const calls = createLine(options, 64);
  const held = createLine(options, 1);
  let closed = false;
  const drop = () => Promise.all([calls.drop(), held.drop()]);
  const refuseClosed = () => {
    if (closed) throw new WireError("CLOSED", false);
  };
  return {
    request(url, request) {
      if (closed) return Promise.reject(new WireError("CLOSED", false));
      // The first attempt has consumed a stream, so it cannot be repeated.
      const repeatable = !(request.body instanceof Readable);
      return (request.held === true ? held : calls).reach(url, repeatable, (dispatcher) => {
        refuseClosed();
        return exchange(dispatcher, url, request);
      });
    },
    async download(url, how) {
      refuseClosed();
      const target = new URL(url);
      return calls.reach(target, true, (dispatcher) => {
        refuseClosed();
        return download(dispatcher, target, how);
      });
    },
    renew() {
      void drop();
    },
    async close() {
      closed = true;
      await drop();
    },
  };
}
