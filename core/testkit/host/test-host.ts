/** A whole gateway in the process of a test: real stations, a real store, real HTTP, and people who are played by the test. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "../../contract/index.ts";
import { createGateway, type Gateway } from "../../gateway/index.ts";
import { defineEngine, type EngineTurn, type PluginDefinition } from "../../sdk/contract.ts";
import { type Ended, type Endings, openEndings } from "./endings.ts";
import { loggedErrors, watchRejections } from "./faults.ts";
import { type BeforeSend, createTestChannel, type Delivered, type Said, type TestChannel } from "./loopback.ts";
import { type PlayedClock, realWait, usePlayedClock } from "./played-clock.ts";
import { testSettings } from "./settings.ts";

/** What `createTestHost` starts with. */
export interface TestHostOptions {
  /** The plugins under test, as their modules export them. The plugins that come with the package are left out. */
  readonly plugins?: readonly PluginDefinition[];
  /**
   * Sections of the configuration, such as `{ plugins: { entries: { tally: { options: {} } } } }`. They are merged over those of the test
   * host: everyone may write in the channel `loopback`, the sender `owner` owns the bot, and webhooks are on.
   */
  readonly config?: Readonly<Record<string, unknown>>;
  /** What the agent answers, where no plugin under test brings an engine. Default: `heard: <text>`. */
  readonly answer?: (turn: EngineTurn) => string | Promise<string>;
  /** Variables of the environment that the gateway and its configuration see. Default: none. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Errors in the log, and unhandled rejections, that the test means to cause. Every other one makes `close` reject. */
  readonly allowErrors?: readonly RegExp[];
}

/** How a webhook was answered, and what became of it. */
export interface WebhookAnswer {
  readonly status: number;
  /** Parsed JSON, or the text of an answer of another type. */
  readonly body: Json;
  /** How each event that it led to ended, in order. */
  readonly ended: readonly Ended[];
}

/** A gateway under test; see `createTestHost`. */
export interface TestHost extends AsyncDisposable {
  /** Base address of its HTTP server, such as `http://127.0.0.1:40123`. */
  readonly url: string;
  /** Epoch milliseconds of the played clock, which is the one that plugins read by `host.now()`. */
  now(): number;
  /**
   * Moves the clock, and runs the timers of this process that fall due on the way, in order. Resolves when what they caused has ended, too.
   * What runs when it is called ends first, or has a second for that. `Date` and `node:timers/promises` keep real time.
   *
   * @example
   * await host.advance(10 * 60_000);
   */
  advance(ms: number): Promise<void>;
  /**
   * A person writes in the loopback channel. Resolves when the event has ended, with its outcome; rejects when it has not after 10 s.
   *
   * @example
   * const { outcome, reason } = await host.say("/pair", { from: "stranger" });
   */
  say(text: string, said?: Said): Promise<Ended>;
  /**
   * Posts a webhook to `hooks.path`, with the hook token unless the headers have an `authorization`. A text is sent as it is, anything else
   * as JSON. Resolves when every event that its answer names has ended, except those that wait for the next heartbeat.
   *
   * @example
   * await host.deliver("uptime", { monitor: "site", status: "down" });
   */
  deliver(path: string, body: Json, options?: { readonly headers?: Readonly<Record<string, string>> }): Promise<WebhookAnswer>;
  /**
   * Requests a route, such as `/plugins/tally/counts`, with the gateway token unless the request has an `authorization`.
   *
   * @example
   * expect(await (await host.fetch("/plugins/tally/counts")).json()).toEqual({ answered: 1 });
   */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** What the loopback channel sent, oldest first. */
  outbox(): readonly Delivered[];
  /** Makes the loopback channel ask before each message it sends; a `ChannelError` that it throws is the platform's answer. */
  beforeSend(ask: BeforeSend): void;
  /** How the events ended that `say` and `deliver` waited for, and those that ended by the last `advance`; oldest first. */
  ended(): readonly Ended[];
  /** What each station decided about an event, by its id or by what `say` resolved with. Rejects when there is no such event. */
  why(event: string | Pick<Ended, "eventId">): Promise<Ended["decisions"]>;
  /**
   * Closes the gateway and removes its files; idempotent. Rejects with one line for each error in the log and each unhandled rejection that
   * `allowErrors` does not name. `await using` calls it.
   */
  close(): Promise<void>;
}

/** For what runs while the clock moves: long enough for a turn, short enough for a test of one that hangs. */
const restMs = 1_000;

/** Answers where no plugin under test does: engines are tried in the order in which they were registered. */
function testEngine(answer: NonNullable<TestHostOptions["answer"]>): PluginDefinition {
  return defineEngine({
    id: "test-engine",
    version: "1.0.0",
    host: "*",
    async *run(turn) {
      yield { type: "text", delta: await answer(turn) };
      yield { type: "done" };
    },
  });
}

interface Started {
  readonly gateway: Gateway;
  readonly channel: TestChannel;
  readonly endings: Endings;
  readonly clock: PlayedClock;
  readonly hookToken: string;
}

/**
 * Starts a whole gateway in this process: the real stations, store and HTTP server, in a temporary directory, with a channel that needs no
 * platform and a clock that the test moves. Rejects when a plugin does not come up or the configuration has an error, with the reason.
 *
 * The timers of the process belong to the test hosts that are open; close each host, best by `await using`.
 *
 * @example
 * test("the owner pairs a device", async () => {
 *   await using host = await createTestHost({ plugins: [pair] });
 *   await host.say("/pair");
 *   expect(host).toHaveDelivered(/code: [A-Z0-9]{4}/);
 * });
 */
export async function createTestHost(options: TestHostOptions = {}): Promise<TestHost> {
  const directory = await mkdtemp(join(tmpdir(), "gateway-testkit-"));
  const rejections = watchRejections();
  const clock = usePlayedClock();
  let started: Started | undefined;
  /** Removes everything, also where it could not start. Resolves with what went wrong beside the path. */
  const remove = async (): Promise<readonly string[]> => {
    try {
      await started?.gateway.close();
      await started?.endings.close();
      return started === undefined ? [] : loggedErrors(started.gateway.stateDirectory);
    } finally {
      clock.release();
      await rm(directory, { recursive: true, force: true });
    }
  };
  const close = async (): Promise<void> => {
    const logged = await remove();
    assertExpected([...rejections.stop(), ...logged], options.allowErrors ?? []);
  };
  try {
    started = await start(directory, clock, options);
  } catch (error) {
    rejections.stop();
    await remove();
    throw error;
  }
  return createHost(started, close);
}

function assertExpected(faults: readonly string[], allowed: readonly RegExp[]): void {
  const unexpected = faults.filter((fault) => allowed.every((pattern) => fault.search(pattern) < 0));
  if (unexpected.length === 0) return;
  throw new Error(`The test host saw errors that the test does not allow:\n${unexpected.map((fault) => `- ${fault}`).join("\n")}`);
}

async function start(directory: string, clock: PlayedClock, options: TestHostOptions): Promise<Started> {
  const { plugins = [], config = {}, answer = (turn) => `heard: ${turn.inbound.text}`, environment = {} } = options;
  const configFile = join(directory, "config.jsonc");
  const settings = testSettings(config);
  await writeFile(configFile, JSON.stringify(settings));
  const channel = createTestChannel();
  const gateway = await createGateway({
    ...{ configFile, environment, home: directory, bundled: false },
    plugins: [channel.plugin, ...plugins, testEngine(answer)],
    now: clock.now,
    elapsed: clock.elapsed,
  });
  try {
    await assertUp(gateway);
    const endings = await openEndings({ stateDirectory: gateway.stateDirectory, now: clock.now });
    return { gateway, channel, endings, clock, hookToken: String((settings.hooks as { readonly token?: unknown }).token) };
  } catch (error) {
    await gateway.close();
    throw error;
  }
}

/** A plugin that is left out would fail a test later, and with a worse reason. */
async function assertUp(gateway: Gateway): Promise<void> {
  const { plugins, problems } = await gateway.describe();
  const reasons = [
    ...plugins.flatMap(({ id, state, reason }) => (state === "failed" ? [reason ?? `The plugin ${id} failed.`] : [])),
    ...problems
      .filter(({ severity }) => severity === "error")
      .map(({ path, message, hint }) => `${path}: ${message}. ${hint ?? ""}`.trim()),
  ];
  if (reasons.length > 0) throw new Error(`The test host did not come up:\n${reasons.map((reason) => `- ${reason}`).join("\n")}`);
}

function createHost({ gateway, channel, endings, clock, hookToken }: Started, shutDown: () => Promise<void>): TestHost {
  const ended = new Map<string, Ended>();
  const note = <E extends Ended>(end: E): E => {
    ended.set(end.eventId, end);
    return end;
  };

  /** Waits until nothing moves: each event has ended, or waits for a time. */
  async function rest(): Promise<void> {
    for (const from = performance.now(); performance.now() - from < restMs; await realWait(2)) {
      // A send that failed waits for its time once the store knows of it.
      await channel.barrier();
      if ((await endings.moving()) <= channel.retrying()) return;
    }
  }

  let closing: Promise<void> | undefined;
  const host: TestHost = {
    url: gateway.url,
    now: clock.now,
    async advance(ms) {
      await rest();
      await clock.advance(ms);
      await rest();
      for (const end of await endings.all()) note(end);
    },
    say: async (text, said = {}) => note(await endings.wait(await channel.say(text, said))),
    deliver: async (path, body, { headers = {} } = {}) => {
      const { path: base } = gateway.config().hooks;
      const isText = typeof body === "string";
      const response = await fetch(`${gateway.url}${base}/${path}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${hookToken}`,
          "content-type": isText ? "text/plain" : "application/json",
          ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
        },
        body: isText ? body : JSON.stringify(body),
      });
      const answer = parseAnswer(await response.text());
      const ends: Ended[] = [];
      for (const eventId of eventIdsOf(answer)) ends.push(note(await endings.wait(eventId)));
      return { status: response.status, body: answer, ended: ends };
    },
    async fetch(path, init = {}) {
      const headers = new Headers(init.headers);
      if (!headers.has("authorization")) headers.set("authorization", `Bearer ${await gatewayToken(gateway)}`);
      return await fetch(new URL(path, gateway.url), { ...init, headers });
    },
    outbox: () => [...channel.outbox],
    beforeSend: (ask) => {
      channel.beforeSend = ask;
    },
    ended: () => [...ended.values()],
    async why(event) {
      const eventId = typeof event === "string" ? event : event.eventId;
      const found = await endings.find(eventId);
      if (found === undefined) throw new Error(`There is no event ${eventId}. Ask with the id that say or deliver resolved with.`);
      return found.decisions;
    },
    close() {
      closing ??= shutDown();
      return closing;
    },
    [Symbol.asyncDispose]: () => host.close(),
  };
  return host;
}

async function gatewayToken({ stateDirectory }: Gateway): Promise<string> {
  return (await readFile(join(stateDirectory, "gateway-token"), "utf8")).trim();
}

function parseAnswer(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** Of an answer to a webhook: one event, or a list of them. */
function eventIdsOf(answer: Json): readonly string[] {
  if (typeof answer !== "object" || answer === null) return [];
  const { mode, eventId, eventIds } = answer as { readonly mode?: unknown; readonly eventId?: unknown; readonly eventIds?: unknown };
  if (mode === "next-heartbeat") return [];
  const all = Array.isArray(eventIds) ? eventIds : [eventId];
  return all.filter((id) => typeof id === "string");
}
