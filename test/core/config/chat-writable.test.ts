import { expect, test } from "vitest";
import { notChatWritable } from "../../../core/config/editing/chat-writable.ts";
import { parsePath } from "../../../core/config/path.ts";
import { wholeSchema } from "../../../core/config/plugin-schemas.ts";
import type { SchemaNode } from "../../../core/config/schema-node.ts";
import { accountOptions } from "../../../plugins/botchat/options.ts";

const schema = wholeSchema({
  channels: { botchat: { options: accountOptions, secrets: ["botToken", "webhookSecret"] } },
});

/** Reviewed by hand: a key is added here only when a stranger with an owner's phone can do no lasting harm with it. */
const reviewed = `
agents.defaults.compaction.at agents.defaults.compaction.keepTurns agents.list[].compaction.at agents.list[].compaction.keepTurns
agents.defaults.heartbeat.ackMaxChars agents.defaults.heartbeat.activeHours agents.defaults.heartbeat.every agents.defaults.heartbeat.prompt
agents.defaults.model agents.defaults.systemPrompt agents.defaults.thinking
agents.list[].groupChat.mentionPatterns agents.list[].heartbeat.ackMaxChars agents.list[].heartbeat.activeHours agents.list[].heartbeat.every
agents.list[].heartbeat.prompt agents.list[].identity agents.list[].model agents.list[].name agents.list[].systemPrompt agents.list[].thinking
channels.botchat.ackReaction channels.botchat.blockStreaming channels.botchat.chunkMode channels.botchat.customCommands
channels.botchat.dmHistoryLimit channels.botchat.dms channels.botchat.draftChunk channels.botchat.editedMessages channels.botchat.groups.*.requireMention
channels.botchat.groups.*.skills channels.botchat.groups.*.systemPrompt channels.botchat.groups.*.topics.*.requireMention
channels.botchat.groups.*.topics.*.skills channels.botchat.groups.*.topics.*.systemPrompt channels.botchat.historyLimit
channels.botchat.linkPreview channels.botchat.reactionLevel channels.botchat.reactionNotifications channels.botchat.replyToMode
channels.botchat.responsePrefix channels.botchat.streamMode channels.botchat.textChunkLimit
messages.ackReaction messages.ackReactionScope messages.groupChat.historyLimit messages.groupChat.mentionPatterns
messages.inbound.debounceMs messages.removeAckAfterReply`;

interface Found {
  readonly path: string;
  readonly node: SchemaNode;
  readonly marked: boolean;
}

function walk(node: SchemaNode, path: string, above: boolean): readonly Found[] {
  const marked = above || node.chatWritable === true;
  const inner = [
    ...Object.entries(node.properties ?? {}).map(
      ([key, child]) => [path === "" ? key : `${path}.${key}`, child] as const,
    ),
    ...[...Object.values(node.patternProperties ?? {}), node.additionalProperties].map(
      (child) => [`${path}.*`, child] as const,
    ),
    [`${path}[]`, node.items] as const,
    ...(node.anyOf ?? []).map((child) => [path, child] as const),
  ];
  return [
    { path, node, marked },
    ...inner.flatMap(([at, child]) =>
      typeof child === "object" && !Array.isArray(child) ? walk(child as SchemaNode, at, marked) : [],
    ),
  ];
}

const all = walk(schema, "", false);

test("a chat may write only the keys on a reviewed list", () => {
  const marks = all.filter(({ node }) => node.chatWritable === true).map(({ path }) => path);
  // The generic channel and the accounts have the keys of a channel once more.
  const own = new Set(marks.filter((path) => !path.startsWith("channels.*") && !path.includes(".accounts")));
  expect([...own].sort()).toEqual(reviewed.trim().split(/\s+/).sort());
});

test("no secret, token, owner, address, path or permission is among the chat-writable keys", () => {
  const below = all.filter(({ marked }) => marked);
  expect(below.filter(({ node }) => node.secret === true)).toEqual([]);
  const harmful =
    /(?:^|[.])(?:\w*(?:token|secret|key|url|host|port|path|dir|file|proxy|root|owner|provider|plugin|workspace)\w*|dmPolicy|groupPolicy|allowFrom|groupAllowFrom|enabled)$/i;
  expect(below.map(({ path }) => path).filter((path) => harmful.test(path))).toEqual([]);
});

test.each<readonly [path: string, value: unknown, refused: string | undefined]>([
  ["messages.groupChat.historyLimit", 7, undefined],
  ["messages.groupChat", { historyLimit: 7 }, undefined],
  ["messages", { groupChat: { historyLimit: 7 }, ackReaction: "" }, undefined],
  ['channels.botchat.groups["-100"].requireMention', false, undefined],
  ['channels.botchat.groups["-100"].systemPrompt', undefined, undefined],
  ['channels.botchat.groups["-100"].topics["7"].requireMention', false, undefined],
  ['channels["botchat"].groups', {}, "channels.botchat.groups"],
  ["channels.botchat.groups", undefined, "channels.botchat.groups"],
  ["channels.botchat.groups", { "*": { requireMention: false } }, "channels.botchat.groups"],
  ["channels.botchat", { groups: { "-100": { requireMention: false } } }, "channels.botchat.groups"],
  ['channels.botchat.groups["-100"]', {}, "channels.botchat.groups.-100"],
  ['channels.botchat.groups["-100"]', undefined, "channels.botchat.groups.-100"],
  ['channels.botchat.groups["-200"].requireMention', false, "channels.botchat.groups.-200"],
  ['channels.botchat.groups["*"].requireMention', false, "channels.botchat.groups.*"],
  ['channels.botchat.groups["-100"].groupPolicy', "open", "channels.botchat.groups.-100.groupPolicy"],
  ['channels.botchat.groups["-100"].allowFrom', ["*"], "channels.botchat.groups.-100.allowFrom"],
  ['channels.botchat.groups["-100"].enabled', true, "channels.botchat.groups.-100.enabled"],
  ['channels.botchat.groups["-100"].topics["7"].allowFrom', ["*"], "channels.botchat.groups.-100.topics.7.allowFrom"],
  [
    'channels.botchat.groups["-100"].topics["7"]',
    { groupPolicy: "open" },
    "channels.botchat.groups.-100.topics.7.groupPolicy",
  ],
  ['channels.botchat.accounts.main.groups["-100"].requireMention', false, "channels.botchat.accounts.main.groups.-100"],
  ["channels.botchat.bots.limit", 100, "channels.botchat.bots.limit"],
  ["channels.botchat.accounts.main.streamMode", "off", undefined],
  ["agents.list[0].systemPrompt", "Be brief", undefined],
  ["agents.defaults.thinking", undefined, undefined],
  ["hooks.token", "x", "hooks.token"],
  ['hooks["token"]', "x", "hooks.token"],
  ["hooks", { token: "x" }, "hooks.token"],
  ["gateway.auth", { token: "x" }, "gateway.auth.token"],
  ["gateway.auth.token", undefined, "gateway.auth.token"],
  ["models.providers.local.baseUrl", "http://evil.example", "models.providers.local.baseUrl"],
  ["models.providers", {}, "models.providers.local.baseUrl"],
  ["commands.ownerAllowFrom", ["7"], "commands.ownerAllowFrom"],
  ["commands", undefined, "commands.ownerAllowFrom"],
  ["channels.botchat.allowFrom", ["7"], "channels.botchat.allowFrom"],
  ["channels.botchat.dmPolicy", "open", "channels.botchat.dmPolicy"],
  ["channels.botchat.botToken", "x", "channels.botchat.botToken"],
  ["channels.botchat.apiRoot", "http://evil.example", "channels.botchat.apiRoot"],
  ["channels.botchat", { streamMode: "off", apiRoot: "http://evil.example" }, "channels.botchat.apiRoot"],
  ["channels.botchat.accounts.other.streamMode", "off", "channels.botchat.accounts.other.streamMode"],
  ["channels.botchat.accounts", { other: { streamMode: "off" } }, "channels.botchat.accounts.other"],
  ["channels.other.groups", {}, "channels.other.groups"],
  ["channels", { other: { groups: {} } }, "channels.other"],
  ["agents.list", [{ id: "x", systemPrompt: "y" }], "agents.list"],
  ["agents.defaults.workspace", "/", "agents.defaults.workspace"],
  ["agents.defaults.model", "x/y", undefined],
  ["agents.defaults.models", ["x/y"], "agents.defaults.models"],
  ["plugins.load", ["/x"], "plugins.load"],
  ["state.dir", "/", "state.dir"],
  ["", { messages: { ackReaction: "" } }, "commands.ownerAllowFrom"],
])("%s set to %j from a chat is refused at %s", (path, value, refused) => {
  const config = {
    commands: { ownerAllowFrom: ["1"] },
    models: { providers: { local: { baseUrl: "http://127.0.0.1" } } },
    channels: { botchat: { groups: { "-100": { requireMention: true } } } },
  };
  const place = { channel: "botchat", account: "main" };
  const found = notChatWritable(schema, { path: parsePath(path) ?? [], value, config, place });
  expect(found).toBe(refused);
});
