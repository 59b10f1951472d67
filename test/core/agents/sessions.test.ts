import { describe, expect, test } from "vitest";
import {
  agentFor,
  agentOfKey,
  mainSessionKey,
  movedSessions,
  recipientOf,
  resetSession,
  sessionKeyFor,
} from "../../../core/agents/conversation/sessions.ts";
import type { AgentsView, DmScope } from "../../../core/config/agents.ts";
import type { Inbound } from "../../../core/contract/types.ts";
import { message } from "./inbound.ts";

describe("the session of a message", () => {
  const topic = (thread: string): Partial<Inbound> => ({ chat: { id: "-100", kind: "group", thread } });
  const cases: readonly [string, Partial<Inbound>, DmScope | undefined, string][] = [
    ["a direct message: the main session", {}, undefined, "agent:main:main"],
    ["its thread", { chat: { id: "42", kind: "direct", thread: "9" } }, "main", "agent:main:main:thread:9"],
    ["per peer", {}, "per-peer", "agent:main:dm:42"],
    ["per channel and peer", {}, "per-channel-peer", "agent:main:irc:dm:42"],
    ["per account, channel and peer", { account: "work" }, "per-account-channel-peer", "agent:main:irc:work:dm:42"],
    [
      "per peer, in a thread",
      { chat: { id: "42", kind: "direct", thread: "9" } },
      "per-peer",
      "agent:main:dm:42:thread:9",
    ],
    [
      "a group, whatever the scope of direct messages",
      { chat: { id: "-100", kind: "group" } },
      "per-peer",
      "agent:main:irc:group:-100",
    ],
    ["a topic", topic("7"), undefined, "agent:main:irc:group:-100:topic:7"],
    ["the general topic", topic("1"), undefined, "agent:main:irc:group:-100:topic:1"],
    [
      "a group of another account",
      { account: "work", chat: { id: "-100", kind: "group" } },
      undefined,
      "agent:main:irc:work:group:-100",
    ],
    ["a channel", { chat: { id: "-200", kind: "channel" } }, undefined, "agent:main:irc:channel:-200"],
    [
      "what no person wrote: the main session",
      { chat: { id: "x", kind: "system" }, authority: "operator" },
      undefined,
      "agent:main:main",
    ],
    [
      "a hook run: the key that it asked for",
      { authority: "hook", request: { sessionKey: "hook:abc" } },
      undefined,
      "hook:abc",
    ],
  ];
  test.each(cases)("%s", (_, more, dmScope, expected) => {
    const inbound = message("hi", more);
    expect(sessionKeyFor({ agentId: "main", inbound, ...(dmScope === undefined ? {} : { dmScope }) })).toBe(expected);
  });

  test("an id that contains the separator cannot imitate a longer key", () => {
    const forged = sessionKeyFor({
      agentId: "main",
      inbound: message("", { chat: { id: "-100:topic:7", kind: "group" } }),
    });
    expect(forged).not.toBe(sessionKeyFor({ agentId: "main", inbound: message("", topic("7")) }));
    expect(forged).toBe("agent:main:irc:group:-100%3Atopic%3A7");
  });

  test("a chat that moved keeps the sessions of its topics, and no other session changes", () => {
    const move = { channel: "irc", account: "default", from: "-5", to: "-100" };
    const others = [
      "agent:main:irc:group:-50",
      "agent:main:irc:work:group:-5:topic:7",
      "agent:main:dm:-5",
      "hook:-5",
      "agent:main:main",
    ];
    const knownKeys = [...others, "agent:work:irc:group:-5:topic:7"];
    expect(movedSessions(move, { agentIds: ["main", "work"], knownKeys })).toEqual([
      { from: "agent:main:irc:group:-5", to: "agent:main:irc:group:-100" },
      { from: "agent:work:irc:group:-5", to: "agent:work:irc:group:-100" },
      { from: "agent:work:irc:group:-5:topic:7", to: "agent:work:irc:group:-100:topic:7" },
    ]);
    expect(movedSessions({ ...move, account: "work" }, { agentIds: ["main"], knownKeys })).toEqual([
      { from: "agent:main:irc:work:group:-5", to: "agent:main:irc:work:group:-100" },
      { from: "agent:main:irc:work:group:-5:topic:7", to: "agent:main:irc:work:group:-100:topic:7" },
    ]);
  });

  test("the agent can be read from a chat session's key only", () => {
    expect(agentOfKey(mainSessionKey("work"))).toBe("work");
    expect(agentOfKey("agent:work:irc:group:1")).toBe("work");
    expect([agentOfKey("hook:abc"), agentOfKey("agent:work"), agentOfKey("")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("which agent answers", () => {
  const list = [{ id: "main" }, { id: "work" }, { id: "home", default: true }, { id: "ops" }, { id: "kids" }];
  const bindings = [
    { agentId: "main", match: { channel: "irc" } },
    { agentId: "work", match: { channel: "irc", accountId: "work" } },
    { agentId: "ops", match: { channel: "irc", peer: { kind: "group", id: "-100" } } },
    { agentId: "kids", match: { channel: "irc", peer: { kind: "group", id: "-100" }, threadId: "7" } },
    { agentId: "kids", match: { channel: "irc", peer: { kind: "direct", id: "55" } } },
    { agentId: "gone", match: { channel: "irc", peer: { kind: "direct", id: "66" } } },
  ];
  const group = (thread?: string): Partial<Inbound> => ({
    chat: { id: "-100", kind: "group", ...(thread === undefined ? {} : { thread }) },
  });
  const cases: readonly [string, Partial<Inbound>, string][] = [
    ["the channel's binding", {}, "main"],
    ["an account before its channel", { account: "work" }, "work"],
    ["a chat before its account", { account: "work", ...group() }, "ops"],
    ["a topic before its chat", { account: "work", ...group("7") }, "kids"],
    ["another topic of the chat", group("8"), "ops"],
    [
      "one person's direct messages, by chat or sender id",
      { sender: { id: "55" }, chat: { id: "dm-1", kind: "direct" } },
      "kids",
    ],
    ["no binding: the default agent", { channel: "mail" }, "home"],
    [
      "a binding to an agent that is not there: the default agent",
      { sender: { id: "66" }, chat: { id: "66", kind: "direct" } },
      "home",
    ],
    ["what a request names", { request: { agentId: "work" } }, "work"],
    ["what a request names but does not exist: the default agent", { request: { agentId: "nobody" } }, "home"],
  ];
  test.each(cases)("%s", (_, more, expected) => {
    expect(agentFor({ agents: { list }, bindings }, message("hi", more))).toBe(expected);
  });

  test.each<[string, AgentsView, string]>([
    ["nothing configured", {}, "main"],
    ["the first of the list", { agents: { list: [{ id: "a" }, { id: "b" }] } }, "a"],
  ])("without a default agent: %s", (_, config, expected) => {
    expect(agentFor(config, message("hi"))).toBe(expected);
  });
});

describe("the last recipient", () => {
  test("is the chat of the last direct message, including the thread", () => {
    expect(recipientOf(message("hi"))).toEqual({
      channel: "irc",
      account: "default",
      chat: "42",
      senderId: message("hi").sender.id,
    });
    expect(recipientOf(message("hi", { chat: { id: "42", kind: "direct", thread: "9" } }))).toMatchObject({
      thread: "9",
    });
  });

  test("is not set by group messages or by input that no person wrote", () => {
    expect(recipientOf(message("hi", { chat: { id: "-100", kind: "group" } }))).toBeUndefined();
    expect(recipientOf(message("hi", { authority: "hook" }))).toBeUndefined();
  });
});

test("a reset begins a new generation under the same key", async () => {
  const changes: unknown[] = [];
  await resetSession(
    { updateSession: async (key, change) => void changes.push([key, change]) },
    { key: "k", agentId: "main", at: 5 },
  );
  expect(changes).toEqual([["k", { agentId: "main", at: 5, newGeneration: true }]]);
});
