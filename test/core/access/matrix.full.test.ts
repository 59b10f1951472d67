/**
 * Every kind of policy, override, sender and way in, against each other, held against a second reading of the rules.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { identityRule } from "../../../core/access/identity.ts";
import { pathsBelow } from "../../../core/access/place.ts";
import { type AccountAccess, authorize } from "../../../core/access/policy.ts";
import type { Inbound, InboundSender } from "../../../core/contract/types.ts";
import { type Expected, expected, groupId, type Options, type Situation } from "./oracle.ts";

const rule = identityRule("botchat", { prefixes: ["tg", "telegram"], pattern: "\\d+" });
const account = "channels.botchat";
const pathOf = pathsBelow(account);

interface SenderKind {
  readonly sender: InboundSender;
  readonly approved?: true;
}

const ada = { id: "7", name: "Ada", username: "ada" };
const senders: Readonly<Record<string, SenderKind>> = {
  listed: { sender: ada },
  paired: { sender: { id: "9", name: "Chen" }, approved: true },
  "listed and paired": { sender: ada, approved: true },
  stranger: { sender: { id: "8", name: "7" } },
  "stranger of the same name": { sender: { ...ada, id: "8" } },
  "without an id": { sender: { id: "" } },
  "a listed bot": { sender: { ...ada, isBot: true } },
  "a bot whose pairing was approved": { sender: { id: "9", isBot: true }, approved: true },
  "a strange bot": { sender: { id: "8", isBot: true } },
  "anonymous administrator": { sender: { id: groupId, name: "Group", anonymous: true } },
  "a chat with the id of somebody listed": { sender: { id: "7", anonymous: true } },
};

type Way = Pick<Situation, "entry" | "addressed" | "activation">;

const ways: readonly Way[] = [
  { entry: "message", addressed: "no" },
  { entry: "message", addressed: "entity" },
  { entry: "message", addressed: "reply" },
  { entry: "message", addressed: "word" },
  { entry: "message", addressed: "no", activation: "always" },
  { entry: "message", addressed: "no", activation: "mention" },
  { entry: "command", addressed: "no" },
  { entry: "command", addressed: "entity" },
  { entry: "edit", addressed: "no" },
  { entry: "edit", addressed: "entity" },
  { entry: "press", addressed: "entity" },
  { entry: "reaction", addressed: "no" },
];
const posts: typeof ways = [
  { entry: "post", addressed: "no" },
  { entry: "post", addressed: "entity" },
];

const lists = [
  undefined,
  [],
  ["7"],
  [7],
  ["*"],
  ["ada", "@ada", "-100", "x:7"],
  [" TG:7 "],
  ["Botchat: 7", "9"],
] as const;
const dmPolicies = [undefined, "pairing", "allowlist", "open", "disabled"] as const;
const groupPolicies = [undefined, "open", "allowlist", "disabled"] as const;

interface Case {
  readonly situation: Situation;
  readonly who: SenderKind;
}

function caseOf(options: Options, chat: Situation["chat"], who: SenderKind, way: Way, thread?: string): Case {
  const known = who.sender.anonymous !== true && who.sender.id !== "";
  const situation: Situation = {
    options,
    chat,
    ...way,
    approved: who.approved === true,
    ...(thread === undefined ? {} : { thread }),
    ...(known ? { identity: who.sender.id } : {}),
    ...(who.sender.isBot === true ? { bot: true } : {}),
  };
  return { situation, who };
}

function inboundOf({ situation, who }: Case): Inbound {
  const { entry, chat, thread, addressed } = situation;
  const kind = entry === "command" || entry === "post" ? "message" : entry;
  const text = entry === "command" ? "/status" : addressed === "word" ? "hey robo" : "hello";
  return {
    id: "e1",
    channel: "botchat",
    account: "default",
    kind,
    chat: { id: chat === "direct" ? who.sender.id : groupId, kind: chat, ...(thread === undefined ? {} : { thread }) },
    sender: who.sender,
    text,
    media: [],
    mention: addressed === "entity" || addressed === "reply",
    ...(addressed === "entity" && { mentionedByName: true }),
    timestamp: 0,
    authority: "channel",
  };
}

async function found(one: Case): Promise<Expected & { readonly hint?: string | undefined }> {
  const verdict = await authorize({
    inbound: inboundOf(one),
    access: one.situation.options as AccountAccess,
    rule,
    // A function, as the gate hands it in.
    path: pathOf,
    approved: (id) => one.who.approved === true && id === one.who.sender.id,
    mentioned: (text) => text.includes("robo"),
    activation: one.situation.activation,
    control: one.situation.entry === "command",
  });
  const below = (path = "") => path.slice(account.length + 1);
  if (verdict.pass) return { verdict: "in", code: verdict.code, path: below(verdict.path) };
  const { outcome, code, path, hint } = verdict.refusal;
  return { verdict: outcome === "silent" ? "silent" : "out", code, path: below(path), hint };
}

/** The first few that differ, in words. */
async function differences(
  cases: Iterable<Case>,
): Promise<{ readonly count: number; readonly wrong: readonly string[] }> {
  const wrong: string[] = [];
  let count = 0;
  for (const one of cases) {
    count += 1;
    const { hint, ...is } = await found(one);
    const should = expected(one.situation);
    const same = is.verdict === should.verdict && is.code === should.code && is.path === should.path;
    const told =
      is.verdict === "in" ||
      hint?.includes(should.path !== "" ? account : one.situation.bot ? "mention" : "/activation") === true;
    if (same && told) continue;
    wrong.push(`${JSON.stringify(one)}: ${JSON.stringify({ ...is, hint })} instead of ${JSON.stringify(should)}`);
    if (wrong.length === 5) break;
  }
  return { count, wrong };
}

function* directCases(): Generator<Case> {
  // What is said of groups has no bearing on a direct chat.
  const unrelated = [{}, { groupPolicy: "open", groupAllowFrom: ["*"], groups: { "*": { enabled: false } } }];
  for (const dmPolicy of dmPolicies)
    for (const allowFrom of lists)
      for (const groups of unrelated) {
        const options = withoutUndefined({ dmPolicy, allowFrom, ...groups });
        for (const who of Object.values(senders))
          for (const way of ways)
            for (const thread of [undefined, "5"]) yield caseOf(options, "direct", who, way, thread);
      }
}

const entries = [
  undefined,
  {},
  { enabled: false },
  { groupPolicy: "open", requireMention: false },
  { allowFrom: ["7"] },
] as const;
const topicEntries = [
  undefined,
  { enabled: false },
  { groupPolicy: "disabled" },
  { groupPolicy: "open" },
  { allowFrom: [] },
] as const;

function* groupCases(groupPolicy: (typeof groupPolicies)[number]): Generator<Case> {
  const places = [...placesOf()];
  const kinds = [
    "listed",
    "paired",
    "stranger",
    "a listed bot",
    "a strange bot",
    "without an id",
    "a chat with the id of somebody listed",
  ].map((name) => senders[name]);
  for (const { groups, thread } of places)
    for (const [groupAllowFrom, allowFrom] of [
      [undefined, ["7"]],
      [[], ["7"]],
      [["7"], []],
      [["*"], undefined],
      [undefined, undefined],
    ]) {
      // What is said of direct chats has no bearing on a group, pairing included.
      const options = withoutUndefined({ dmPolicy: "open", groupPolicy, groupAllowFrom, allowFrom, groups });
      for (const who of kinds)
        for (const way of ways) if (who !== undefined) yield caseOf(options, "group", who, way, thread);
    }
}

function* placesOf(): Generator<{ readonly groups: object | undefined; readonly thread?: string }> {
  yield { groups: undefined };
  yield { groups: {} };
  yield { groups: { "-200": { groupPolicy: "open" } } };
  for (const star of entries)
    for (const exact of entries)
      for (const topic of topicEntries) {
        const own = exact === undefined || topic === undefined ? exact : { ...exact, topics: { "5": topic } };
        const groups = withoutUndefined({ "*": star, [groupId]: own });
        yield { groups };
        yield { groups, thread: "5" };
      }
}

const withoutUndefined = (options: object): Options =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

describe("access by the decision table", () => {
  test("direct chats: policies x lists x senders x kinds of contact", async () => {
    const { count, wrong } = await differences(directCases());
    expect(wrong).toEqual([]);
    expect(count).toBeGreaterThan(10_000);
  });

  test.each(groupPolicies)(
    "groups, policy %s: entries of *, group and topic x lists x senders x kinds of contact",
    async (groupPolicy) => {
      const { count, wrong } = await differences(groupCases(groupPolicy));
      expect(wrong).toEqual([]);
      expect(count).toBeGreaterThan(50_000);
    },
  );

  test("channel posts follow the group rules, and no list can allow their sender", async () => {
    function* cases(): Generator<Case> {
      for (const groupPolicy of groupPolicies)
        for (const groupAllowFrom of lists)
          for (const { groups } of placesOf()) {
            const options = withoutUndefined({ groupPolicy, groupAllowFrom, groups });
            for (const way of posts)
              yield caseOf(options, "channel", { sender: { id: groupId, name: "News", anonymous: true } }, way);
          }
    }
    expect((await differences(cases())).wrong).toEqual([]);
  });

  test("random account settings agree with the table", async () => {
    const place = {
      enabled: fc.boolean(),
      requireMention: fc.boolean(),
      groupPolicy: fc.constantFrom("open", "allowlist", "disabled"),
      allowFrom: fc.constantFrom(...lists.slice(1)),
    };
    const topic = fc.record(place, { requiredKeys: [] });
    const group = fc.record(
      { ...place, topics: fc.record({ "5": topic, "6": topic }, { requiredKeys: [] }) },
      { requiredKeys: [] },
    );
    const options = fc.record(
      {
        dmPolicy: fc.constantFrom(...dmPolicies.slice(1)),
        groupPolicy: fc.constantFrom(...groupPolicies.slice(1)),
        allowFrom: fc.constantFrom(...lists.slice(1)),
        groupAllowFrom: fc.constantFrom(...lists.slice(1)),
        groups: fc.record({ "*": group, [groupId]: group, "-200": group }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    );
    const anything = fc.record({
      options,
      chat: fc.constantFrom("direct" as const, "group" as const, "channel" as const),
      who: fc.constantFrom(...Object.values(senders)),
      way: fc.constantFrom(...ways, ...posts),
      thread: fc.constantFrom(undefined, "5"),
    });
    await fc.assert(
      fc.asyncProperty(anything, async ({ options: said, chat, who, way, thread }) => {
        expect((await differences([caseOf(said as Options, chat, who, way, thread)])).wrong).toEqual([]);
      }),
      { numRuns: 5_000 },
    );
  });
});
