/**
 * A whole gateway in the process of a test: real stations, a real store, real HTTP, and people who are played by the
 * test.
 */
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isJson, type Problem } from "../../config/index.ts";
import type { Json } from "../../contract/index.ts";
import type { Gateway } from "../../gateway/index.ts";
import type { Ended, Endings } from "./endings.ts";
import { isUnexpected, loggedErrors, watchRejections } from "./faults.ts";
import { copyState } from "./moved-state.ts";
import type { TestHost, TestHostOptions } from "./options.ts";
import { realWait, usePlayedClock } from "./played-clock.ts";
import { merge } from "./settings.ts";
import { errorsIn, type Lasting, prepareParts, type Started, startParts, writeSettings } from "./start.ts";

/**
 * Limits the work that runs while the clock moves: long enough for a turn, short enough for a test of a turn that
 * hangs.
 */
const restMs = 1_000;

/**
 * How long a gateway waits for its turns when it closes: those that it still runs, and then those that it has
 * interrupted.
 */
const closingMs = ({ gateway }: Started) => gateway.config().gateway.drainSeconds * 1_000 + 2_000;

/**
 * Starts a whole gateway in this process: the real stations, store and HTTP server, in a temporary directory, with a
 * channel that needs no platform and a clock that the test controls. Rejects with the reason if a plugin does not come
 * up or the configuration has an error.
 *
 * Open test hosts control the timers of the process. Close each host, best with `await using`.
 *
 * @example
 * test("the owner pairs a device", async () => {
 *   await using host = await createTestHost({ plugins: [pair] });
 *   await host.say("/pair");
 *   expect(host).toHaveDelivered(/code: [A-Z0-9]{4}/);
 * });
 */
export async function createTestHost(options: TestHostOptions = {}): Promise<TestHost> {
  const root = await mkdtemp(join(tmpdir(), "gateway-testkit-"));
  const rejections = watchRejections();
  const clock = usePlayedClock();
  const logged: string[] = [];
  let generation = 1;
  const directory = () =>
    generation === 1 && options.directory !== undefined ? options.directory : join(root, String(generation));
  let started: Started | undefined;
  const stop = async ({ endings, gateway }: Started): Promise<void> => {
    await Promise.all([gateway.close(), endings.close()]);
    logged.push(...loggedErrors(gateway.stateDirectory));
  };
  /** Removes everything, also where it could not start. */
  const remove = async (): Promise<void> => {
    try {
      if (started !== undefined) await stop(started);
    } finally {
      clock.release();
      await rm(root, { recursive: true, force: true });
    }
  };
  const close = async (): Promise<void> => {
    await remove();
    assertExpected([...rejections.stop(), ...logged], options.allowErrors ?? []);
  };
  try {
    const lasting = prepareParts(clock, options);
    await mkdir(directory(), { recursive: true });
    started = await startParts(directory(), lasting);
    const restart: Restart = async ({ killed = false } = {}) => {
      const before = started;
      if (killed && before !== undefined) {
        const from = directory();
        generation += 1;
        await copyState(from, directory());
        lasting.channel.die();
      }
      started = undefined;
      if (before !== undefined) {
        const { moving, putOff } = await before.endings.progress();
        const stopping = stop(before);
        // What a killed process was doing never ends, and its gateway would wait for it in real time.
        await (killed && moving + putOff > 0 ? clock.playUntil(stopping, closingMs(before)) : stopping);
      }
      // The errors of a copied log are those of the gateway before.
      if (killed) await rm(join(directory(), "state", "logs"), { recursive: true, force: true });
      started = await startParts(directory(), lasting);
      return started;
    };
    return createHost(started, { lasting, restart, shutDown: close });
  } catch (error) {
    rejections.stop();
    await remove();
    throw error;
  }
}

function assertExpected(faults: readonly string[], allowed: readonly RegExp[]): void {
  const unexpected = faults.filter((fault) => isUnexpected(fault, allowed));
  if (unexpected.length === 0) return;
  throw new Error(
    `The test host saw errors that the test does not allow:\n${unexpected.map((fault) => `- ${fault}`).join("\n")}`,
  );
}

type Restart = (how?: { readonly killed?: boolean }) => Promise<Started>;

/** Waits until every event has ended or waits for a set time. */
async function rest(endings: Endings, barrier: () => Promise<void>): Promise<void> {
  let wasPutOff = false;
  for (const from = performance.now(); performance.now() - from < restMs; await realWait(2)) {
    await barrier();
    const { moving, putOff } = await endings.progress();
    // A failed send is scheduled again once the store has recorded it, hence after the next barrier.
    if (moving === 0 && (putOff === 0 || wasPutOff)) return;
    wasPutOff = moving === 0;
  }
}

function createHost(
  first: Started,
  {
    lasting,
    restart,
    shutDown,
  }: { readonly lasting: Lasting; readonly restart: Restart; readonly shutDown: () => Promise<void> },
): TestHost {
  const { channel, clock } = lasting;
  let { directory, configFile, gateway, endings } = first;
  const ended = new Map<string, Ended>();
  const note = <E extends Ended>(end: E): E => {
    ended.set(end.eventId, end);
    return end;
  };

  let restarting: Promise<void> = Promise.resolve();
  /** An event that waits at a restart ends on the gateway after it. */
  async function endOf(eventId: string): Promise<Ended> {
    for (;;) {
      const asked = endings;
      try {
        const end = await asked.wait(eventId);
        // The taps of `settled` run when the gateway's own write is answered, and it is once a later one is.
        await channel.barrier().catch(() => {});
        return note(end);
      } catch (error) {
        await restarting;
        if (asked === endings) throw error;
      }
    }
  }

  let closing: Promise<void> | undefined;
  const host: TestHost = {
    get url() {
      return gateway.url;
    },
    get directory() {
      return directory;
    },
    get configFile() {
      return configFile;
    },
    now: clock.now,
    async advance(ms) {
      await rest(endings, channel.barrier);
      await clock.advance(ms);
      await rest(endings, channel.barrier);
      for (const end of await endings.all()) note(end);
    },
    say: async (text, sayOptions = {}) => await endOf(await channel.say(text, sayOptions)),
    async press(button, by = {}) {
      const { chat, value, messageId } = channel.buttonOf(button, by);
      return endOf(await channel.say(`callback_data: ${value}`, { ...by, chat, mention: true }, { press: messageId }));
    },
    deliver: async (path, body, { headers = {} } = {}) => {
      const { path: base } = gateway.config().hooks;
      const response = await postHook(`${gateway.url}${base}/${path}`, body, {
        authorization: `Bearer ${hookToken(lasting)}`,
        ...headers,
      });
      const answer = parseAnswer(await response.text());
      const ends: Ended[] = [];
      for (const eventId of eventIdsOf(answer)) ends.push(await endOf(eventId));
      return { status: response.status, body: answer, ended: ends };
    },
    async fetch(path, init = {}) {
      const headers = new Headers(init.headers);
      if (!headers.has("authorization")) headers.set("authorization", `Bearer ${await gatewayToken(gateway)}`);
      return await fetch(new URL(path, gateway.url), { ...init, headers });
    },
    async configure(sections) {
      lasting.settings = merge(lasting.settings, sections);
      await writeSettings(configFile, lasting.settings);
      const response = await host.fetch("/gateway/reload", { method: "POST" });
      assertApplied(parseAnswer(await response.text()) as unknown as Applied);
    },
    async accounts() {
      const { accounts } = await gateway.describe();
      return accounts.map(({ channel: id, account, status: { state, code, detail, hint, identity } }) => ({
        ...{ channel: id, account, state },
        ...(code !== undefined && { code }),
        ...(detail !== undefined && { detail }),
        ...(hint !== undefined && { hint }),
        ...(identity !== undefined && { identity }),
      }));
    },
    async problems() {
      const { problems } = await gateway.describe();
      return problems.map(({ severity, path, message, hint }) => ({
        severity,
        path,
        message,
        ...(hint !== undefined && { hint }),
      }));
    },
    async restart(how) {
      restarting = restart(how).then((again) => {
        ({ directory, configFile, gateway, endings } = again);
      });
      await restarting;
    },
    outbox: () => [...channel.outbox],
    beforeSend: (ask) => {
      channel.beforeSend = ask;
    },
    ended: () => [...ended.values()],
    settled: endOf,
    async why(event) {
      const eventId = typeof event === "string" ? event : event.eventId;
      const found = await endings.find(eventId);
      if (found === undefined)
        throw new Error(`There is no event ${eventId}. Use the id that say or deliver returned.`);
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

const hookToken = ({ settings: { hooks } }: Lasting) =>
  String((hooks as { readonly token?: unknown } | undefined)?.token);

/** The headers that come last win, however they are written. */
function postHook(url: string, body: Json, headers: Readonly<Record<string, string>>): Promise<Response> {
  const isText = typeof body === "string";
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": isText && !isJson(body) ? "text/plain" : "application/json",
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    },
    body: isText ? body : JSON.stringify(body),
  });
}

/** The answer of a reload: the result, or why the file cannot be read. */
interface Applied {
  readonly problems?: readonly Problem[];
  readonly message?: string;
}

function assertApplied({ problems, message = "no answer" }: Applied): void {
  const reasons = problems === undefined ? [message] : errorsIn(problems);
  if (reasons.length > 0)
    throw new Error(`The configuration has errors:\n${reasons.map((reason) => `- ${reason}`).join("\n")}`);
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

/** The event ids in a webhook's answer, which has one event or a list of them. */
function eventIdsOf(answer: Json): readonly string[] {
  if (typeof answer !== "object" || answer === null) return [];
  const { mode, eventId, eventIds } = answer as {
    readonly mode?: unknown;
    readonly eventId?: unknown;
    readonly eventIds?: unknown;
  };
  if (mode === "next-heartbeat") return [];
  const all = Array.isArray(eventIds) ? eventIds : [eventId];
  return all.filter((id) => typeof id === "string");
}
