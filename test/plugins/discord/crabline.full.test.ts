/**
 * The channel on the server of another author, `@openclaw/crabline`, unchanged. It has REST and the gateway with direct
 * chats, servers, threads, reactions and files. It lacks interactions (presses and slash commands), replay after a
 * resumption, the list of the bot's servers (`/users/@me/guilds`), deletions by people, and it does not honour `nonce`:
 * those are tried on the stand-in alone.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import discord from "../../../plugins/discord/index.ts";
import { makersProgram } from "../../support/makers-clients.ts";

interface Manifest {
  readonly adminToken: string;
  readonly botToken: string;
  readonly botUserId: string;
  readonly endpoints: { readonly apiRoot: string; readonly adminInboundUrl: string };
  readonly fixture: { readonly channelId: string; readonly guildId: string };
}

const ada = "135000000000000912";

async function openCrabline() {
  const { startDiscordServer } = (await import(
    pathToFileURL(makersProgram("@openclaw/crabline/dist/src/servers/discord.js")).href
  )) as { startDiscordServer(how: object): Promise<{ readonly manifest: Manifest; close(): Promise<void> }> };
  const directory = mkdtempSync(join(tmpdir(), "crabline-"));
  const { manifest, close } = await startDiscordServer({ recorderPath: join(directory, "record.jsonl") });
  onTestFinished(async () => {
    await close();
    rmSync(directory, { recursive: true });
  });
  const { endpoints, adminToken, botToken } = manifest;
  const call = async (path: string, init: RequestInit = {}) => {
    const headers = {
      authorization: `Bot ${botToken}`,
      "user-agent": "DiscordBot (https://example.test, 1.0)",
      "content-type": "application/json",
    };
    return (await fetch(`${endpoints.apiRoot}/v10${path}`, { headers, ...init })).json();
  };
  const say = async (content: string, more: object = {}) => {
    const response = await fetch(endpoints.adminInboundUrl, {
      method: "POST",
      headers: {
        authorization: `Bearer ${adminToken}`,
        "x-crabline-admin-token": adminToken,
        "content-type": "application/json",
      },
      body: JSON.stringify({ senderId: ada, senderName: "Ada", content, ...more }),
    });
    expect(response.status, await response.clone().text()).toBeLessThan(300);
  };
  return { manifest, call, say };
}

const texts = async (call: (path: string) => Promise<unknown>, channel: string, bot: string) =>
  ((await call(`/channels/${channel}/messages?limit=50`)) as { author: { id: string }; content: string }[])
    .filter(({ author }) => author.id === bot)
    .map(({ content }) => content)
    .toReversed();

test("on a server of others, people are answered in a direct chat, in a server and in a thread", async () => {
  const { manifest, call, say } = await openCrabline();
  const { botToken: token, botUserId: bot, endpoints, fixture } = manifest;
  const access = { dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open", groups: { "*": { requireMention: true } } };
  await using host = await createTestHost({
    plugins: [discord],
    config: { channels: { discord: { token, apiRoot: `${endpoints.apiRoot}/v10`, ...access } } },
    allowErrors: [/./],
  });
  const state = async () => (await host.accounts()).find(({ channel }) => channel === "discord");
  await expect.poll(async () => JSON.stringify(await state()), { timeout: 30_000 }).toContain("connected");
  expect(await state()).toMatchObject({ identity: { id: bot } });

  await say(`<@${bot}> what is bread?`, { channelId: fixture.channelId, guildId: fixture.guildId });
  await expect
    .poll(() => texts(call, fixture.channelId, bot), { timeout: 10_000 })
    .toEqual([expect.stringContaining("what is bread?")]);

  const thread = "135000000000000777";
  await say(`<@${bot}> in a thread`, {
    channelId: thread,
    parentChannelId: fixture.channelId,
    guildId: fixture.guildId,
  });
  await expect
    .poll(() => texts(call, thread, bot), { timeout: 10_000 })
    .toEqual([expect.stringContaining("in a thread")]);

  const { id: direct } = (await call("/users/@me/channels", {
    method: "POST",
    body: JSON.stringify({ recipient_id: ada }),
  })) as { readonly id: string };
  await say("in private", { channelId: direct });
  await expect
    .poll(() => texts(call, direct, bot), { timeout: 10_000 })
    .toEqual([expect.stringContaining("in private")]);
}, 60_000);
