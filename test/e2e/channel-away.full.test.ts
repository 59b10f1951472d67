/**
 * A channel that is missing for a while: what came from it, and what is to be sent to it, waits and is answered once it
 * is back.
 */
import { setTimeout as wait } from "node:timers/promises";
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import { createPlatform, type Platform } from "../../plugins/playground/platform/index.ts";
import { run } from "../core/cli/command-runner.ts";
import {
  answers,
  botToken,
  hookToken,
  kill,
  openChannel,
  openPlatform,
  people,
  postHook,
  type Running,
  restart,
  startGatewayProcess,
  stop,
  withBasics,
  writeConfig,
} from "./room.ts";

const told = async (gateway: Running, ...args: readonly string[]) =>
  (await run([...args, "--config", gateway.file], { home: gateway.home })).out;

const hooks = { enabled: true, token: hookToken };
/** No turn ends before the gateway is killed. Echo waits for ten seconds at most. */
const endless = { entries: { echo: { options: { delayMs: 10_000 } } } };
const slow = { entries: { echo: { options: { delayMs: 6_000 } } } };

interface Missing {
  readonly name: string;
  config(channel: object): object;
  readonly why: string;
  /** Sections of the configuration before and after. */
  readonly rest?: object;
}

/** The state is at its default place, which an emptied file does not change. */
const defaultState = { state: undefined };

const ways: readonly Missing[] = [
  {
    name: "is disabled",
    config: (channel) => ({ hooks, channels: { botchat: { ...channel, enabled: false } } }),
    why: "botchat:default is disabled",
  },
  { name: "has no section", config: () => ({ hooks }), why: "botchat:default is not configured" },
  {
    name: "has no plugin",
    config: (channel) => ({
      hooks,
      channels: { botchat: channel },
      plugins: { entries: { botchat: { enabled: false } } },
    }),
    why: "botchat:default has no plugin that provides the channel",
  },
  {
    // A free port, because another process may use the default one.
    name: "is in a file that was emptied",
    config: () => ({ ...defaultState, gateway: { port: 0 }, plugins: undefined }),
    why: "botchat:default is not configured",
    rest: defaultState,
  },
];

/** Leaves three messages and one webhook unanswered in a gateway that is killed. */
async function leaveWaiting(platform: Platform, rest: object = {}): Promise<Running> {
  const [ada = 0] = people(platform);
  const channel = openChannel(platform, { streamMode: "off" });
  const gateway = await startGatewayProcess({ hooks, channels: { botchat: channel }, ...rest });
  platform.act.say(ada, ada, "before");
  await expect.poll(() => answers(platform, ada), { timeout: 15_000 }).toContain("before");
  // Killed before the store knows that the reply was sent, the gateway would repeat it.
  await expect.poll(() => told(gateway, "why", "last"), { timeout: 15_000 }).toMatch(/^answered/);
  writeConfig(gateway.file, withBasics({ hooks, channels: { botchat: channel }, plugins: endless, ...rest }));
  await kill(gateway);
  const again = await restart(gateway);
  for (const text of ["one", "two", "three"]) platform.act.say(ada, ada, text);
  expect((await postHook(again.url, "agent", { message: "a webhook", wakeMode: "next-heartbeat" })).status).toBe(202);
  await expect
    .poll(() =>
      told(again, "events", "list", "--outcome", "waiting", "--json").then((out) => JSON.parse(out).events.length),
    )
    .toBe(4);
  await kill(again);
  return again;
}

for (const { name, config, why, rest } of ways)
  test(`a channel that ${name} at a start costs nothing: its messages and a webhook's reply wait, and ` +
    "doctor and status say for what", {
    timeout: 90_000,
  }, async () => {
    const platform = await openPlatform();
    const [ada = 0] = people(platform);
    const channel = openChannel(platform);
    const left = await leaveWaiting(platform, rest);
    writeConfig(left.file, withBasics(config(channel)));
    const without = await restart(left);
    await wait(1_500);
    expect(JSON.parse(await told(without, "events", "list", "--outcome", "failed", "--json")).events).toEqual([]);
    expect(await told(without, "why", "last")).toContain("waiting");
    const status = JSON.parse(await told(without, "status", "--json"));
    expect(status.waits).toMatchObject([
      { channel: "botchat", account: "default", events: 4, reason: expect.stringContaining(why) },
    ]);
    expect(await told(without, "status")).toContain(`4 events wait: ${why}`);
    const { findings } = JSON.parse(await told(without, "doctor", "--json"));
    expect(findings).toContainEqual(
      expect.objectContaining({ check: "waiting", verdict: "warn", reason: expect.stringContaining(why) }),
    );
    writeConfig(without.file, withBasics({ hooks, channels: { botchat: channel }, ...rest }));
    if (name === "has no plugin") {
      await stop(without);
      await restart(without).then(async (again) => {
        await expect.poll(() => answers(platform, ada), { timeout: 20_000 }).toHaveLength(5);
        await stop(again);
      });
    } else {
      await expect.poll(() => answers(platform, ada), { timeout: 20_000 }).toHaveLength(5);
      await stop(without);
    }
    expect(answers(platform, ada).slice(0, 4)).toEqual([
      "before",
      expect.any(String),
      expect.any(String),
      expect.any(String),
    ]);
    for (const text of ["one", "two", "three", "a webhook"])
      expect(
        answers(platform, ada).filter((said) => said.includes(text)),
        answers(platform, ada).join("\n---\n"),
      ).toHaveLength(1);
  });

test("replies of a channel removed during their turns are stored and sent after its return, without a new turn", {
  timeout: 60_000,
}, async () => {
  const platform = await openPlatform();
  const [ada = 0] = people(platform);
  const channel = openChannel(platform, { streamMode: "off" });
  const gateway = await startGatewayProcess({ hooks, channels: { botchat: channel }, plugins: slow });
  platform.act.say(ada, ada, "one");
  platform.act.say(ada, ada, "two");
  await expect
    .poll(() =>
      told(gateway, "events", "list", "--outcome", "waiting", "--json").then((out) => JSON.parse(out).events.length),
    )
    .toBe(2);
  writeConfig(gateway.file, withBasics({ hooks, plugins: slow }));
  await wait(8_000);
  expect(answers(platform, ada)).toEqual([]);
  expect(JSON.parse(await told(gateway, "events", "list", "--outcome", "failed", "--json")).events).toEqual([]);
  writeConfig(gateway.file, withBasics({ hooks, channels: { botchat: channel }, plugins: slow }));
  await expect.poll(() => answers(platform, ada), { timeout: 15_000 }).toEqual(["one", "two"]);
  const [last] = JSON.parse(await told(gateway, "events", "list", "--json")).events;
  expect(last).toMatchObject({ outcome: "answered", attempts: 1 });
  await stop(gateway);
});

test("a new bot under the same account does not answer the previous bot's messages, which wait for that bot", {
  timeout: 60_000,
}, async () => {
  const other = "4343:another-bot-token-AbCdEf";
  const platform = await createPlatform({
    bots: [botToken, other].map((token, index) => ({ token, username: `bot_${index}`, name: "Bot" })),
  });
  onTestFinished(() => platform.close());
  const [ada = 0] = people(platform);
  const channel = openChannel(platform, { streamMode: "off" });
  const left = await startGatewayProcess({ hooks, channels: { botchat: channel }, plugins: endless });
  platform.act.say(ada, ada, "for the first bot");
  await expect
    .poll(() =>
      told(left, "events", "list", "--outcome", "waiting", "--json").then((out) => JSON.parse(out).events.length),
    )
    .toBe(1);
  await kill(left);
  writeConfig(left.file, withBasics({ hooks, channels: { botchat: { ...channel, botToken: other } } }));
  const gateway = await restart(left);
  await expect
    .poll(() => told(gateway, "status"), { timeout: 10_000 })
    .toContain("1 event waits: botchat:default signs in as another bot than the one that received the event");
  writeConfig(gateway.file, withBasics({ hooks, channels: { botchat: channel } }));
  await expect.poll(() => answers(platform, ada), { timeout: 15_000 }).toEqual(["for the first bot"]);
  await stop(gateway);
});

const hour = 3_600_000;

for (const [name, ms, end] of [
  ["an hour", hour, { outcome: "answered" }],
  ["eight days", 8 * 24 * hour, { outcome: "failed", reason: "waited_too_long" }],
] as const)
  test(`a webhook's reply waits for a channel that is gone for ${name}, without asking the store meanwhile`, async () => {
    await using host = await createTestHost({
      config: { agents: { defaults: { heartbeat: { every: "0" } } }, hooks: { token: hookToken } },
    });
    await host.say("hello", { from: "owner" });
    await host.configure({ channels: { loopback: { enabled: false } } });
    const response = await postHook(host.url, "agent", {
      message: "the webhook",
      channel: "last",
      wakeMode: "next-heartbeat",
    });
    const { eventId } = (await response.json()) as { eventId: string };
    await host.advance(ms);
    // Old events are looked for every ten minutes, and one step of the clock plays at most a thousand rounds.
    await host.advance(hour);
    // A wait that was seen once is traced once, however long it lasts.
    expect((await host.why(eventId)).filter(({ code }) => code === "account_not_open")).toHaveLength(1);
    await host.configure({ channels: { loopback: { enabled: true } } });
    expect(await host.settled(eventId)).toMatchObject(end);
    expect(host.outbox().filter(({ text = "" }) => text.includes("the webhook"))).toHaveLength(
      end.outcome === "answered" ? 1 : 0,
    );
  });
