/** The test host as an author of a plugin uses it: everything here is imported by the names that a stranger has. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineEngine, definePlugin, definePreset, type TurnEvent, Type } from "service-gateway/sdk";
import { ChannelError, defineChannel } from "service-gateway/sdk/channel";
import { createTestHost } from "service-gateway/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { removeDirectory, temporaryDirectory } from "../../../support/directory.ts";
import { runTests } from "../../../support/run-tests.ts";
import { run } from "../../cli/command-runner.ts";

/** Reminds after a time, by a timer of its own. */
const reminder = definePlugin({
  id: "reminder",
  version: "1.0.0",
  host: "^0.2.0",
  options: Type.Object({ text: Type.String({ default: "It is time." }) }),
  setup(host, { text }) {
    const timers: NodeJS.Timeout[] = [];
    host.onClose(() => timers.forEach(clearTimeout));
    host.command({
      name: "remind",
      summary: "Reminds in so many minutes.",
      args: "MINUTES",
      role: "owner",
      async run({ args, route }) {
        await host.store.set("last", args, { ttlSeconds: 3_600 });
        // After the close, the store takes nothing more.
        timers.push(setTimeout(() => route.to && void host.notify(route.to, text), Number(args) * 60_000));
        return `In ${args} minutes.`;
      },
    });
    host.command({
      name: "last",
      summary: "The last one.",
      role: "allowed",
      run: async () => `last: ${await host.store.get("last")}`,
    });
    host.route({
      method: "GET",
      path: "last",
      access: "gateway",
      handler: async () => ({ body: { last: await host.store.get("last") } }),
    });
  },
});

const plugins = [reminder];

describe("a test host", () => {
  test("answers a command in the chat of its sender", async () => {
    await using host = await createTestHost({ plugins });
    expect(await host.say("/remind 5")).toMatchObject({ outcome: "answered" });
    expect(host.outbox()).toMatchObject([{ chat: "owner", text: "In 5 minutes.", buttons: [], media: [] }]);
    expect(host).toHaveDelivered("In 5 minutes.");
    expect(host).toHaveDelivered(/^In \d+ minutes\.$/, { chat: "owner" });
    expect(host).not.toHaveDelivered("It is time.");
    expect(host).not.toHaveDelivered("In 5 minutes.", { chat: "ada" });
    expect(host).toHaveEnded({ outcome: "answered" });
    expect(host).not.toHaveEnded({ outcome: "failed" });
  });

  test("refuses an owner command from another sender, and the trace says why", async () => {
    await using host = await createTestHost({ plugins });
    const refused = await host.say("/remind 5", { from: "ada" });
    expect(refused).toMatchObject({ outcome: "refused", reason: "owner_required" });
    expect(await host.why(refused)).toContainEqual(
      expect.objectContaining({ code: "owner_required", verdict: "refused" }),
    );
    await expect(host.why("none")).rejects.toThrow("There is no event none");
  });

  test("runs plugin timers when the clock advances, and delivers what they send", async () => {
    await using host = await createTestHost({
      plugins,
      config: { plugins: { entries: { reminder: { options: { text: "Tea!" } } } } },
    });
    const before = host.now();
    await host.say("/remind 5");
    await host.advance(299_000);
    expect(host).not.toHaveDelivered("Tea!");
    await host.advance(2_000);
    expect(host.outbox().map(({ text }) => text)).toEqual(["In 5 minutes.", "Tea!"]);
    expect(host.now() - before).toBeGreaterThanOrEqual(301_000);
  });

  test("expires stored values by the simulated clock", async () => {
    await using host = await createTestHost({ plugins });
    await host.say("/remind 5");
    await host.say("/last", { from: "ada" });
    await host.advance(3_601_000);
    await host.say("/last", { from: "ada" });
    expect(
      host
        .outbox()
        .filter(({ chat }) => chat === "ada")
        .map(({ text }) => text),
    ).toEqual(["last: 5", "last: null"]);
  });

  test("answers a text without a command with its own engine or the one from the test", async () => {
    await using host = await createTestHost();
    await host.say("Hello");
    expect(host).toHaveDelivered("heard: Hello");
    await using other = await createTestHost({ answer: ({ messages }) => `${messages.length} messages` });
    await other.say("Hello");
    expect(other).toHaveDelivered("1 messages");
  });

  test("answers only messages that address the bot in a group, in their thread", async () => {
    await using host = await createTestHost();
    expect(await host.say("Hello", { group: true })).toMatchObject({ outcome: "silent" });
    expect(await host.say("Hello, bot", { group: true, thread: "9", mention: true, from: "ada" })).toMatchObject({
      outcome: "answered",
    });
    expect(host).toHaveDelivered("heard: Hello, bot", { chat: "group", thread: "9" });
    expect(host.outbox()).toHaveLength(1);
  });

  test("does not process an event with a known id again", async () => {
    await using host = await createTestHost();
    const first = await host.say("Hello", { id: "one" });
    const second = await host.say("Hello", { id: "one" });
    expect(second.eventId).toBe(first.eventId);
    expect(host.outbox()).toHaveLength(1);
  });

  test("hands the agent its own copy of a file from a sender", async () => {
    const seen: unknown[] = [];
    await using host = await createTestHost({
      answer({ inbound: { media } }) {
        seen.push(...media.map(({ fileName, size, path = "" }) => [fileName, size, readFileSync(path, "utf8")]));
        return "Thank you.";
      },
    });
    await host.say("See this", { files: [{ name: "note.txt", bytes: Buffer.from("Buy milk.") }] });
    await host.say("", { files: [{ bytes: Buffer.from("Buy bread.") }] });
    expect(seen).toEqual([
      ["note.txt", 9, "Buy milk."],
      [undefined, 10, "Buy bread."],
    ]);
  });

  test("simulates a sender who presses a button of the bot and edits a message", async () => {
    const seen: string[] = [];
    const offering = defineEngine({
      id: "offering",
      version: "1.0.0",
      host: "^0.2.0",
      async *run({ inbound: { kind, text } }) {
        seen.push(`${kind}: ${text}`);
        yield { type: "text", delta: "Do you agree?" };
        yield { type: "buttons", buttons: [[{ text: "Agree", value: "agree-value" }]] };
        yield { type: "done" };
      },
    });
    await using host = await createTestHost({ plugins: [offering] });
    await host.say("Hello");
    expect(await host.press("Agree")).toMatchObject({ outcome: "answered" });
    await host.press("agree-value");
    await host.say("Hello again?", { edits: "in-update-1" });
    expect(seen).toEqual([
      "message: Hello",
      "press: callback_data: agree-value",
      "press: callback_data: agree-value",
      "edit: Hello again?",
    ]);
    await expect(host.press("Decline")).rejects.toThrow(
      "There is no button Decline in the chat owner. Sent were: Agree, Agree, Agree",
    );
  });

  test("keeps stored values and the outbox over a restart", async () => {
    await using host = await createTestHost({ plugins });
    const { url } = host;
    await host.say("/remind 5");
    await host.restart();
    expect(host.url).not.toBe(url);
    await host.say("/last");
    expect(host.outbox().map(({ text }) => text)).toEqual(["In 5 minutes.", "last: 5"]);
  });

  test("after a kill, sends what may already have been sent, and the trace says so", async () => {
    await using host = await createTestHost();
    let sends = 0;
    host.beforeSend(() => {
      sends += 1;
      // The first process dies over its send.
      return sends === 1 ? new Promise<void>(() => {}) : undefined;
    });
    void host.say("Hello").catch(() => {});
    await expect.poll(() => sends).toBe(1);
    await host.restart({ killed: true });
    const sent = async () => {
      await host.advance(2_000);
      return host.outbox().map(({ text }) => text);
    };
    await expect.poll(sent).toEqual(["heard: Hello"]);
    await host.advance(1_000);
    expect(host).toHaveEnded({ outcome: "answered" });
    const [ended] = host.ended();
    expect(ended?.decisions).toContainEqual(expect.objectContaining({ code: "possibly_repeated" }));
  });

  test("makes a send that the platform deferred once the clock has advanced", async () => {
    await using host = await createTestHost();
    let asked = 0;
    host.beforeSend(() => {
      asked += 1;
      if (asked === 1)
        throw new ChannelError("flood_wait", { retryable: true, retryAfterMs: 3_600_000, fate: "not-sent" });
    });
    const saying = host.say("Hello");
    await expect.poll(() => asked).toBe(1);
    await host.advance(3_599_000);
    expect([asked, host.outbox()]).toEqual([1, []]);
    await host.advance(1_000);
    expect(await saying).toMatchObject({ outcome: "answered" });
    expect(host).toHaveDelivered("heard: Hello");
  });

  test("makes a deferred send of the tested channel only after the clock has advanced", async () => {
    let asked = 0;
    let write = async () => {};
    const desk = defineChannel({
      id: "desk",
      version: "1.0.0",
      host: "^0.2.0",
      options: Type.Object({}),
      capabilities: { maxChars: 400 },
      open: (account) => ({
        async start() {
          write = async () =>
            void (await account.receive({ at: account.now() }, { id: "one", lane: "desk:default:7" }));
          account.status({ state: "connected", lastContactAt: account.now() });
        },
        parse: () => ({
          kind: "message",
          chat: { id: "7", kind: "direct" },
          sender: { id: "7" },
          text: "Hello",
          timestamp: account.now(),
        }),
        render: ({ text }) => [{ kind: "text", chars: text.length, body: text }],
        async send() {
          asked += 1;
          if (asked === 1)
            throw new ChannelError("flood_wait", { retryable: true, retryAfterMs: 3_600_000, fate: "not-sent" });
          return { messageId: "1" };
        },
        async close() {},
      }),
    });
    await using host = await createTestHost({
      plugins: [desk],
      config: { channels: { desk: { dmPolicy: "open", allowFrom: ["*"] } } },
    });
    await write();
    await expect.poll(() => asked).toBe(1);
    await host.advance(3_590_000);
    expect(asked).toBe(1);
    await host.advance(10_000);
    expect(asked).toBe(2);
    expect(host).toHaveEnded({ outcome: "answered" });
  });

  test("answers a webhook after all events that it caused have ended", async () => {
    const uptime = definePreset({
      id: "uptime",
      version: "1.0.0",
      host: "^0.2.0",
      path: "uptime",
      mappings: [{ messageTemplate: "{{ monitor }} is {{ status }}" }],
    });
    await using host = await createTestHost({ plugins: [uptime], config: { hooks: { presets: ["uptime"] } } });
    // What a webhook leads to goes to where the agent last had a conversation.
    const early = await host.deliver("uptime", { monitor: "site", status: "down" });
    expect(early).toMatchObject({
      status: 202,
      body: { ok: true },
      ended: [{ outcome: "silent", reason: "no_recipient" }],
    });
    await host.say("Hello");
    expect(await host.deliver("uptime", { monitor: "site", status: "up" })).toMatchObject({
      ended: [{ outcome: "answered" }],
    });
    expect(host).toHaveDelivered("site is up", { chat: "owner" });
    expect(await host.deliver("uptime", {}, { headers: { Authorization: "Bearer wrong" } })).toMatchObject({
      status: 401,
      ended: [],
    });
    expect(await host.deliver("nothing", {})).toMatchObject({ status: 404, ended: [] });
  });

  test("returns the reply to a webhook if the configuration exposes replies", async () => {
    await using host = await createTestHost({ config: { hooks: { exposeReplies: true } }, answer: () => "understood" });
    expect((await host.deliver("agent", { message: "Hello", deliver: false })).ended).toMatchObject([
      { reply: "understood" },
    ]);
    expect(host.outbox()).toEqual([]);
  });

  test("calls a plugin route with the gateway token or with the one from the test", async () => {
    await using host = await createTestHost({ plugins });
    await host.say("/remind 5");
    expect(await (await host.fetch("/plugins/reminder/last")).json()).toEqual({ last: "5" });
    expect((await host.fetch("/plugins/reminder/last", { headers: { authorization: "Bearer wrong" } })).status).toBe(
      401,
    );
  });

  test("shares only the clock with another host", async () => {
    await using one = await createTestHost({ plugins });
    await using other = await createTestHost({ plugins });
    await one.say("/remind 5");
    await other.say("/last");
    expect(other).toHaveDelivered("last: null");
    await one.advance(300_000);
    expect(one).toHaveDelivered("It is time.");
    expect(other).not.toHaveDelivered("It is time.");
  });
});

describe("a test host in a directory", () => {
  test("runs the files that the test writes and leaves them in place", async () => {
    const directory = temporaryDirectory();
    onTestFinished(() => removeDirectory(directory));
    mkdirSync(join(directory, "transforms"));
    writeFileSync(
      join(directory, "transforms", "shout.ts"),
      "export default ({ payload }) => ({ message: payload.text.toUpperCase() });",
    );
    const mappings = [
      { match: { path: "shout" }, transform: { module: "shout.ts" }, deliverOnly: true, channel: "loopback", to: "7" },
    ];
    const host = await createTestHost({ directory, config: { hooks: { mappings } } });
    expect([host.directory, host.configFile]).toEqual([directory, join(directory, "config.jsonc")]);
    expect(await host.deliver("shout", { text: "hello" })).toMatchObject({
      status: 202,
      ended: [{ outcome: "answered" }],
    });
    expect(host).toHaveDelivered("HELLO", { chat: "7" });
    await host.close();
    expect(existsSync(join(directory, "state", "state.db"))).toBe(true);
  });

  test("lets a CLI command read the state of the running host", async () => {
    await using host = await createTestHost({ plugins });
    await host.say("/remind 5", { from: "ada" });
    const { out } = await run(["why", "last", "--config", host.configFile], { home: host.directory });
    expect(out).toMatch(/^refused \(owner_required\)/);
  });

  test("moves to another directory when it is killed", async () => {
    await using host = await createTestHost({ plugins });
    const before = host.directory;
    await host.restart({ killed: true });
    expect(host.directory).not.toBe(before);
    const { url } = JSON.parse(readFileSync(join(host.directory, "state", "gateway.json"), "utf8")) as {
      readonly url: string;
    };
    expect(url).toBe(host.url);
  });
});

describe("the configuration of a test host", () => {
  test("can be changed at run time: sections merge, undefined removes, and a restart keeps the change", async () => {
    await using host = await createTestHost();
    await host.configure({ channels: { loopback: { dmPolicy: "allowlist", allowFrom: ["ada"] } } });
    expect(await host.say("Hello", { from: "bela" })).toMatchObject({
      outcome: "refused",
      reason: "sender_not_allowed",
    });
    expect(await host.say("Hello", { from: "ada" })).toMatchObject({ outcome: "answered" });
    await host.restart();
    expect(await host.say("Hello", { from: "bela" })).toMatchObject({ outcome: "refused" });
    await host.configure({ hooks: undefined });
    expect(await host.deliver("agent", { message: "x" })).toMatchObject({ status: 404 });
  });

  test("rejects an error with the reason and keeps the previous one in effect", async () => {
    await using host = await createTestHost({ allowErrors: [/is "closed", but must be/, /sections with an error/] });
    await expect(host.configure({ channels: { loopback: { dmPolicy: "closed" } } })).rejects.toThrow(
      /has errors:\n- channels\.loopback\.dmPolicy/,
    );
    expect(await host.say("Hello")).toMatchObject({ outcome: "answered" });
  });
});

test("the answer of a test host can be a stream of engine events", async () => {
  async function* answer(): AsyncGenerator<TurnEvent> {
    yield { type: "text", delta: "one " };
    yield { type: "text", delta: "and two" };
    yield { type: "done" };
  }
  await using host = await createTestHost({ answer });
  await host.say("Hello");
  expect(host.outbox().map(({ text }) => text)).toEqual(["one and two"]);
});

describe("closing a test host", () => {
  test("leaves no files and no timers of its own", async () => {
    const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis;
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith("gateway-testkit-"));
    const host = await createTestHost({ plugins });
    expect(globalThis.setTimeout).not.toBe(setTimeout);
    await host.close();
    await host.close();
    expect([globalThis.setTimeout, globalThis.setInterval]).toEqual([setTimeout, setInterval]);
    expect([globalThis.clearTimeout, globalThis.clearInterval]).toEqual([clearTimeout, clearInterval]);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith("gateway-testkit-"))).toEqual(before);
    await expect(fetch(host.url)).rejects.toThrow();
  });

  test("fails the test if the log contains an error that the test does not allow", async () => {
    const faulty = definePlugin({
      id: "faulty",
      version: "1.0.0",
      host: "^0.2.0",
      setup(host) {
        host.command({
          name: "fault",
          summary: "Logs an error.",
          role: "anyone",
          run() {
            host.log.error({}, "the kettle is empty");
            return "done";
          },
        });
      },
    });
    const host = await createTestHost({ plugins: [faulty] });
    await host.say("/fault");
    await expect(host.close()).rejects.toThrow(
      /saw errors that the test does not allow:\n- error in the log \(plugin faulty\): the kettle is empty$/,
    );
    await using allowing = await createTestHost({ plugins: [faulty], allowErrors: [/kettle is empty/] });
    await allowing.say("/fault");
  });
});

test("an unhandled rejection fails the test in which it occurs", async () => {
  const file = `
    import { createTestHost } from "service-gateway/testkit";
    import { test } from "vitest";
    test("before", async () => {
      await using host = await createTestHost();
    });
    test("stray", async () => {
      await using host = await createTestHost({ answer: () => { void Promise.reject(new Error("the kettle is empty")); return "Tea"; } });
      await host.say("Hello");
    });
  `;
  const run = (await runTests({ "stray/stray.test.ts": file }, ["stray"])).get("stray");
  expect(run?.passed).toBe(1);
  expect(run?.failures.join("\n")).toContain("- unhandled rejection: the kettle is empty");
});

describe("the startup of a test host", () => {
  const broken = definePlugin({
    id: "broken",
    version: "1.0.0",
    host: "^0.2.0",
    setup() {
      throw new Error("no kettle");
    },
  });

  test("reports which plugin failed to load and why", async () => {
    await expect(createTestHost({ plugins: [broken] })).rejects.toThrow(
      /did not start:\n- [^\n]*broken[^\n]*no kettle/,
    );
    await expect(createTestHost({ plugins: [{ ...broken, host: "^9.0.0" }] })).rejects.toThrow(/broken[^\n]*\^9/);
  });

  test("rejects a plugin with an id that the host uses itself", async () => {
    await expect(createTestHost({ plugins: [{ ...reminder, id: "loopback" }] })).rejects.toThrow(
      "The test host uses the id loopback itself",
    );
  });

  test("reports errors in the configuration", async () => {
    const config = { plugins: { entries: { reminder: { options: { text: 7 } } } } };
    await expect(createTestHost({ plugins, config })).rejects.toThrow(/plugins\.entries\.reminder\.options\.text/);
  });

  test("succeeds with a warning, which it reports", async () => {
    await using host = await createTestHost({ config: { hooks: { token: "short-token" } } });
    expect(await host.problems()).toEqual([
      { severity: "warning", path: "hooks.token", message: expect.any(String), hint: expect.any(String) },
    ]);
  });

  test("succeeds without a faulty plugin or setting only if the test allows exactly their errors", async () => {
    const config = { hooks: { mappings: [{ match: { path: "tea" }, agentId: 7, messageTemplate: "tea" }] } };
    const allowErrors = [/no kettle/, /hooks\.mappings\[0\]\.agentId/];
    for (const allowed of allowErrors)
      await expect(createTestHost({ plugins: [broken], config, allowErrors: [allowed] })).rejects.toThrow(
        "did not start",
      );
    await using host = await createTestHost({ plugins: [broken], config, allowErrors });
    expect((await host.deliver("tea", {})).status).toBe(503);
    expect(await host.say("hello")).toMatchObject({ outcome: "answered" });
  });
});

describe("the matchers", () => {
  test("list the sent messages and the outcomes of events when they fail", async () => {
    await using host = await createTestHost();
    const delivered = () => expect(host).toHaveDelivered(/tea/, { chat: "ada" });
    expect(delivered).toThrow("expected the host to have delivered /tea/ in the chat ada. It delivered:\nnothing");
    await host.say("Hello");
    expect(delivered).toThrow("It delivered:\n- owner: heard: Hello");
    expect(() => expect(host).not.toHaveDelivered("Hello")).toThrow("expected the host not to have delivered Hello.");
    expect(() => expect(host).toHaveEnded({ outcome: "failed" })).toThrow(
      /to have ended \{"outcome":"failed"\}\. They ended:\n- answered \(\w+\), event /,
    );
    const gate = definePlugin({
      id: "gate",
      version: "1.0.0",
      host: "^0.2.0",
      setup: (given) => given.tap("gating", () => ({ reason: "late" }) as never),
    });
    await using gated = await createTestHost({ plugins: [gate], allowErrors: [/gate/] });
    await gated.say("Hello", { from: "ada" });
    expect(() => expect(gated).toHaveEnded({ reason: "late" })).toThrow(
      /refused \(gate_failed\), event \w+: [^\n]*gate[^\n]*code/,
    );
  });

  test("report what they expect when they receive another type", () => {
    expect(() => expect({}).toHaveDelivered("x")).toThrow("toHaveDelivered requires the result of createTestHost");
  });
});

describe("the simulated clock", () => {
  /** Notes the times at which its timers run. */
  const ticking = (seen: string[]) =>
    definePlugin({
      id: "ticking",
      version: "1.0.0",
      host: "^0.2.0",
      setup(host) {
        const start = host.now();
        const note = (name: string) => void seen.push(`${name} ${Math.round((host.now() - start) / 1_000)}`);
        const every = setInterval(note, 60_000, "minute");
        const stopped = setTimeout(note, 30_000, "stopped");
        const byNumber = setTimeout(note, 30_000, "by number");
        const put = setTimeout(note, 90_000, "put off");
        clearTimeout(stopped);
        clearTimeout(Number(byNumber));
        setTimeout(() => put.refresh(), 60_000);
        host.onClose(() => clearInterval(every));
      },
    });

  test("runs timers in chronological order and an interval once for each period", async () => {
    const seen: string[] = [];
    await using host = await createTestHost({ plugins: [ticking(seen)] });
    await host.advance(185_000);
    expect(seen).toEqual(["minute 60", "minute 120", "put off 150", "minute 180"]);
  });

  test("lets a refreshed timer run again, even after the clock is real again", async () => {
    let runs = 0;
    const again = await (async () => {
      await using host = await createTestHost();
      const once = setTimeout(() => {
        runs += 1;
      }, 200);
      await host.advance(200);
      expect(runs).toBe(1);
      once.refresh();
      await host.advance(200);
      expect(runs).toBe(2);
      return once;
    })();
    expect(again.refresh().hasRef()).toBe(true);
    await expect.poll(() => runs).toBe(3);
  });

  test("advances a month in one step", async () => {
    await using host = await createTestHost();
    const before = host.now();
    await host.advance(30 * 24 * 60 * 60_000);
    expect(host.now() - before).toBeGreaterThanOrEqual(30 * 24 * 60 * 60_000);
    expect(await host.say("Hello again")).toMatchObject({ outcome: "answered" });
  });

  test("stops an agent that is late when the clock reaches the time limit", async () => {
    let turns = 0;
    const answer = () => {
      turns += 1;
      return new Promise<string>(() => {});
    };
    await using host = await createTestHost({ answer });
    const saying = host.say("Hello");
    await expect.poll(() => turns).toBe(1);
    await host.advance(3_600_000);
    expect(await saying).toMatchObject({ outcome: "failed" });
  });
});
