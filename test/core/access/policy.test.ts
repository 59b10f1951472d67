import { describe, expect, test } from "vitest";
import { ignoredEntries, parseAllowlist } from "../../../core/access/allowlist.ts";
import { identityRule } from "../../../core/access/identity.ts";
import { createMentionMatcher, patternFromName } from "../../../core/access/mention.ts";
import { type AccountAccess, type AuthorizeInput, authorize } from "../../../core/access/policy.ts";
import { settingPath } from "../../../core/access/setting-path.ts";
import type { Inbound } from "../../../core/contract/types.ts";
import { leastCostOf } from "../../support/cost.ts";

const rule = identityRule("botchat", { prefixes: ["tg", "telegram"], pattern: "\\d+" });

function message(change: Partial<Inbound> = {}): Inbound {
  return {
    id: "e1",
    channel: "botchat",
    account: "default",
    kind: "message",
    chat: { id: "7", kind: "direct" },
    sender: { id: "7", name: "Ada", username: "ada" },
    text: "hello",
    media: [],
    mention: false,
    timestamp: 0,
    authority: "channel",
    ...change,
  };
}

const judge = (access: AccountAccess, change: Partial<Inbound> = {}, more: Partial<AuthorizeInput> = {}) =>
  authorize({
    inbound: message(change),
    access,
    rule,
    path: "channels.botchat",
    approved: () => false,
    mentioned: (text) => text.includes("robo"),
    ...more,
  });

const verdict = async (access: AccountAccess, change: Partial<Inbound> = {}, paired: readonly string[] = []) => {
  const found = await judge(access, change, { approved: (id) => paired.includes(id) });
  return found.pass ? found.code : found.refusal.code;
};

describe("direct messages", () => {
  test.each<[string, AccountAccess, readonly string[], string]>([
    ["without settings direct messages need pairing", {}, [], "pairing_required"],
    ["a paired sender passes", {}, ["7"], "sender_paired"],
    ["allowFrom passes without pairing", { allowFrom: ["7"] }, [], "sender_allowed"],
    ["a number is an id too", { allowFrom: [7] }, [], "sender_allowed"],
    ["a prefix in any case is stripped", { allowFrom: ["TG:7"] }, [], "sender_allowed"],
    ["the channel's own name is a prefix", { allowFrom: ["botchat:7"] }, [], "sender_allowed"],
    ["the star admits every sender", { allowFrom: ["*"] }, [], "sender_allowed"],
    ["a name never authorises", { allowFrom: ["ada", "@ada"] }, [], "pairing_required"],
    ["an allowlist that is empty admits no sender", { dmPolicy: "allowlist", allowFrom: [] }, [], "sender_not_allowed"],
    ["allowlist ignores pairing", { dmPolicy: "allowlist" }, ["7"], "sender_not_allowed"],
    ["open without the star admits no sender", { dmPolicy: "open" }, [], "dm_open_without_star"],
    ["open with the star", { dmPolicy: "open", allowFrom: ["*"] }, [], "dm_open"],
    ["disabled refuses even the allowed", { dmPolicy: "disabled", allowFrom: ["*"] }, ["7"], "dm_disabled"],
  ])("%s", async (_name, access, paired, expected) => {
    expect(await verdict(access, {}, paired)).toBe(expected);
  });

  test("a list never lets in a sender without an id", async () => {
    expect(await verdict({ allowFrom: ["7"] }, { sender: { id: "" } })).toBe("sender_not_allowed");
  });
});

describe("groups", () => {
  const group = (change: Partial<Inbound> = {}): Partial<Inbound> => ({
    chat: { id: "-100", kind: "group" },
    mention: true,
    ...change,
  });
  const post: Partial<Inbound> = {
    chat: { id: "-9", kind: "channel" },
    sender: { id: "-9", anonymous: true },
    mention: true,
  };
  const topic = (thread: string): Partial<Inbound> => group({ chat: { id: "-100", kind: "group", thread } });

  test.each<[string, AccountAccess, Partial<Inbound>, string]>([
    ["without settings no sender is admitted", {}, group(), "group_sender_not_allowed"],
    ["pairing never counts in groups", {}, group(), "group_sender_not_allowed"],
    ["groupAllowFrom", { groupAllowFrom: ["7"] }, group(), "group_sender_allowed"],
    ["groupAllowFrom falls back to allowFrom", { allowFrom: ["7"] }, group(), "group_sender_allowed"],
    [
      "an empty groupAllowFrom does not fall back",
      { allowFrom: ["7"], groupAllowFrom: [] },
      group(),
      "group_sender_not_allowed",
    ],
    ["open lets every sender in", { groupPolicy: "open" }, group(), "group_open"],
    ["disabled admits no sender", { groupPolicy: "disabled", allowFrom: ["*"] }, group(), "group_policy_disabled"],
    ["groups is an allowlist of groups", { groupPolicy: "open", groups: { "-200": {} } }, group(), "group_not_listed"],
    ["the star lists every group", { groupPolicy: "open", groups: { "*": {} } }, group(), "group_open"],
    [
      "a name of the prototype is not a group",
      { groupPolicy: "open", groups: {} },
      group({ chat: { id: "constructor", kind: "group" } }),
      "group_not_listed",
    ],
    [
      "a group that is switched off",
      { groupPolicy: "open", groups: { "-100": { enabled: false } } },
      group(),
      "group_disabled",
    ],
    [
      "a group's own policy wins",
      { groupPolicy: "disabled", groups: { "-100": { groupPolicy: "open" } } },
      group(),
      "group_open",
    ],
    [
      "a group's own list wins",
      { groupAllowFrom: ["7"], groups: { "-100": { allowFrom: ["8"] } } },
      group(),
      "group_sender_not_allowed",
    ],
    [
      "a group takes the star's fields",
      { groups: { "*": { groupPolicy: "open" }, "-100": { requireMention: false } } },
      group({ mention: false }),
      "group_open",
    ],
    [
      "a topic's policy wins",
      { groupPolicy: "open", groups: { "-100": { topics: { "5": { groupPolicy: "disabled" } } } } },
      topic("5"),
      "group_policy_disabled",
    ],
    [
      "a topic takes its group's fields",
      { groups: { "-100": { groupPolicy: "open", topics: { "5": {} } } } },
      topic("5"),
      "group_open",
    ],
    [
      "a topic that is switched off",
      { groupPolicy: "open", groups: { "-100": { topics: { "5": { enabled: false } } } } },
      topic("5"),
      "topic_disabled",
    ],
    ["no mention, no reply", { groupPolicy: "open" }, group({ mention: false }), "mention_required"],
    [
      "a pattern counts as a mention",
      { groupPolicy: "open" },
      group({ mention: false, text: "hey robo" }),
      "group_open",
    ],
    ["a reaction needs no mention", { groupPolicy: "open" }, group({ mention: false, kind: "reaction" }), "group_open"],
    [
      "an edit needs one, as a message does",
      { groupPolicy: "open" },
      group({ mention: false, kind: "edit" }),
      "mention_required",
    ],
    ["a press needs no mention", { groupPolicy: "open" }, group({ mention: false, kind: "press" }), "group_open"],
    [
      "requireMention false",
      { groupPolicy: "open", groups: { "-100": { requireMention: false } } },
      group({ mention: false }),
      "group_open",
    ],
    ["posts of a channel are judged as a group's", { groupPolicy: "open" }, post, "group_open"],
    [
      "the channel's own id in a list admits no sender",
      { groupAllowFrom: ["9", "-9", 9] },
      post,
      "group_sender_not_allowed",
    ],
    ["a star admits messages sent on behalf of a chat", { groupAllowFrom: ["*"] }, post, "group_sender_allowed"],
    [
      "an anonymous administrator is never admitted by a list",
      { groupAllowFrom: ["7"] },
      group({ sender: { id: "7", anonymous: true } }),
      "group_sender_not_allowed",
    ],
    [
      "a chat without rules",
      { groupPolicy: "open", allowFrom: ["*"] },
      group({ chat: { id: "x", kind: "system" } }),
      "chat_kind_not_handled",
    ],
  ])("%s", async (_name, access, change, expected) => {
    expect(await verdict(access, change, ["7"])).toBe(expected);
  });

  const exact = { "-100": { topics: { "5": {} } } };
  test.each<[string, AccountAccess, Partial<Inbound>, string]>([
    ["without settings: the list to fill", {}, group(), "groupAllowFrom"],
    ["allowFrom, where groupAllowFrom falls back to it", { allowFrom: ["8"] }, group(), "allowFrom"],
    [
      "the group that is switched off by *",
      { groups: { "*": { enabled: false }, "-100": {} } },
      group(),
      "groups.*.enabled",
    ],
    [
      "the topic that is",
      { groups: { "-100": { topics: { "5": { enabled: false } } } } },
      topic("5"),
      "groups.-100.topics.5.enabled",
    ],
    ["groups, when it names others", { groups: { "-200": {} } }, group(), "groups"],
    ["the account's policy", { groupPolicy: "disabled", groups: exact }, topic("5"), "groupPolicy"],
    [
      "the group's own policy",
      { groups: { "-100": { groupPolicy: "disabled" } } },
      topic("5"),
      "groups.-100.groupPolicy",
    ],
    [
      "a policy taken from *",
      { groups: { "*": { groupPolicy: "disabled" }, ...exact } },
      topic("5"),
      "groups.*.groupPolicy",
    ],
    [
      "the policy of a topic under *",
      { groups: { "*": { topics: { "5": { groupPolicy: "disabled" } } } } },
      topic("5"),
      "groups.*.topics.5.groupPolicy",
    ],
    ["a list taken from *", { groups: { "*": { allowFrom: ["8"] }, ...exact } }, topic("5"), "groups.*.allowFrom"],
    [
      "the mention, by default and with no group named",
      { groupPolicy: "open" },
      group({ mention: false }),
      "groups.*.requireMention",
    ],
    [
      "the mention, where the group is named",
      { groupPolicy: "open", groups: { "-100": {} } },
      group({ mention: false }),
      "groups.-100.requireMention",
    ],
    [
      "the mention, as set for *",
      { groupPolicy: "open", groups: { "*": { requireMention: true }, "-100": {} } },
      group({ mention: false }),
      "groups.*.requireMention",
    ],
  ])("a refusal names the setting that decided: %s", async (_name, access, change, expected) => {
    const found = await judge(access, change);
    const path = `channels.botchat.${expected}`;
    expect(found).toMatchObject({ pass: false, refusal: { path, hint: expect.stringContaining(path) } });
  });

  test("each field of a topic is resolved separately from the group's entry and the * entry", async () => {
    const access: AccountAccess = {
      groupPolicy: "disabled",
      groups: {
        "-100": { topics: { "5": { requireMention: false } } },
        "*": { topics: { "5": { groupPolicy: "open" } } },
      },
    };
    expect(await judge(access, { ...topic("5"), mention: false })).toEqual({
      pass: true,
      code: "group_open",
      path: "channels.botchat.groups.*.topics.5.groupPolicy",
    });
  });
});

describe("the path of a setting", () => {
  const section = {
    groupPolicy: "open",
    groups: { "-1": { requireMention: true } },
    accounts: { Work: { allowFrom: ["1"], groups: { "-1": { enabled: true } } } },
  };
  test.each([
    [["allowFrom"], "channels.botchat.accounts.Work.allowFrom"],
    [["groupPolicy"], "channels.botchat.groupPolicy"],
    [["groups", "-1", "requireMention"], "channels.botchat.groups.-1.requireMention"],
    [["groups", "-1", "enabled"], "channels.botchat.accounts.Work.groups.-1.enabled"],
    [["dmPolicy"], "channels.botchat.accounts.Work.dmPolicy"],
    [["groups", "a.b", "enabled"], 'channels.botchat.accounts.Work.groups["a.b"].enabled'],
  ])("%j of the account work is at %s", (keys, path) => {
    expect(settingPath(section, "botchat", "work")(keys)).toBe(path);
  });

  test("is at the root of the channel if there are no accounts", () => {
    expect(settingPath({}, "botchat", "default")(["groups", "*", "enabled"])).toBe("channels.botchat.groups.*.enabled");
  });
});

describe("allowlists and mention patterns", () => {
  test("an entry that is not an id is ignored and reported", () => {
    const list = parseAllowlist(["1", "@ada", "tg:2", "", "irc:3", "-5"], rule);
    expect([...list.ids]).toEqual(["1", "2"]);
    expect(list.ignored).toEqual(["@ada", "", "irc:3", "-5"]);
  });

  test("entries that are not ids are found in every list, with the path of the list", () => {
    const access: AccountAccess = {
      allowFrom: ["1", "@ada"],
      groupAllowFrom: ["tg:2", "ada"],
      groups: { "-100": { allowFrom: ["-5"], topics: { "5": { allowFrom: ["*", "chen wei"] } } } },
    };
    expect(ignoredEntries(access, rule, "channels.botchat")).toEqual([
      { path: "channels.botchat.allowFrom", entry: "@ada" },
      { path: "channels.botchat.groupAllowFrom", entry: "ada" },
      { path: "channels.botchat.groups.-100.allowFrom", entry: "-5" },
      { path: "channels.botchat.groups.-100.topics.5.allowFrom", entry: "chen wei" },
    ]);
  });

  test("a mention at the end of 64 KiB of text is found", () => {
    const matcher = createMentionMatcher(["@robo\\b"]);
    expect(matcher.matches(`${"a ".repeat(32_700)}@robo`)).toBe(true);
  });

  test.each(["(a+)+$", "(a|aa)+c", "(a|b|ab)*c", "([ab]+)*c", "(.*a){3}c"])(
    "the hostile pattern %s on 64 KiB takes less than 50 ms",
    async (pattern) => {
      const matcher = createMentionMatcher([pattern]);
      const texts = ["a".repeat(65_536), "ab".repeat(32_768), "abaababaabaab".repeat(5_041)].map((text) => `${text}!`);
      for (const text of texts)
        expect(await leastCostOf(() => matcher.matches(text), { below: 50 }), text.slice(0, 20)).toBeLessThan(50);
    },
  );

  test("a pattern too large to be cheap is reported and matches nothing", () => {
    const matcher = createMentionMatcher(["a{600}b{600}"]);
    expect(matcher.invalid).toMatchObject([{ reason: expect.stringContaining("too large") }]);
    expect(matcher.matches("a".repeat(20_000))).toBe(false);
  });

  test("a pattern that does not parse is reported and matches nothing", () => {
    const matcher = createMentionMatcher(["(", "ro[bp]o"]);
    expect(matcher.invalid).toHaveLength(1);
    expect(matcher.matches("hey ROBO")).toBe(true);
    expect(matcher.matches("(")).toBe(false);
  });

  test("the agent's name matches whole words only", () => {
    const matcher = createMentionMatcher([patternFromName("Robo Cat")]);
    expect(matcher.matches("ask robo  cat, please")).toBe(true);
    expect(matcher.matches("ask @Robo Cat!")).toBe(true);
    expect(matcher.matches("robo catalogue")).toBe(false);
  });
});
