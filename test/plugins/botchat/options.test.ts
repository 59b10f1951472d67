/** What an account of the channel has when its section sets nothing, and where each option is read. */
import { describe, expect, test } from "vitest";
import { validateSection } from "../../../core/config/checking/validate.ts";
import { accessSchema } from "../../../core/config/schema/channels.ts";
import { accountOptions } from "../../../plugins/botchat/options.ts";

const path = "channels.botchat";

describe("the default options of an account", () => {
  test("are the safe ones for access", () => {
    expect(validateSection(accessSchema, {}, path).value).toEqual({
      enabled: true,
      dmPolicy: "pairing",
      allowFrom: [],
      groupPolicy: "allowlist",
      bots: { limit: 3 },
      reactionNotifications: "own",
      configWrites: true,
    });
  });

  test("are the documented ones for the channel", () => {
    const { value, problems } = validateSection(accountOptions, {}, path);
    expect(problems).toEqual([]);
    expect(value).toMatchObject({
      capabilities: { inlineButtons: "allowlist" },
      replyToMode: "off",
      streamMode: "partial",
      draftChunk: { minChars: 200, maxChars: 800, breakPreference: "paragraph" },
      textChunkLimit: 4_000,
      chunkMode: "length",
      linkPreview: true,
      retry: { attempts: 3, minDelayMs: 400, maxDelayMs: 30_000, jitter: 0.1 },
      limits: { perBotPerSecond: 30, perChatPerSecond: 1, perGroupPerMinute: 20 },
      polling: { stallSeconds: 120, minDelayMs: 2_000, maxDelayMs: 30_000 },
      webhookPath: "/telegram-webhook",
      webhookHost: "127.0.0.1",
      webhookPort: 8_787,
      actions: { sendMessage: true, editMessage: true, deleteMessage: true, reactions: true, sticker: false },
      reactionNotifications: "own",
      reactionLevel: "minimal",
      configWrites: true,
      customCommands: [],
    });
    for (const unset of [
      "botToken",
      "tokenFile",
      "webhookUrl",
      "webhookSecret",
      "proxy",
      "ackReaction",
      "responsePrefix",
      "timeoutSeconds",
    ]) {
      expect(value, unset).not.toHaveProperty(unset);
    }
    expect((value as { readonly network: object }).network).toEqual({});
  });

  test("do not include sendReadReceipts, which is reported as unknown because the platform has no such feature", () => {
    const { problems } = validateSection(accountOptions, { sendReadReceipts: true }, path);
    expect(problems).toMatchObject([{ severity: "warning", path: `${path}.sendReadReceipts` }]);
  });
});
