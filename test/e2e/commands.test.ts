/**
 * Chat commands through the channel: the menu on the platform, and `/stop` against turns that run and turns that wait.
 */
import { setTimeout as delay } from "node:timers/promises";
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import type { GatewayDescription } from "../../core/gateway/gateway.ts";
import type { EngineTurn, TurnEvent } from "../../core/sdk/contract.ts";
import botchat from "../../plugins/botchat/index.ts";
import devicePair from "../../plugins/device-pair/index.ts";
import { converse } from "./conversation.ts";
import { answered, answers, openChannel, openPlatform, people } from "./room.ts";

/** Whose turns run until they are stopped, and say when that was. */
function endless() {
  const seen: { readonly text: string; stoppedAt?: number }[] = [];
  const answer = async function* (turn: EngineTurn, signal: AbortSignal): AsyncGenerator<TurnEvent> {
    const mine: { readonly text: string; stoppedAt?: number } = { text: turn.inbound.text };
    seen.push(mine);
    yield { type: "text", delta: "I begin to write a very long answer" };
    await delay(60_000, undefined, { signal, ref: false }).catch(() => {
      mine.stoppedAt = performance.now();
    });
  };
  return { answer, seen };
}

async function open(config: object = {}) {
  const platform = await openPlatform();
  const { answer, seen } = endless();
  const channel = { ...openChannel(platform), streamMode: "off" };
  const host = await createTestHost({
    plugins: [botchat, devicePair],
    answer,
    config: {
      commands: { ownerAllowFrom: undefined },
      channels: { botchat: channel },
      session: { dmScope: "per-peer" },
      ...config,
    },
  });
  onTestFinished(() => host.close());
  const settled = async () => {
    const { gateway } = (await (await host.fetch("/gateway/describe")).json()) as {
      readonly gateway: Pick<GatewayDescription, "stats">;
    };
    return gateway.stats.settled;
  };
  return { platform, seen, edit: host.configure, channel, settled, people: people(platform) };
}

test("/stop ends a running turn within 200 ms, through the platform and back", async () => {
  const { platform, seen, people, settled } = await open();
  const [ada = 0] = people;
  let least = Number.POSITIVE_INFINITY;
  let round = 0;
  // The machine may be busy with something else a few times.
  while (round < 8 && least >= 200) {
    round += 1;
    platform.act.say(ada, ada, `go ${round}`);
    await expect.poll(() => seen.length, { interval: 5 }).toBe(round);
    const began = performance.now();
    platform.act.say(ada, ada, "/stop");
    await expect.poll(() => seen[round - 1]?.stoppedAt, { interval: 5 }).toBeDefined();
    least = Math.min(least, (seen[round - 1]?.stoppedAt ?? Number.POSITIVE_INFINITY) - began);
    await expect
      .poll(() => answers(platform, ada).filter((text) => text === "Stopped.").length, { interval: 10 })
      .toBe(round);
  }
  expect(least).toBeLessThan(200);
  await expect.poll(async () => (await settled()).silent).toBe(round);
  expect(answers(platform, ada).join(" ")).not.toContain("long answer");
});

test("/stop also cancels waiting messages of the chat and queued turns; later messages are answered", async () => {
  const { platform, seen, people, settled } = await open({ agents: { defaults: { maxConcurrent: 1 } } });
  const [ada = 0, bela = 0] = people;
  platform.act.say(ada, ada, "first");
  await expect.poll(() => seen.length, { interval: 5 }).toBe(1);
  platform.act.say(ada, ada, "second");
  platform.act.say(bela, bela, "waits for a place");
  await expect.poll(() => platform.pending()).toBe(0);
  platform.act.say(bela, bela, "/stop");
  await answered(platform, bela, "Stopped.");
  expect(seen.map(({ text }) => text)).toEqual(["first"]);
  platform.act.say(ada, ada, "/stop");
  await answered(platform, ada, "Stopped.");
  // The two that waited end one after the other, without a word and without the engine.
  await expect.poll(async () => (await settled()).silent).toBe(3);
  platform.act.say(ada, ada, "after that");
  await expect.poll(() => seen.map(({ text }) => text)).toEqual(["first", "after that"]);
  platform.act.say(bela, bela, "/stop");
  await answered(platform, bela, "Nothing is running here.");
});

test("the menu lists native, plugin and custom commands in order; an edit needs no new connection", async () => {
  const { platform, channel, edit } = await open();
  const menus = () =>
    platform.calls
      .list({ method: "setMyCommands" })
      .map(({ params }) => (params.commands as { command: string }[]).map(({ command }) => command));
  const native = [
    "help",
    "commands",
    "status",
    "whoami",
    "new",
    "reset",
    "compact",
    "stop",
    "model",
    "think",
    "reasoning",
    "tools",
    "activation",
    "usage",
    "budget",
    "approve",
    "deny",
    "link",
    "config",
  ];
  await expect.poll(menus).toEqual([[...native, "pair"]]);
  await edit({
    channels: { botchat: { ...channel, customCommands: [{ command: "/Brew", description: "Make tea" }] } },
  });
  await expect.poll(() => menus().at(-1)).toEqual([...native, "pair", "brew"]);
  await edit({ commands: { native: false } });
  await expect.poll(() => menus().at(-1)).toEqual(["pair", "brew"]);
  await edit({ channels: { botchat: { customCommands: undefined } } });
  await expect.poll(() => menus().at(-1)).toEqual(["pair"]);
  expect(platform.calls.list({ method: "getMe" })).toHaveLength(1);
});

test("a command forwarded by the owner is not run; the agent reads it as a message", async () => {
  const place = await converse({
    channel: { dmPolicy: "allowlist", allowFrom: [1001] },
    config: { commands: { config: true } },
  });
  await place.start();
  const { platform, ada } = place;
  const forwardOrigin = {
    type: "user",
    date: 1_700_000_000,
    sender_user: { id: 6_006, is_bot: false, first_name: "Mallory" },
  };
  for (const text of ["/config set channels.botchat.dmPolicy open", "/stop", "/new"]) {
    const before = place.turns.length;
    platform.act.say(ada, ada, text, { forwardOrigin });
    await place.asked(before + 1);
    expect(place.lastAsked()).toContain(`] ${text}\n[forwarded from Mallory`);
  }
  // None of them took a lane of its own, and the conversation is the same one.
  await place.ended(3);
  const events = await place.events();
  expect(new Set(events.map(({ lane }) => lane))).toEqual(new Set([`botchat:default:${ada}`]));
  expect(
    place.turns
      .at(-1)
      ?.messages.map(({ text }) => text)
      .join("\n"),
  ).toContain("/config set");
  platform.act.say(ada, ada, "/whoami");
  await expect.poll(() => place.messages(ada).at(-1)?.text).toContain("Owner: yes");
});
