/** The emulated platform with one bot, and a connection to it. */
import type { Address, Reply } from "service-gateway/sdk";
import type { ChannelConnection } from "service-gateway/sdk/channel";
import {
  createPlatform,
  type Message,
  type Platform,
  type PlatformOptions,
} from "../../../plugins/playground/platform/index.ts";
import { onTestFinished } from "../../support/own-test.ts";
import { createTestAccount, openConnection, type TestAccount } from "./account.ts";

export const token = "7000000001:connection-test";
export const ada = 1001;
export const forum = -1_001_000_000_002;
export const direct: Address = { channel: "botchat", account: "default", chat: String(ada) };
export const never = new AbortController().signal;

export async function openPlatform(more: Partial<PlatformOptions> = {}): Promise<Platform> {
  const platform = await createPlatform({ bots: [{ token, username: "house_bot", name: "House" }], ...more });
  onTestFinished(() => platform.close());
  return platform;
}

export function reply(text: string, more: Partial<Reply> = {}): Reply {
  return { text, media: [], buttons: [], ...more };
}

/** Polling that a test need not wait for. */
export const quick = { timeoutSeconds: 1, minDelayMs: 20, maxDelayMs: 100 };

/** For many messages in one chat: a platform of one's own. */
const noLimits = { perBotPerSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0 };

export interface Started {
  readonly platform: Platform;
  readonly account: TestAccount;
  readonly connection: ChannelConnection;
}

export async function start(
  options: object = {},
  more: Parameters<typeof createTestAccount>[1] & { readonly platform?: Platform } = {},
): Promise<Started> {
  const platform = more.platform ?? (await openPlatform());
  const account = createTestAccount(
    { botToken: token, apiRoot: platform.url, polling: quick, limits: noLimits, ...options },
    more,
  );
  const connection = openConnection(account);
  await connection.start();
  return { platform, account, connection };
}

/** A message as the platform shows it to people. */
export function messageIn(platform: Platform, messageId: string | undefined, chat: number = ada): Message | undefined {
  return platform.world.rooms.get(chat > 0 ? `7000000001:${chat}` : String(chat))?.messages.get(Number(messageId));
}

export function callsOf(platform: Platform, method: string) {
  return platform.calls.list().filter((call) => call.method === method);
}
