import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { pluginDeadlines } from "../../../core/host/deadline.ts";
import type {
  EngineDefinition,
  HookName,
  PluginDefinition,
  PluginHost,
  TurnEvent,
} from "../../../core/sdk/contract.ts";
import { hookDeadlines } from "../../../core/stations/stations.ts";
import { removeDirectory } from "../../support/directory.ts";
import { type Fault, faults, misbehave, platformAnswers, playTimers, plugin } from "../../support/faults.ts";
import { createEngine, createLoopback, repeat, startGateway, type TestGateway } from "../../support/gateway.ts";

let running: TestGateway | undefined;

beforeEach(playTimers);

afterEach(async () => {
  vi.useRealTimers();
  await running?.gateway.close();
  if (running !== undefined) removeDirectory(running.directory);
  running = undefined;
});

async function start(plugins: readonly PluginDefinition[], config: object = {}) {
  const loopback = createLoopback();
  const open = { channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } } };
  running = await startGateway({ config: { ...open, ...config }, plugins: [loopback.plugin, ...plugins] });
  return { ...running, loopback };
}

const log = () => readFileSync(join(running?.gateway.stateDirectory ?? "", "logs", "gateway.log"), "utf8");
const logged = (line: RegExp) => vi.waitFor(() => expect(log()).toMatch(line), { timeout: 60_000, interval: 20 });
const token = () => readFileSync(join(running?.gateway.stateDirectory ?? "", "gateway-token"), "utf8").trim();
const request = (
  path: string,
  { bearer = token(), method = "GET" }: { readonly bearer?: string; readonly method?: string } = {},
) => fetch(`${running?.gateway.url}${path}`, { method, headers: { authorization: `Bearer ${bearer}` } });

describe("an engine", () => {
  const never = new Promise<never>(() => {});
  async function* stream(...events: readonly unknown[]): AsyncGenerator<TurnEvent> {
    for (const event of events) yield event as TurnEvent;
  }
  const runs: Readonly<Record<string, () => unknown>> = {
    "throws at once": () => misbehave("throws", { ms: 0 }),
    "returns a promise": () => misbehave("rejects", { ms: 0 }),
    "returns no stream": () => 5,
    rejects: () => ({ [Symbol.asyncIterator]: () => ({ next: () => misbehave("rejects", { ms: 0 }) }) }),
    "never answers": () => ({
      [Symbol.asyncIterator]: () => ({ next: () => misbehave("never answers", { ms: 3_000 }) }),
    }),
    "answers late": () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => misbehave("answers late", { ms: 3_000, good: { value: { type: "text", delta: "late" } } }),
      }),
    }),
    "stops in the middle": async function* () {
      yield { type: "text", delta: "half" };
      void misbehave("never answers", { ms: 3_000 });
      await never;
    },
    "has an event that is none": () => stream(5),
    "has a text without a text": () => stream({ type: "text" }),
    "has a file that is none": () => stream({ type: "text", delta: "a" }, { type: "media", media: 5 }),
    "has buttons that are none": () => stream({ type: "text", delta: "a" }, { type: "buttons", buttons: [5] }),
    "has usage that is none": () => stream({ type: "text", delta: "a" }, { type: "usage" }),
  };

  test("that fails causes one apology and is called once, and the trace names its plugin", async () => {
    const calls: string[] = [];
    const run = (({ inbound: { text } }: { readonly inbound: { readonly text: string } }) => {
      calls.push(text);
      return runs[text]?.() ?? stream({ type: "text", delta: "works" }, { type: "done" });
    }) as unknown as EngineDefinition["run"];
    const { loopback, settled } = await start([plugin("brain", (host) => host.engine({ id: "thinker", run }))], {
      agents: { defaults: { timeoutSeconds: 3 } },
    });
    for (const fault of Object.keys(runs)) {
      const report = await settled(await loopback.say(fault));
      expect(report, fault).toMatchObject({ outcome: "failed", attempts: 1 });
      const deciding = report.decisions.findLast(({ station }) => station === "turn");
      expect(deciding, fault).toMatchObject({ plugin: "brain", verdict: "failed" });
    }
    expect(loopback.sent.map(({ text }) => text)).toEqual(
      Object.keys(runs).map(() => expect.stringContaining("Sorry")),
    );
    expect(await settled(await loopback.say("fine"))).toMatchObject({ outcome: "answered" });
    expect(calls).toEqual([...Object.keys(runs), "fine"]);
  });

  test.each(faults)("whose prepare function %s still answers", async (fault) => {
    const prepare = () => misbehave(fault, { ms: pluginDeadlines.prepare }) as never;
    const run = () => stream({ type: "text", delta: "works" }, { type: "done" });
    const { loopback, settled } = await start([
      plugin("brain", (host) => host.engine({ id: "thinker", run, prepare })),
    ]);
    expect(await settled(await loopback.say("hi"))).toMatchObject({ outcome: "answered" });
    if (fault !== "returns junk") await logged(/brain [^"]*prepare of the engine thinker/);
  });
});

describe("a tap", () => {
  const good: Partial<Record<HookName, unknown>> = { delivery: { messageId: "1" } };
  const junk: Partial<Record<HookName, unknown>> = {
    gating: true,
    ingress: { kind: "message" },
    formatting: { text: 5 },
  };
  const ends: Readonly<Record<Exclude<HookName, "settled">, { readonly outcome: string; readonly reason?: string }>> = {
    ingress: { outcome: "failed", reason: "ingress_failed" },
    gating: { outcome: "refused", reason: "gate_failed" },
    routing: { outcome: "failed", reason: "routing_failed" },
    turn: { outcome: "failed" },
    formatting: { outcome: "failed", reason: "formatting_failed" },
    delivery: { outcome: "failed", reason: "send_fate_unknown" },
  };
  test.each(Object.keys(ends) as (keyof typeof ends)[])(
    "of %s that misbehaves has the documented effect in its plugin's name, without a second turn",
    async (hook) => {
      const calls: string[] = [];
      const engine = createEngine(({ inbound }) => {
        calls.push(inbound.text);
        return inbound.text;
      });
      const tap = (first: unknown) => {
        const fault = faults.find((one) => JSON.stringify(first).includes(one));
        return fault && misbehave(fault, { ms: hookDeadlines[hook], good: good[hook], junk: junk[hook] ?? 5 });
      };
      const guest = plugin("guest", (host) => host.tap(hook, tap as never, { order: "early" }));
      const quick = { attempts: 2, minDelayMs: 1, maxDelayMs: 2 };
      const { loopback, settled } = await start([guest, engine], {
        channels: { loopback: { dmPolicy: "open", allowFrom: ["*"], retry: quick } },
      });
      platformAnswers(loopback.answers);
      for (const fault of faults) {
        const report = await settled(await loopback.say(fault));
        expect(report, fault).toMatchObject({ ...ends[hook], attempts: 1 });
        const deciding = report.decisions.findLast(({ verdict }) => verdict === report.outcome);
        expect(deciding, fault).toMatchObject({ plugin: "guest" });
      }
      expect(await settled(await loopback.say("fine"))).toMatchObject({ outcome: "answered" });
      expect(calls).toEqual([...(hook === "formatting" || hook === "delivery" ? faults : []), "fine"]);
    },
  );

  test.each(faults)("of settled that %s has no effect", async (fault) => {
    const guest = plugin("guest", (host) =>
      host.tap("settled", () => misbehave(fault, { ms: hookDeadlines.settled }) as never),
    );
    const { loopback, settled } = await start([guest, repeat]);
    expect(await settled(await loopback.say("hi"))).toMatchObject({ outcome: "answered", attempts: 1 });
    if (fault !== "returns junk") await logged(/"plugin":"guest","error":"[^"]*settled/);
  });

  test("of turn with an endless stream ends at the agent's timeout, or earlier by /stop", async () => {
    const begun = Promise.withResolvers<void>();
    const guest = plugin("guest", (host) =>
      host.tap("turn", ({ text }) =>
        text === "hang"
          ? {
              [Symbol.asyncIterator]: () => ({
                next: () => {
                  begun.resolve();
                  return new Promise<never>(() => {});
                },
              }),
            }
          : undefined,
      ),
    );
    const { loopback, settled } = await start([guest, repeat], { agents: { defaults: { timeoutSeconds: 60 } } });
    const first = await loopback.say("hang");
    await begun.promise;
    await settled(await loopback.say("/stop"));
    expect(await settled(first)).toMatchObject({ outcome: "silent", reason: "stopped" });
    const second = await loopback.say("hang");
    await vi.waitFor(() => expect(log()).toContain('"reason":"stopped"'), 60_000);
    setTimeout(() => {}, 0);
    await new Promise((resolve) => realTimeout(resolve, 200));
    vi.advanceTimersByTime(60_000);
    const report = await settled(second);
    expect(report).toMatchObject({ outcome: "failed", reason: "turn_timeout" });
    expect(report.decisions.findLast(({ station }) => station === "turn")).toMatchObject({ plugin: "guest" });
  });
});

const realTimeout = globalThis.setTimeout;

describe("a plugin's command, route, check or device check", () => {
  const guest = (setup: (host: PluginHost) => void) => plugin("guest", setup);

  test("a command that misbehaves causes an apology, and the trace names its plugin", async () => {
    const run = ({ args }: { readonly args: string }) =>
      misbehave(args as Fault, { ms: pluginDeadlines.command, good: "late" }) as never;
    const { loopback, settled } = await start([
      guest((host) => host.command({ name: "ping", summary: "Answers.", role: "anyone", run })),
      repeat,
    ]);
    for (const fault of faults) {
      const report = await settled(await loopback.say(`/ping ${fault}`));
      expect(report, fault).toMatchObject({ outcome: "failed", attempts: 1 });
      const deciding = report.decisions.findLast(({ station }) => station === "turn");
      expect(deciding, fault).toMatchObject({ plugin: "guest", detail: expect.stringContaining("/ping") });
    }
    expect(loopback.sent.map(({ text }) => text)).toEqual(faults.map(() => expect.stringContaining("Sorry")));
    expect(await settled(await loopback.say("hi"))).toMatchObject({ outcome: "answered" });
  });

  test("a route that misbehaves returns 500, and the log names its plugin", async () => {
    const handler = ({ params }: { readonly params: Readonly<Record<string, string>> }) =>
      misbehave(params.fault as Fault, { ms: pluginDeadlines.route, good: { body: "late" } }) as never;
    await start([
      guest((host) => host.route({ method: "GET", path: "things/:fault", access: "gateway", handler })),
      repeat,
    ]);
    for (const fault of faults)
      expect((await request(`/plugins/guest/things/${encodeURIComponent(fault)}`)).status, fault).toBe(500);
    await vi.waitFor(
      () => expect(log().match(/guest [^"]*GET \/plugins\/guest\/things/g)).toHaveLength(faults.length),
      60_000,
    );
    expect((await request("/gateway/describe")).status).toBe(200);
  });

  test("a header that HTTP does not allow returns 500 without its text, and the log names the plugin", async () => {
    const headers = { "content-disposition": 'attachment; filename="\u20ac.pdf"' };
    await start([
      guest((host) =>
        host.route({ method: "GET", path: "file", access: "gateway", handler: () => ({ body: "x", headers }) }),
      ),
    ]);
    const answer = await request("/plugins/guest/file");
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({
      ok: false,
      code: "internal",
      error: expect.not.stringContaining("disposition"),
    });
    await logged(/The plugin guest [^"]*GET \/plugins\/guest\/file[^"]*Invalid character in header/);
  });

  test.each<[string, () => unknown]>([
    ["throws", () => misbehave("throws", { ms: 0 })],
    ["returns nothing", () => undefined],
    ["has an invalid entry", () => [null]],
    ["has an entry without a state", () => [{ source: "box", account: "ada", reason: "", fix: "" }]],
  ])("a status report that %s is omitted and logged once, and the gateway stays ready", async (_, broken) => {
    const fine = { source: "box", account: "eve", state: "paused", reason: "It waits.", fix: "" } as const;
    const { gateway } = await start([
      guest((host) => [host.status(() => [fine]), host.status(broken as never)].pop()),
      repeat,
    ]);
    for (let n = 0; n < 2; n += 1) {
      const ready = await request("/readyz");
      expect([ready.status, await ready.json()]).toMatchObject([
        200,
        { ok: true, reasons: ["box:eve is paused: It waits."] },
      ]);
    }
    expect((await gateway.describe()).watched).toEqual({ guest: [fine] });
    await logged(/"plugin":"guest".*a report of the plugin for status is left out/);
    expect(log().match(/is left out/g)).toHaveLength(1);
  });

  test("a route's stream is cut off when it stalls and ends when it fails; the log names the plugin", async () => {
    const streams: Readonly<Record<string, () => object>> = {
      quiet: () => ({
        body: Readable.from(
          (async function* () {
            yield "half";
            await misbehave("never answers", { ms: pluginDeadlines.route });
          })(),
        ),
      }),
      slow: () => ({ body: Readable.from(["one", "two"], { objectMode: false }) }),
      broken: () => ({ events: { [Symbol.asyncIterator]: () => misbehave("throws", { ms: 0 }) } }),
    };
    const handler = ({ params }: { readonly params: Readonly<Record<string, string>> }) =>
      streams[params.of ?? ""]?.() ?? {};
    await start([
      guest((host) => host.route({ method: "GET", path: "streams/:of", access: "gateway", handler: handler as never })),
      repeat,
    ]);
    await expect(request("/plugins/guest/streams/quiet").then((answer) => answer.text())).rejects.toThrow();
    await logged(
      /"plugin":"guest","error":"The plugin guest did not answer at GET \/plugins\/guest\/streams\/:of within 120 s/,
    );
    expect(await (await request("/plugins/guest/streams/broken")).text()).toBe("");
    await logged(
      /The plugin guest failed at GET \/plugins\/guest\/streams\/:of: the plugin is broken[^"]*","msg":"an event stream/,
    );
    expect(await (await request("/plugins/guest/streams/slow")).text()).toBe("onetwo");
  });

  test.each(faults)("a check that %s is reported as failed", async (fault) => {
    const explain = () =>
      misbehave(fault, { ms: pluginDeadlines.check, good: { verdict: "ok", reason: "late" } }) as never;
    const fine = async () => ({ verdict: "ok" as const, reason: "all is well" });
    await start([
      guest((host) => [host.check({ name: "broken", explain }), host.check({ name: "fine", explain: fine })].pop()),
      repeat,
    ]);
    const { checks } = (await (await request("/gateway/checks", { method: "POST" })).json()) as {
      readonly checks: readonly object[];
    };
    expect(checks).toMatchObject([
      { plugin: "guest", name: "broken", verdict: "fail" },
      { plugin: "guest", name: "fine", verdict: "ok" },
    ]);
  });

  test.each(faults)("a device check that %s accepts no token, and the next plugin is asked", async (fault) => {
    const broken = () => misbehave(fault, { ms: pluginDeadlines.device, good: true }) as never;
    const careful = plugin("careful", (host) => host.devices((given) => given === "tablet"));
    await start([guest((host) => host.devices(broken)), careful, repeat]);
    expect((await request("/gateway/describe", { bearer: "phone" })).status).toBe(401);
    expect((await request("/gateway/describe", { bearer: "tablet" })).status).toBe(200);
    if (fault !== "returns junk") await logged(/"plugin":"guest","error"/);
  });
});

describe("onReady and onClose", () => {
  test.each(faults)("that %s: the gateway starts and closes, and the log names the plugin", async (fault: Fault) => {
    const broken = plugin("guest", (host) => {
      host.onReady(() => misbehave(fault, { ms: pluginDeadlines.onReady }) as never);
      host.onClose(() => misbehave(fault, { ms: pluginDeadlines.onClose }) as never);
    });
    const { gateway, loopback, settled } = await start([broken, repeat]);
    expect(await settled(await loopback.say("hi"))).toMatchObject({ outcome: "answered" });
    await gateway.close();
    if (fault === "returns junk") return;
    await logged(/"plugin":"guest".*onReady/);
    await logged(/"plugin":"guest".*onClose/);
  });
});
