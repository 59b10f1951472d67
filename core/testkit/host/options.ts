/** The options of a test host, and its interface. */
import type { Problem } from "../../config/index.ts";
import type { Json } from "../../contract/index.ts";
import type { ChannelStatus, EngineTurn, PluginDefinition, TurnEvent } from "../../sdk/contract.ts";
import type { Ended } from "./endings.ts";
import type { BeforeSend, Delivered, SayOptions } from "./loopback.ts";

/** Options of `createTestHost`. */
export interface TestHostOptions {
  /** The plugins under test, as exported by their modules. The bundled plugins are not loaded. */
  readonly plugins?: readonly PluginDefinition[];
  /**
   * Sections of the configuration, such as `{ plugins: { entries: { tally: { options: {} } } } }`. They are merged over
   * the defaults of the test host: everyone may write in the channel `loopback`, the sender `owner` owns the bot, and
   * webhooks are on. `undefined` removes one.
   */
  readonly config?: Readonly<Record<string, unknown>>;
  /**
   * The agent's reply, if no plugin under test provides an engine: its text, or the events of an engine, such as calls
   * of tools. Default: `heard: <text>`. The configuration names the engine that replies `test-engine`, as in
   * `agents.defaults.engine`, if models are chosen.
   *
   * @example
   * answer: ({ inbound }) => (inbound.text === "ping" ? "pong" : "NO_REPLY"),
   */
  readonly answer?: (turn: EngineTurn, signal: AbortSignal) => string | Promise<string> | AsyncIterable<TurnEvent>;
  /**
   * An existing directory to run in, with files that the configuration names, such as transforms, skills or plugins in
   * `plugins.load`. `config.jsonc` and `state` are written there, and remain after `close`. Default: a new one, which
   * `close` removes.
   */
  readonly directory?: string;
  /** Environment variables for the gateway and its configuration. Default: none. */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * Errors that the test causes on purpose: plugins that do not come up and errors of the configuration, which
   * otherwise make `createTestHost` reject; errors in the log and unhandled rejections, which otherwise make `close`
   * reject.
   *
   * @example
   * allowErrors: [/^plugins\.entries\.tally\.options/],
   */
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
export interface AccountState extends Pick<ChannelStatus, "state" | "code" | "detail" | "hint" | "identity"> {
  readonly channel: string;
  readonly account: string;
}

/** An error or a warning of the configuration. */
export interface ConfigurationProblem extends Pick<Problem, "severity" | "message" | "hint"> {
  /** The setting, such as `plugins.entries.tally.options.limit`. */
  readonly path: string;
}

/** A gateway under test; see `createTestHost`. */
export interface TestHost extends AsyncDisposable {
  /** Base address of its HTTP server, such as `http://127.0.0.1:40123`. */
  readonly url: string;
  /** Its directory, with the state in `state`. It changes at a restart with `killed`. */
  readonly directory: string;
  /**
   * Its configuration file, for commands of the program that run beside it.
   *
   * @example
   * execFileSync("npx", ["service", "why", "last", "--config", host.configFile]);
   */
  readonly configFile: string;
  /** Epoch milliseconds of the simulated clock, which plugins read with `host.now()`. */
  now(): number;
  /**
   * Moves the clock forward, and runs this process's timers that fall due meanwhile, in order. Resolves when everything
   * they caused has ended. Work that is already running ends first, or gets one second; a send that waits to be
   * repeated just waits. `Date` and `node:timers/promises` keep real time.
   *
   * @example
   * await host.advance(10 * 60_000);
   */
  advance(ms: number): Promise<void>;
  /**
   * A person writes in the loopback channel, with or without files, or edits or presses; see `SayOptions`. Resolves
   * when the event has ended, with its outcome; rejects when it has not after 10 s. An event that is under way at a
   * `restart` may end on the gateway after it.
   *
   * @example
   * const { outcome, reason } = await host.say("/pair", { from: "stranger" });
   * await host.say("What is this?", { files: [{ name: "photo.png", bytes: png }] });
   */
  say(text: string, options?: SayOptions): Promise<Ended>;
  /**
   * A person presses a button: the last one with this text or value that the bot sent to the chat. Resolves when the
   * event has ended, and rejects when there is no such button.
   *
   * @example
   * await host.say("/pair");
   * await host.press("Approve");
   */
  press(button: string, by?: Pick<SayOptions, "from" | "name" | "chat" | "group" | "thread">): Promise<Ended>;
  /**
   * Posts a webhook to `hooks.path`, with the hook token unless the headers have an `authorization`. A text is sent
   * byte for byte, as a signature needs it: as JSON if it is JSON, else as `text/plain`, which only a mapping with
   * `body: "text"` takes; others answer 415. Name another type in the headers, such as that of a form. Anything but a
   * text is sent as JSON. Resolves when every event that its answer names has ended, except those that wait for the
   * next heartbeat.
   *
   * @example
   * await host.deliver("uptime", { monitor: "site", status: "down" });
   * await host.deliver("github", recordedBody, { headers: { "x-hub-signature-256": signature } });
   * await host.deliver("slash", "text=deploy", { headers: { "content-type": "application/x-www-form-urlencoded" } });
   */
  deliver(
    path: string,
    body: Json,
    options?: { readonly headers?: Readonly<Record<string, string>> },
  ): Promise<WebhookAnswer>;
  /**
   * Requests a route, such as `/plugins/tally/counts`, with the gateway token unless the request has an `authorization`
   * header.
   *
   * @example
   * expect(await (await host.fetch("/plugins/tally/counts")).json()).toEqual({ answered: 1 });
   */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /**
   * Changes the configuration as an edit of its file does: the sections are merged over those of before, and
   * `undefined` removes a key. Resolves when the change is in effect. Rejects with the reasons if the new configuration
   * has an error.
   *
   * @example
   * await host.configure({ channels: { acme: { greeting: "Hi" } } });
   */
  configure(sections: Readonly<Record<string, unknown>>): Promise<void>;
  /**
   * What is wrong with the configuration, warnings included.
   *
   * @example
   * // The settings in the plugin's README are valid.
   * await using host = await createTestHost({ plugins: [tally], config: exampleOfReadme });
   * expect(await host.problems()).toEqual([]);
   */
  problems(): Promise<readonly ConfigurationProblem[]>;
  /** The channel accounts and their states, including the loopback channel's. */
  accounts(): Promise<readonly AccountState[]>;
  /**
   * Closes the gateway and starts it again on the same state, with the same plugins. With `killed`, the new one gets
   * the state as it is at this moment, as after the end of a process: what ran is left to the new gateway, and the old
   * one sends nothing more in the channel `loopback`. If anything ran, the clock moves on while the old one closes, by
   * at most `gateway.drainSeconds` and two seconds. The base address changes.
   *
   * @example
   * await host.say("/remind tomorrow");
   * await host.restart();
   */
  restart(how?: { readonly killed?: boolean }): Promise<void>;
  /** What the loopback channel sent, oldest first. */
  outbox(): readonly Delivered[];
  /**
   * Sets a function that the loopback channel calls before each message. If it throws a `ChannelError`, that is the
   * platform's answer.
   */
  beforeSend(ask: BeforeSend): void;
  /** The events that `say` and `deliver` waited for, and those that ended during the last `advance`; oldest first. */
  ended(): readonly Ended[];
  /**
   * Resolves when an event has ended, such as one that a plugin submitted; rejects when it has not after 10 s.
   *
   * @example
   * const { eventId } = await plugin.hook("letter", { text: "Dear gateway" }, { key: "1" });
   * expect(await host.settled(eventId)).toMatchObject({ outcome: "answered" });
   */
  settled(eventId: string): Promise<Ended>;
  /**
   * What each station decided about an event, given its id or the result of `say`. Rejects if there is no such event.
   */
  why(event: string | Pick<Ended, "eventId">): Promise<Ended["decisions"]>;
  /**
   * Closes the gateway and removes its files; idempotent. Rejects with each logged error, and each unhandled rejection
   * and the calls that led to it, that `allowErrors` does not match. `await using` calls it.
   */
  close(): Promise<void>;
}
