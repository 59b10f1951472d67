/** What only the sender of a message in a group sees: answers of commands, and refusals. */
import { expect, test } from "vitest";
import { type ChannelAccount, ChannelError, defineChannel, definePlugin, Type } from "../../../core/sdk/contract.ts";
import { createTestHost, type TestHost, type TestHostOptions } from "../../../core/testkit/index.ts";

const group = { group: true, mention: true, from: "guest" } as const;
const last = (host: TestHost) => host.outbox().at(-1);

const failing = definePlugin({
  id: "failing",
  version: "1.0.0",
  host: "*",
  setup(host) {
    const run = () => {
      throw new Error("no paper");
    };
    host.command({ name: "print", summary: "prints", role: "anyone", run });
  },
});

function open(options: TestHostOptions = {}): Promise<TestHost> {
  return createTestHost({
    config: { channels: { loopback: { groupPolicy: "open" } } },
    answer: ({ inbound }) => `heard: ${inbound.text}`,
    ...options,
  });
}

test("in a group, answers of commands and refusals are for their sender, and the agent answers everyone", async () => {
  await using host = await open({ plugins: [failing], allowErrors: [/no paper/] });
  const help = await host.say("/help", group);
  expect(last(host)).toMatchObject({ chat: "group", onlyFor: "guest", text: expect.stringContaining("/stop") });
  expect(await host.why(help)).toContainEqual(
    expect.objectContaining({
      code: "sent",
      detail: expect.stringMatching(/^text, message \S+, which only guest sees$/),
    }),
  );
  expect(await host.say("/config show", group)).toMatchObject({ outcome: "refused", reason: "owner_required" });
  expect(last(host)).toMatchObject({ onlyFor: "guest", text: "Only the owner of this bot may use `/config`." });
  expect(await host.say("/print", group)).toMatchObject({ outcome: "failed", reason: "command_failed" });
  expect(last(host)).toMatchObject({ onlyFor: "guest", text: expect.stringMatching(/^Sorry/) });
  for (const text of ["Good morning", "/new Good morning"]) {
    await host.say(text, group);
    expect(last(host)).toMatchObject({ chat: "group", text: "heard: Good morning" });
    expect(last(host)).not.toHaveProperty("onlyFor");
  }
  await host.say("/help", { from: "guest" });
  expect(last(host)?.chat).toBe("guest");
  expect(last(host)).not.toHaveProperty("onlyFor");
});

test.each(["/new", "/reset", "/stop", "/compact", "/activation always", "/model default", "/think low"])(
  "everyone in the group sees what %s changes for the group",
  async (command) => {
    await using host = await open();
    await host.say(command, { ...group, from: "owner" });
    expect(last(host)).toMatchObject({ chat: "group" });
    expect(last(host)).not.toHaveProperty("onlyFor");
    for (const shown of ["/status", "/activation", "/model"]) {
      await host.say(shown, { ...group, from: "owner" });
      expect(last(host)).toMatchObject({ onlyFor: "owner" });
    }
  },
);

test("a press of a person who may not is answered by nothing that the group sees", async () => {
  const buttons = [[{ text: "Allow", value: "/approve ABCDEFGH" }]];
  await using host = await open({
    async *answer() {
      yield { type: "text", delta: "May I?" };
      yield { type: "buttons", buttons };
      yield { type: "done" };
    },
  });
  await host.say("Hello", group);
  const before = host.outbox().length;
  expect(await host.press("Allow", group)).toMatchObject({ outcome: "refused", reason: "owner_required" });
  expect(host.outbox().length).toBe(before);
});

test("it is for the same person after the process has died over its send", async () => {
  await using host = await open({ allowErrors: [/./] });
  host.beforeSend(() => {
    throw new ChannelError("network", { retryable: true, fate: "not-sent", detail: "away" });
  });
  const asked = host.say("/help", group);
  await expect.poll(async () => host.ended().length + host.outbox().length).toBe(0);
  await host.restart({ killed: true });
  host.beforeSend(() => {});
  expect(await asked).toMatchObject({ outcome: "answered" });
  expect(host.outbox()).toMatchObject([{ chat: "group", onlyFor: "guest" }]);
});

/** A platform with groups, and what reached the channel. */
function createSquare(ephemeral: boolean | "interactions" | undefined) {
  const seen: { readonly to: unknown; readonly onlyFor: unknown }[] = [];
  const rendered: unknown[] = [];
  let account: ChannelAccount<object> | undefined;
  const channel = defineChannel({
    id: "square",
    version: "1.0.0",
    host: "*",
    options: Type.Object({}),
    capabilities: { maxChars: 4_000, ...(ephemeral !== undefined && { ephemeral }) },
    open(opened) {
      account = opened;
      return {
        start: async () => opened.status({ state: "connected" }),
        parse: (raw) => ({
          ...{ chat: { id: "-9", kind: "group" }, sender: { id: "7" }, text: "/help", mention: true, messageId: "12" },
          ...(raw as object),
        }),
        render(reply) {
          rendered.push(reply.to);
          return [{ kind: "text", chars: reply.text.length, body: reply.text }];
        },
        async send({ onlyFor }) {
          seen.push({ to: rendered.at(-1), onlyFor });
          return { messageId: String(seen.length) };
        },
        close: async () => {},
      };
    },
  });
  return { channel, seen, receive: async (raw: object) => void (await account?.receive(raw as never)) };
}

const toOne = { to: "sender", onlyFor: { sender: "7", messageId: "12" } };
const toAll = { to: undefined, onlyFor: undefined };

test.each([
  ["cannot show it to one person", undefined, {}, toAll],
  ["declares that it cannot", false, {}, toAll],
  ["can, in a group", true, {}, toOne],
  ["can, for what was sent as a chat", true, { sender: { id: "7", anonymous: true } }, toAll],
  ["can in answer to interactions, for a text", "interactions", {}, toAll],
  [
    "can in answer to interactions, for a slash command",
    "interactions",
    { interaction: "token-5" },
    { ...toOne, onlyFor: { ...toOne.onlyFor, interaction: "token-5" } },
  ],
] as const)("a channel that %s is asked for what it can do", async (_, ephemeral, raw, wanted) => {
  const { channel, seen, receive } = createSquare(ephemeral);
  await using _host = await createTestHost({
    plugins: [channel],
    config: { channels: { square: { groupPolicy: "open", groups: { "-9": {} } } } },
  });
  await receive(raw);
  await expect.poll(() => seen).toEqual([wanted]);
});

test("another value of the capability is refused by name", async () => {
  const { channel } = createSquare(true);
  const capabilities = { ...channel.channel?.capabilities, ephemeral: "sometimes" };
  await expect(
    createTestHost({ plugins: [{ ...channel, channel: { ...channel.channel, capabilities } as never }] }),
  ).rejects.toThrow(/capabilities\.ephemeral of its channel must be true, false or "interactions"/);
});
