/** The options of a test host, and its interface. */
import type { Json } from "../../contract/index.ts";
import type { ChannelStatus, EngineTurn, PluginDefinition } from "../../sdk/contract.ts";
import type { Ended } from "./endings.ts";
import type { BeforeSend, Delivered, Said } from "./loopback.ts";

/** Options of `createTestHost`. */
export interface TestHostOptions {
  /** The plugins under test, as exported by their modules. The bundled plugins are not loaded. */
  readonly plugins?: readonly PluginDefinition[];
  /**
   * Sections of the configuration, such as `{ plugins: { entries: { tally: { options: {} } } } }`. They are merged over the defaults of the
   * test host: everyone may write in the channel `loopback`, the sender `owner` owns the bot, and webhooks are on.
   */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The agent's reply, if no plugin under test provides an engine. Default: `heard: <text>`. */
  readonly answer?: (turn: EngineTurn) => string | Promise<string>;
  /** Environment variables for the gateway and its configuration. Default: none. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Errors in the log and unhandled rejections that the test causes on purpose. Any other one makes `close` reject. */
  readonly allowErrors?: readonly RegExp[];
}

/** The answer to a webhook, and the events it led to. */
export interface WebhookAnswer {
  readonly status: number;
  /** Parsed JSON, or the text of an answer of another type. */
  readonly body: Json;
  /** How each resulting event ended, in order. */
  readonly ended: readonly Ended[];
}

/** The state of one channel account. */
export interface AccountState extends Pick<ChannelStatus, "state" | "detail"> {
  readonly channel: string;
  readonly account: string;
}

/** A gateway under test; see `createTestHost`. */
export interface TestHost extends AsyncDisposable {
  /** Base address of its HTTP server, such as `http://127.0.0.1:40123`. */
  readonly url: string;
  /** Epoch milliseconds of the simulated clock, which plugins read with `host.now()`. */
  now(): number;
  /**
   * Moves the clock forward, and runs this process's timers that fall due meanwhile, in order. Resolves when everything they caused has
   * ended. Work that is already running ends first, or gets one second. `Date` and `node:timers/promises` keep real time.
   *
   * @example
   * await host.advance(10 * 60_000);
   */
  advance(ms: number): Promise<void>;
  /**
   * A person writes in the loopback channel. Resolves with the event's outcome when it has ended; rejects if it has not ended after 10 s.
   *
   * @example
   * const { outcome, reason } = await host.say("/pair", { from: "stranger" });
   */
  say(text: string, said?: Said): Promise<Ended>;
  /**
   * Posts a webhook to `hooks.path`, with the hook token unless the headers contain `authorization`. A text is sent unchanged, anything
   * else as JSON. Resolves when every event named in the answer has ended, except those that wait for the next heartbeat.
   *
   * @example
   * await host.deliver("uptime", { monitor: "site", status: "down" });
   */
  deliver(path: string, body: Json, options?: { readonly headers?: Readonly<Record<string, string>> }): Promise<WebhookAnswer>;
  /**
   * Requests a route, such as `/plugins/tally/counts`, with the gateway token unless the request has an `authorization` header.
   *
   * @example
   * expect(await (await host.fetch("/plugins/tally/counts")).json()).toEqual({ answered: 1 });
   */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** The channel accounts and their states, including the loopback channel's. */
  accounts(): Promise<readonly AccountState[]>;
  /** What the loopback channel sent, oldest first. */
  outbox(): readonly Delivered[];
  /** Sets a function that the loopback channel calls before each message. If it throws a `ChannelError`, that is the platform's answer. */
  beforeSend(ask: BeforeSend): void;
  /** The events that `say` and `deliver` waited for, and those that ended during the last `advance`; oldest first. */
  ended(): readonly Ended[];
  /** What each station decided about an event, given its id or the result of `say`. Rejects if there is no such event. */
  why(event: string | Pick<Ended, "eventId">): Promise<Ended["decisions"]>;
  /**
   * Closes the gateway and removes its files; idempotent. Rejects with one line for each logged error and each unhandled rejection that
   * `allowErrors` does not match. `await using` calls it.
   */
  close(): Promise<void>;
}
