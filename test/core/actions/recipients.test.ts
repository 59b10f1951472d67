import { describe, expect, test } from "vitest";
import { identityRule } from "../../../core/access/identity.ts";
import { type AccountAccess, pathsBelow } from "../../../core/access/place.ts";
import { type ActionCaller, accountFor, type RecipientDeps, recipientFor } from "../../../core/actions/recipients.ts";
import type { ActionCall } from "../../../core/actions/schema.ts";
import type { LiveAccount } from "../../../core/channels/live-account.ts";
import { ChannelError } from "../../../core/contract/plugin-errors.ts";
import type { Address, Inbound } from "../../../core/contract/types.ts";
import { message, route } from "../agents/inbound.ts";

function account(
  access: AccountAccess,
  { channel = "irc", threads = true }: { readonly channel?: string; readonly threads?: boolean } = {},
) {
  const resolve = async (target: string) => {
    if (target === "@gone") throw new ChannelError("chat_not_found", { detail: "there is no @gone" });
    return target === "@team" ? "-7" : target;
  };
  return {
    channel,
    id: "default",
    path: `channels.${channel}`,
    access,
    identity: identityRule(channel, { pattern: "\\d+" }),
    capabilities: { threads },
    connection: { resolve },
    options: {},
  } as unknown as LiveAccount;
}

const deps = (...open: readonly LiveAccount[]): RecipientDeps => ({
  account: (channel, id) => open.find((one) => one.channel === channel && one.id === id),
  accountsOf: (channel) => open.filter((one) => one.channel === channel),
  pathOf: ({ channel }) => pathsBelow(`channels.${channel}`),
  isPaired: async (_channel, _account, id) => id === "77",
});

const agent = (
  inbound: Partial<Inbound> = {},
  to: Address | null = { channel: "irc", account: "default", chat: "42" },
): ActionCaller => ({
  by: "agent",
  inbound: message("hi", inbound),
  route: route({ to }),
  key: "call-1",
});
const operator: ActionCaller = { by: "operator" };

const goes = async (call: Partial<ActionCall>, caller: ActionCaller, live: LiveAccount) => {
  const found = await recipientFor({ action: "send", ...call }, caller, live, deps(live));
  return "ok" in found
    ? `${found.code}: ${found.error}`
    : `${found.address.chat}/${found.address.thread ?? "-"} ${found.kind}`;
};

describe("an agent may write", () => {
  const access: AccountAccess = {
    allowFrom: ["irc:55", "*"],
    groups: { "*": {}, "-7": {}, "-8": { enabled: false }, "-9": { groupPolicy: "disabled" } },
  };
  const inTopic = agent(
    { chat: { id: "-5", kind: "group", thread: "3" } },
    { channel: "irc", account: "default", chat: "-5", thread: "3" },
  );
  test.each([
    ["to the current chat when it names none", {}, agent(), "42/- direct"],
    ["in the current topic", {}, inTopic, "-5/3 group"],
    ["in the current topic when it names the chat", { to: "-5" }, inTopic, "-5/3 group"],
    ["in another topic of the current chat", { to: "-5:topic:9" }, inTopic, "-5/9 group"],
    ["in the topic that it names beside the chat", { to: "-5:9", thread: "4" }, inTopic, "-5/4 group"],
    ["to a person whom allowFrom names", { to: "55" }, agent(), "55/- direct"],
    ["to a person who is paired", { to: "77" }, agent(), "77/- direct"],
    ["to a group that is a key of groups", { to: "@team" }, agent(), "-7/- group"],
    [
      "not to another person whom a star admits",
      { to: "56" },
      agent(),
      "recipient_not_allowed: channels.irc.allowFrom does not name 56, and the sender is not paired",
    ],
    [
      "not to a group that only a star lists",
      { to: "-6" },
      agent(),
      "recipient_not_allowed: channels.irc.groups does not name -6",
    ],
    [
      "not to a group that is switched off",
      { to: "-8" },
      agent(),
      "recipient_not_allowed: channels.irc.groups.-8.enabled is false.",
    ],
    [
      "not to a group that is closed",
      { to: "-9" },
      agent(),
      'recipient_not_allowed: channels.irc.groups.-9.groupPolicy is "disabled".',
    ],
    [
      "not to a person whom the platform does not know",
      { to: "@gone" },
      agent(),
      "chat_not_found: to: there is no @gone",
    ],
  ] as const)("%s", async (_what, call, caller, expected) => {
    expect(await goes(call, caller, account(access))).toContain(expected);
  });

  test("directly only if direct chats are on, and under an allowlist only to people it names", async () => {
    expect(await goes({ to: "55" }, agent(), account({ ...access, dmPolicy: "disabled" }))).toContain(
      'channels.irc.dmPolicy is "disabled"',
    );
    expect(await goes({ to: "77" }, agent(), account({ ...access, dmPolicy: "allowlist" }))).toContain(
      "recipient_not_allowed",
    );
    expect(await goes({ to: "55" }, agent(), account({ ...access, dmPolicy: "allowlist" }))).toBe("55/- direct");
  });

  test("only to the chat of its own reply if a hook caused the turn", async () => {
    const hook = agent({ channel: "hooks", kind: "hook", authority: "hook", chat: { id: "hook", kind: "system" } });
    expect(await goes({}, hook, account(access))).toBe("42/- direct");
    expect(await goes({ to: "42" }, hook, account(access))).toBe("42/- direct");
    expect(await goes({ to: "55" }, hook, account(access))).toContain("recipient_not_allowed: A turn caused by a hook");
    const mute = agent({ channel: "hooks", authority: "hook" }, null);
    expect(await goes({}, mute, account(access))).toContain("invalid_arguments: to is missing");
    expect(await goes({ to: "42" }, mute, account(access))).toContain("recipient_not_allowed");
  });

  test("in a topic only if the channel has topics", async () => {
    expect(await goes({ thread: "3" }, agent(), account(access, { threads: false }))).toContain("not_supported");
  });
});

test("an operator may write to any recipient but must name one", async () => {
  const closed = account({ dmPolicy: "disabled", groups: {} });
  expect(await goes({ to: "99" }, operator, closed)).toBe("99/- direct");
  expect(await goes({ to: "-99:topic:2" }, operator, closed)).toBe("-99/2 group");
  expect(await goes({}, operator, closed)).toContain("invalid_arguments");
});

test("the account is the current one, another channel's first, or the one that an operator names", () => {
  const irc = account({});
  const other = { ...account({}, { channel: "xmpp" }), id: "work" } as LiveAccount;
  const from = (call: Partial<ActionCall>, caller: ActionCaller) => {
    const found = accountFor({ action: "send", ...call }, caller, deps(irc, other));
    return "ok" in found ? found.code : `${found.channel}:${found.id}`;
  };
  expect(from({}, agent())).toBe("irc:default");
  expect(from({ channel: "xmpp" }, agent())).toBe("xmpp:work");
  expect(from({ channel: "irc", account: "work" }, agent())).toBe("irc:default");
  expect(from({ channel: "xmpp", account: "work" }, operator)).toBe("xmpp:work");
  expect(from({ channel: "xmpp", account: "home" }, operator)).toBe("account_not_open");
  expect(from({ channel: "icq" }, operator)).toBe("account_not_open");
  expect(from({}, operator)).toBe("invalid_arguments");
});
