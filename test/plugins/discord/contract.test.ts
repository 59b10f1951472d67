/** What the contract asks without a platform, and a conversation on one. */
import { channelContract } from "service-gateway/testkit";
import { aroundEach, test } from "vitest";
import discord from "../../../plugins/discord/index.ts";
import { hostsOf } from "../../../plugins/discord/options.ts";
import { createRateLimits, routeOf } from "../../../plugins/discord/rate-limits.ts";
import { expect, inOwnTest } from "../../support/own-test.ts";
import { contract } from "./contract-options.ts";
import { openRoom } from "./room.ts";

const { platform: _, ...withoutPlatform } = contract;

channelContract({ channel: discord, ...withoutPlatform });

aroundEach(inOwnTest);

test("a person is answered in a direct chat, in a channel and in a thread", async () => {
  const { server, answers, until } = await openRoom();
  const { world } = server;
  for (const channel of [world.direct(world.ada), world.general, world.thread]) {
    server.say(world.ada, channel, "hello");
    await until(() => answers(channel).length > 0);
    expect(answers(channel)).toEqual(["heard: hello"]);
  }
});

test("the token goes to the maker's hosts, or to the configured one, and nowhere else", () => {
  const makers = hostsOf({ apiRoot: "https://discord.com/api/v10" });
  expect(["wss://gateway.discord.gg", "wss://gateway-us-east1-b.discord.gg/?v=9"].map(makers.isGateway)).toEqual([
    true,
    true,
  ]);
  const foreign = [
    ...["ws://gateway.discord.gg", "wss://discord.gg.example", "wss://gatewaydiscord.gg", "wss://discord.com"],
    ...["wss://gateway.discord.gg@example.test", "https://gateway.discord.gg", "no address"],
  ];
  for (const url of foreign) expect([url, makers.isGateway(url)]).toEqual([url, false]);
  expect(makers.isFile("https://cdn.discordapp.com/attachments/1/2/a.png?ex=1")).toBe(true);
  for (const url of [
    "http://cdn.discordapp.com/a",
    "https://cdn.discordapp.com.example/a",
    "file:///etc/passwd",
    "https://169.254.169.254/",
  ])
    expect([url, makers.isFile(url)]).toEqual([url, false]);
  const own = hostsOf({ apiRoot: "http://127.0.0.1:8080/api/v10/" });
  expect([own.apiRoot, own.isGateway("ws://127.0.0.1:9090"), own.isGateway("wss://gateway.discord.gg")]).toEqual([
    "http://127.0.0.1:8080/api/v10",
    true,
    false,
  ]);
});

test("limits are counted for each channel, and learned from the answers", () => {
  let now = 1_000;
  const limits = createRateLimits(() => now);
  const { signal } = new AbortController();
  const post = routeOf("POST", "/channels/1100000000000000101/messages");
  const headers = (fields: Record<string, string>) =>
    new Headers({ "x-ratelimit-bucket": "b1", "x-ratelimit-limit": "2", ...fields });
  expect(limits.take(post, signal)).toBeUndefined();
  limits.answered(post, {
    status: 200,
    headers: headers({ "x-ratelimit-remaining": "1", "x-ratelimit-reset-after": "0.5" }),
  });
  expect(limits.take(post, signal)).toBeUndefined();
  expect(limits.delay(post)).toBe(500);
  expect(limits.delay(routeOf("POST", "/channels/1100000000000000102/messages"))).toBe(0);
  expect(limits.delay(routeOf("PATCH", "/channels/1100000000000000101/messages/1200000000000000001"))).toBe(0);
  now += 500;
  expect(limits.delay(post)).toBe(0);
  limits.answered(post, {
    status: 429,
    headers: new Headers({ "retry-after": "2", "x-ratelimit-global": "true" }),
    body: { retry_after: 1.5 },
  });
  expect(limits.delay(routeOf("GET", "/users/@me"))).toBe(1_500);
  now += 1_500;
  expect(limits.delay(post)).toBe(0);
});
