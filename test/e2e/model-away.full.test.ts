/**
 * A model that does not answer for a while: what no person watches waits for it, people get an apology, and the owner
 * reads two notices.
 */
import { createTestHost, type TestHost, type TestHostOptions } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import { EngineError } from "../../core/contract/index.ts";
import { definePlugin, type Json, Type } from "../../core/sdk/contract.ts";
import mail from "../../plugins/mail/index.ts";
import schedule from "../../plugins/schedule/index.ts";
import { run } from "../core/cli/command-runner.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { startImapServer } from "../support/mail/imap-server.ts";
import { letter } from "../support/mail/reader.ts";
import {
  answers,
  hookToken,
  kill,
  openChannel,
  openPlatform,
  people,
  postHook,
  restart,
  startGatewayProcess,
  stop,
} from "./room.ts";

const away = new EngineError("model_unreachable", {
  detail: "local at http://127.0.0.1:1 cannot be reached",
  retryable: true,
});

interface Model {
  away: EngineError | undefined;
  calls: number;
}

async function open(
  config: object = {},
  plugins: TestHostOptions["plugins"] = [],
): Promise<{ readonly host: TestHost; readonly model: Model; post(message: string): Promise<string> }> {
  const model: Model = { away: undefined, calls: 0 };
  const host = await createTestHost({
    plugins,
    answer: ({ inbound }) => {
      model.calls += 1;
      if (model.away !== undefined) throw model.away;
      return `heard: ${inbound.text}`;
    },
    config: { agents: { defaults: { heartbeat: { every: "12h" } } }, hooks: { token: hookToken }, ...config },
  });
  return {
    host,
    model,
    async post(message) {
      const response = await postHook(host.url, "agent", {
        message,
        wakeMode: "next-heartbeat",
        channel: "loopback",
        to: "owner",
      });
      return ((await response.json()) as { eventId: string }).eventId;
    },
  };
}

const minute = 60_000;
const texts = (host: TestHost) => host.outbox().map(({ text = "" }) => text);
const notices = (host: TestHost) => texts(host).filter((text) => text.startsWith("The model"));
const heard = (host: TestHost) => texts(host).filter((text) => text.includes("heard:") && /hook \d/.test(text));

for (const [name, seconds, told] of [
  ["three seconds", 3, 0],
  ["ten seconds", 10, 0],
  ["half a minute", 30, 0],
  ["five minutes", 300, 1],
  ["five hours", 5 * 3_600, 1],
] as const)
  test(
    `a model that is away for ${name} fails no webhook, and the owner reads ` +
      `${told === 0 ? "nothing" : "one notice each way"}`,
    async () => {
      const { host, model, post } = await open();
      await using _ = host;
      await host.say("hello", { from: "owner" });
      model.away = away;
      const ids = [await post("hook 1"), await post("hook 2"), await post("hook 3")];
      expect(await host.say("are you there?", { from: "owner" })).toMatchObject({
        outcome: "failed",
        reason: "model_unreachable",
      });
      expect(texts(host).at(-1)).toContain("Please try again later");
      await host.advance(seconds * 1_000);
      expect(notices(host)).toHaveLength(told);
      expect(host.ended().filter(({ outcome }) => outcome === "failed")).toHaveLength(1);
      const calls = model.calls;
      // The pause doubles, so that a long outage costs few calls.
      expect(calls).toBeLessThan(60);
      model.away = undefined;
      // Any successful call shows that the model answers, so nothing waits for the rest of its pause.
      await host.say("and now?", { from: "owner" });
      for (const id of ids) expect(await host.settled(id)).toMatchObject({ outcome: "answered" });
      expect(heard(host)).toHaveLength(3);
      await expect.poll(() => notices(host)).toHaveLength(2 * told);
      if (told === 1)
        expect(notices(host)).toEqual([
          expect.stringContaining("3 runs that no person watches"),
          expect.stringContaining("3 runs that waited for it run now"),
        ]);
      const decisions = await host.why(ids[0] ?? "");
      expect(decisions.filter(({ code }) => code === "waits_for_model")).toHaveLength(1);
    },
  );

test("a run fails after six hours without a model, and the next one of its lane gets its own six hours", async () => {
  const { host, model, post } = await open();
  await using _ = host;
  await host.say("hello", { from: "owner" });
  model.away = away;
  const id = await post("hook 1");
  await host.advance(5.9 * 60 * minute);
  expect(host.ended().some(({ eventId }) => eventId === id)).toBe(false);
  await host.advance(12 * minute);
  expect(await host.settled(id)).toMatchObject({ outcome: "failed", reason: "model_unreachable" });
  model.away = undefined;
  await host.say("and now?", { from: "owner" });
  await expect.poll(() => notices(host).at(-1)).toContain("1 run had waited too long and failed");
});

test("an outage continues over a restart, with the same six hours and no second notice", async () => {
  const { host, model, post } = await open();
  await using _ = host;
  await host.say("hello", { from: "owner" });
  model.away = away;
  const id = await post("hook 1");
  await host.advance(2 * 60 * minute);
  await host.restart();
  await host.advance(3.9 * 60 * minute);
  expect(notices(host)).toHaveLength(1);
  expect(host.ended().some(({ eventId }) => eventId === id)).toBe(false);
  await host.advance(15 * minute);
  expect(await host.settled(id)).toMatchObject({ outcome: "failed", reason: "model_unreachable" });
});

test("a webhook survives any number of kills while its turn asks a model that is away", async () => {
  const model = { is: "away" as "away" | "silent" | "here", calls: 0 };
  await using host = await createTestHost({
    answer: ({ inbound }) => {
      model.calls += 1;
      if (model.is === "away") throw away;
      return model.is === "here" ? `heard: ${inbound.text}` : Promise.withResolvers<string>().promise;
    },
    config: { agents: { defaults: { heartbeat: { every: "0" } } }, hooks: { token: hookToken } },
  });
  const response = await postHook(host.url, "agent", { message: "hook", wakeMode: "next-heartbeat", deliver: false });
  const { eventId } = (await response.json()) as { eventId: string };
  await expect.poll(() => model.calls).toBe(1);
  await host.advance(minute);
  model.is = "silent";
  for (let kills = 0; kills < 5; kills += 1) {
    const before = model.calls;
    await host.restart({ killed: true });
    await expect.poll(() => model.calls).toBe(before + 1);
    // Longer than a wait that is not worth a write.
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
  model.is = "here";
  await host.restart({ killed: true });
  expect(await host.settled(eventId)).toMatchObject({ outcome: "silent", reason: "not_asked" });
});

test("a heartbeat also waits with its content, and its wake is answered once", async () => {
  const { host, model } = await open();
  await using _ = host;
  await host.say("hello", { from: "owner" });
  model.away = new EngineError("model_quota", { detail: "the quota is used up" });
  await postHook(host.url, "wake", { text: "the tank is full" });
  await host.advance(20 * minute);
  expect(host.ended().filter(({ outcome }) => outcome === "failed")).toEqual([]);
  model.away = undefined;
  await host.advance(10 * minute);
  expect(texts(host).filter((text) => text.includes("the tank is full"))).toHaveLength(1);
});

test("a schedule and an agent reminder also wait, and each gets one answer", async () => {
  const model: Model = { away: undefined, calls: 0 };
  await using host = await createTestHost({
    plugins: [schedule],
    async answer({ inbound, tools }, signal) {
      if (model.away !== undefined) throw model.away;
      if (!inbound.text.startsWith("set ")) return `heard: ${inbound.text}`;
      const remind = tools.find(({ name }) => name === "remind");
      return JSON.stringify(await remind?.run({ text: "Look at the tank.", in: "5m", kind: "ask" }, signal));
    },
    config: {
      agents: { defaults: { timezone: "UTC", heartbeat: { every: "0" } } },
      schedules: { watch: { every: "7m", message: "What is new?", to: "loopback:owner" } },
    },
  });
  await host.say("set a reminder", { from: "owner" });
  expect(texts(host).at(-1)).toContain('"ok":true');
  model.away = away;
  await host.advance(8 * minute);
  expect(host.ended().filter(({ outcome }) => outcome === "failed")).toEqual([]);
  // The outage goes on while further times of the schedule come.
  await host.advance(60 * minute);
  expect(host.ended().filter(({ outcome }) => outcome === "failed")).toEqual([]);
  expect(notices(host)).toEqual([expect.stringMatching(/runs? that no person watches/)]);
  model.away = undefined;
  await host.say("and now?", { from: "owner" });
  const replies = (text: string) => texts(host).filter((one) => one.startsWith("heard: ") && one.includes(text));
  await expect.poll(() => replies("Look at the tank.")).toHaveLength(1);
  await expect.poll(() => replies("What is new?").length).toBeGreaterThan(0);
  await expect.poll(() => notices(host)).toHaveLength(2);
  expect(host.ended().filter(({ outcome }) => outcome === "failed")).toEqual([]);
});

test("a mail also waits and is answered once", async () => {
  const server = await startImapServer();
  onTestFinished(() => server.close());
  const ada = { host: "127.0.0.1", port: server.port, tls: false, user: server.user, password: server.password() };
  const imap = (enabled: boolean) => ({ hooks: { imap: { accounts: { ada: { ...ada, enabled } } } } });
  const { host, model } = await open({ hooks: { token: hookToken, ...imap(true).hooks } }, [mail]);
  await using _ = host;
  await host.say("hello", { from: "owner" });
  await expect.poll(() => server.count("IDLE"), { timeout: 20_000 }).toBeGreaterThan(0);
  model.away = away;
  const before = model.calls;
  await server.deliver(letter("mail-1"));
  await expect.poll(() => model.calls, { timeout: 20_000 }).toBeGreaterThan(before);
  // The clock of the mail server cannot be played.
  await host.configure(imap(false));
  await host.advance(5 * 60 * minute);
  expect(host.ended().filter(({ outcome }) => outcome === "failed")).toEqual([]);
  expect(notices(host)).toHaveLength(1);
  model.away = undefined;
  await host.say("and now?", { from: "owner" });
  await expect.poll(() => texts(host).filter((text) => text.includes("Subject: mail-1"))).toHaveLength(1);
  expect(host.ended().filter(({ outcome }) => outcome === "failed")).toEqual([]);
});

test("a webhook turn that called a tool before the outage resumes with the result, not a second call", async () => {
  const ran: Json[] = [];
  const model = { isAway: false, results: [] as Json[] };
  const writer = definePlugin({
    id: "writer",
    version: "1.0.0",
    host: "*",
    setup(plugin) {
      plugin.tool({
        name: "note",
        description: "Writes a line.",
        parameters: Type.Object({ text: Type.String() }),
        async run({ args }) {
          ran.push(args);
          return { ok: true, line: ran.length };
        },
      });
    },
  });
  await using host = await createTestHost({
    plugins: [writer],
    async answer({ inbound, tools }, signal) {
      if (!inbound.text.includes("the webhook")) return "hello";
      const note = tools.find(({ name }) => name === "note");
      model.results.push((await note?.run({ text: "milk" }, signal)) ?? null);
      if (model.isAway) throw away;
      return "noted";
    },
    config: { agents: { defaults: { heartbeat: { every: "0" } } }, hooks: { token: hookToken } },
  });
  await host.say("hello", { from: "owner" });
  model.isAway = true;
  const response = await postHook(host.url, "agent", {
    message: "the webhook",
    wakeMode: "next-heartbeat",
    channel: "loopback",
    to: "owner",
  });
  const { eventId } = (await response.json()) as { eventId: string };
  await host.advance(5 * minute);
  await host.restart({ killed: true });
  await host.advance(5 * minute);
  expect(model.results.length).toBeGreaterThan(2);
  model.isAway = false;
  await host.advance(10 * minute);
  expect(await host.settled(eventId)).toMatchObject({ outcome: "answered" });
  expect(ran).toEqual([{ text: "milk" }]);
  expect(model.results).toEqual(model.results.map(() => ({ ok: true, line: 1 })));
  expect(texts(host).filter((text) => text.includes("noted"))).toHaveLength(1);
});

test("a webhook that only fails itself asks the model less and less often, while others are answered", async () => {
  let calls = 0;
  await using host = await createTestHost({
    answer: ({ inbound }) => {
      if (!inbound.text.includes("poison")) return "fine";
      calls += 1;
      throw new EngineError("model_stalled", { detail: "no token for 120 s", retryable: true });
    },
    config: { agents: { defaults: { heartbeat: { every: "0" } } }, hooks: { token: hookToken } },
  });
  await postHook(host.url, "agent", { message: "poison", wakeMode: "next-heartbeat", deliver: false });
  const after: number[] = [];
  for (let tries = 1; tries <= 60; tries += 1) {
    expect(await host.say(`hello ${tries}`)).toMatchObject({ outcome: "answered" });
    await host.advance(minute / 3);
    if (tries % 15 === 0) after.push(calls);
  }
  // Once for each answer of another turn, it would be 120.
  expect(after.at(-1)).toBeLessThanOrEqual(12);
  expect((after[3] ?? 0) - (after[2] ?? 0)).toBeLessThanOrEqual(1);
});

test("patienceHours 0 fails at once, and an error that a retry cannot fix never waits", async () => {
  const { host, model, post } = await open({ agents: { defaults: { patienceHours: 0 } } });
  await using _ = host;
  model.away = away;
  expect(await host.settled(await post("hook 1"))).toMatchObject({ outcome: "failed", reason: "model_unreachable" });
  await host.configure({ agents: { defaults: { patienceHours: 6 } } });
  for (const reason of ["model_unauthorized", "model_unknown"]) {
    model.away = new EngineError(reason, { detail: "no" });
    expect(await host.settled(await post("hook 2"))).toMatchObject({ outcome: "failed", reason });
  }
});

test("all webhooks are answered without a notice after a ten-second model restart and a gateway kill", {
  timeout: 90_000,
}, async () => {
  const platform = await openPlatform();
  const [ada = 0] = people(platform);
  const first = await createOpenAiServer();
  const { port } = new URL(first.url);
  const config = {
    hooks: { enabled: true, token: hookToken },
    agents: { defaults: { model: "local/small" } },
    models: { providers: { local: { api: "openai-compatible", baseUrl: first.url } } },
    channels: { botchat: openChannel(platform, { streamMode: "off" }) },
    plugins: { entries: { ai: { options: { retries: 0 } } } },
  };
  const gateway = await startGatewayProcess(config);
  platform.act.say(ada, ada, "before");
  await expect.poll(() => answers(platform, ada).join("\n"), { timeout: 15_000 }).toMatch(/ before$/);
  await first.close();
  for (const message of ["a", "b", "c", "d"])
    expect((await postHook(gateway.url, "agent", { message: `hook ${message}`, deliver: true })).status).toBe(202);
  platform.act.say(ada, ada, "a person");
  await expect.poll(() => answers(platform, ada).join("\n"), { timeout: 15_000 }).toContain("Please try again later");
  await kill(gateway);
  const again = await restart(gateway);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const status = (await run(["status", "--config", again.file], { home: again.home })).out;
  expect(status).toMatch(
    /4 events wait: the model does not answer: local at http:\/\/127\.0\.0\.1:\d+\/v1 cannot be reached/,
  );
  const second = await createOpenAiServer({ port: Number(port) });
  try {
    for (const message of ["a", "b", "c", "d"])
      await expect
        .poll(() => answers(platform, ada).filter((text) => text.includes(`hook ${message}`)), { timeout: 30_000 })
        .toHaveLength(1);
    expect(answers(platform, ada).filter((text) => text.startsWith("The model"))).toEqual([]);
    await stop(again);
  } finally {
    await second.close();
  }
});
