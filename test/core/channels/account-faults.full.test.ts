import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { pluginDeadlines } from "../../../core/host/deadline.ts";
import type { ChannelConnection } from "../../../core/sdk/contract.ts";
import { removeDirectory } from "../../support/directory.ts";
import { createDesk, type Desk, faults, misbehave, playTimers } from "../../support/faults.ts";
import { createLoopback, repeat, startGateway, type TestGateway } from "../../support/gateway.ts";

let running: TestGateway | undefined;

beforeEach(playTimers);

afterEach(async () => {
  const closing = running?.gateway.close();
  await pass(closing ?? Promise.resolve(), 30_000);
  vi.useRealTimers();
  if (running !== undefined) removeDirectory(running.directory);
  running = undefined;
});

const realTimeout = globalThis.setTimeout;
const pause = (ms: number) => new Promise((resolve) => realTimeout(resolve, ms));

/** Moves the clock on until something that waits for it is over. */
async function pass<T>(work: Promise<T>, ms: number): Promise<T> {
  let over = false;
  const end = work.finally(() => {
    over = true;
  });
  for (let left = ms; !over && left > 0; left -= 1_000) {
    vi.advanceTimersByTime(1_000);
    await pause(2);
  }
  return await end;
}

const open = { dmPolicy: "open", allowFrom: ["*"] };
const desks = (accounts: object) => ({ channels: { desk: { ...open, accounts }, loopback: open } });

async function start(desk: Desk, config: object) {
  const loopback = createLoopback();
  running = await startGateway({ config, plugins: [desk.plugin, loopback.plugin, repeat] });
  const { configFile, settled } = running;
  return {
    ...running,
    edit: (next: object) =>
      writeFileSync(
        configFile,
        JSON.stringify({ gateway: { port: 0, drainSeconds: 2 }, state: { dir: "state" }, ...next }),
      ),
    async othersGoOn() {
      expect(await settled(await loopback.say("hi"))).toMatchObject({ outcome: "answered" });
    },
  };
}

const log = () => readFileSync(join(running?.gateway.stateDirectory ?? "", "logs", "gateway.log"), "utf8");
const soon = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 20 });
const logged = (line: RegExp) => soon(() => expect(log()).toMatch(line));

describe("an account whose close call", () => {
  test("hangs does not delay changes to other accounts or channels, and its incoming events are refused", async () => {
    const closing = Promise.withResolvers<void>();
    const desk = createDesk((account, good) => ({
      close() {
        if (account.id !== "a") return good.close();
        closing.resolve();
        return new Promise<never>(() => {});
      },
    }));
    const { edit, othersGoOn } = await start(desk, desks({ a: { token: "1" }, b: { token: "2" } }));
    edit(desks({ b: { token: "22" }, c: { token: "3" } }));
    await closing.promise;
    // In real time, of which the account that hangs has ten seconds.
    await soon(() => expect(desk.life).toEqual(expect.arrayContaining(["start c", "close b"])));
    await soon(() => expect(desk.life.filter((step) => step === "start b")).toHaveLength(2));
    const [hanging] = desk.accounts;
    const message = {
      kind: "message",
      chat: { id: "7", kind: "direct" },
      sender: { id: "7" },
      text: "hi",
      media: [],
      mention: false,
    };
    await expect(hanging?.receive(message, { id: "99", lane: "desk:a:7" })).rejects.toMatchObject({
      code: "account_closed",
    });
    expect(await hanging?.check(message)).toMatchObject({ allowed: false });
    hanging?.status({ state: "connected", detail: "I am still here" });
    expect(log()).not.toContain("was given up");
    edit(desks({ b: { token: "22" } }));
    await soon(() => expect(desk.life).toContain("close c"));
    vi.advanceTimersByTime(pluginDeadlines.close);
    await logged(
      /"account":"a","plugin":"acme","error":"[^"]*did not answer at close of desk:a within 10 s".*was given up/,
    );
    expect(log()).not.toContain("I am still here");
    await othersGoOn();
  });

  test("hangs is abandoned after a time limit, and only then does its replacement start", async () => {
    const desk = createDesk((account, good) => ({
      close: () => (account.options.token === "1" ? new Promise<never>(() => {}) : good.close()),
    }));
    const { edit, settled, othersGoOn } = await start(desk, desks({ a: { token: "1" } }));
    edit(desks({ a: { token: "2" } }));
    await soon(() => expect(desk.accounts).toHaveLength(2));
    expect(desk.life).toEqual(["open a", "start a", "open a"]);
    vi.advanceTimersByTime(pluginDeadlines.close + 100);
    await soon(() => expect(desk.life).toEqual(["open a", "start a", "open a", "start a"]));
    expect(await settled(await desk.say("hi"))).toMatchObject({ outcome: "answered" });
    await othersGoOn();
  });

  test("is slow delays the start of another account with the same credential", async () => {
    const closed = Promise.withResolvers<void>();
    const desk = createDesk((account) => ({
      close: async () => {
        if (account.id === "a") await closed.promise;
        desk.life.push(`close ${account.id}`);
      },
    }));
    const { edit } = await start(desk, desks({ a: { token: "1" } }));
    edit(desks({ z: { token: "1" } }));
    await soon(() => expect(desk.life).toContain("open z"));
    expect(desk.life).not.toContain("start z");
    closed.resolve();
    await soon(() => expect(desk.life).toEqual(["open a", "start a", "open z", "close a", "start z"]));
  });

  test.each(faults)("%s causes only a line in the log", async (fault) => {
    const desk = createDesk((account) => ({
      close() {
        desk.life.push(`close ${account.id}`);
        return misbehave(fault, { ms: pluginDeadlines.close }) as never;
      },
    }));
    const { edit, othersGoOn } = await start(desk, desks({ a: { token: "1" } }));
    edit(desks({ b: { token: "2" } }));
    await soon(() => expect(desk.life).toEqual(expect.arrayContaining(["close a", "start b"])));
    if (fault !== "returns junk") await logged(/"plugin":"acme","error":"[^"]*close of desk:a/);
    await othersGoOn();
  });
});

describe("an account with a faulty start, pause, update or menu function", () => {
  const brokenAt = (call: keyof typeof pluginDeadlines & keyof ChannelConnection, fault: (typeof faults)[number]) =>
    createDesk(() => ({ [call]: () => misbehave(fault, { ms: pluginDeadlines[call] }) }), { rich: true });

  test.each(faults)("start %s: the other accounts continue, and the log names the plugin", async (fault) => {
    const { othersGoOn, gateway } = await start(brokenAt("start", fault), desks({ a: { token: "1" } }));
    await othersGoOn();
    if (fault === "returns junk") return;
    await logged(/acme [^"]*start of desk:a/);
    const states = (await gateway.describe()).accounts
      .filter(({ channel }) => channel === "desk")
      .map(({ status }) => status.state);
    expect(states).toEqual([fault === "throws" || fault === "rejects" ? "failed" : "connecting"]);
  });

  test.each(faults)("pause %s: the gateway still closes", async (fault) => {
    const { gateway } = await start(brokenAt("pause", fault), desks({ a: { token: "1" } }));
    await pass(gateway.close(), 30_000);
  });

  test.each(faults)("menu %s: the change is applied, and the log names the plugin", async (fault) => {
    const { edit, othersGoOn } = await start(brokenAt("menu", fault), desks({ a: { token: "1" } }));
    edit({ ...desks({ a: { token: "1" } }), commands: { native: false } });
    await logged(/the configuration was reloaded/);
    if (fault !== "returns junk") await logged(/"plugin":"acme","error":"[^"]*menu of desk:a/);
    await othersGoOn();
  });

  test.each(["throws", "rejects"] as const)(
    "update %s: the change is applied, and the log names the plugin",
    async (fault) => {
      const desk = createDesk(() => ({ update: () => misbehave(fault, { ms: 0 }) as never }));
      const { edit, othersGoOn } = await start(desk, desks({ a: { token: "1" } }));
      edit(desks({ a: { token: "1", label: "second" } }));
      await logged(/the configuration was reloaded/);
      await logged(/"plugin":"acme","error":"[^"]*update of desk:a/);
      await othersGoOn();
    },
  );
});

test.each(["throws", "rejects", "returns junk"] as const)(
  "a channel whose open function %s has a failed account, and other channels continue",
  async (fault) => {
    const desk = createDesk(() => ({}));
    const broken = {
      ...desk.plugin,
      setup: (host: Parameters<typeof desk.plugin.setup>[0]) =>
        desk.plugin.setup(
          { ...host, channel: (one) => host.channel({ ...one, open: () => misbehave(fault, { ms: 0 }) as never }) },
          {},
        ),
    };
    const { gateway, othersGoOn } = await start(
      { ...desk, plugin: broken as Desk["plugin"] },
      desks({ a: { token: "1" } }),
    );
    const failed = (await gateway.describe()).accounts.find(({ channel }) => channel === "desk");
    expect(failed?.status.state).toBe("failed");
    await logged(/"plugin":"acme","path":"channels.desk.accounts.a"/);
    await othersGoOn();
  },
);
