/** Channels whose ids compare in one form, can be taken over, and contain colons. */
import { createTestHost } from "service-gateway/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type ChannelAccount,
  type ChannelConnection,
  type ChannelIdentity,
  type ChannelInbound,
  defineChannel,
  Type,
} from "../../core/sdk/contract.ts";
import { run } from "../core/cli/command-runner.ts";

type About = Parameters<ChannelConnection["render"]>[2];

/** A gateway with the channel `names`, whose ids are names, and one account of it. */
async function start(
  config: object,
  identity: ChannelIdentity = { fold: (id) => id.toLowerCase(), weak: (id) => id.startsWith("~") },
) {
  const sent: { readonly chat: string; readonly text: string }[] = [];
  const rendered: About[] = [];
  let account: ChannelAccount | undefined;
  let events = 0;
  const names = defineChannel({
    id: "names",
    version: "1.0.0",
    host: "^0.2.0",
    options: Type.Object({}),
    // A channel of plain text declares its limit and nothing else.
    capabilities: { maxChars: 1_000 },
    identity,
    open(opened) {
      account = opened as ChannelAccount;
      return {
        start: async () => opened.status({ state: "connected" }),
        parse: (raw) => raw as unknown as ChannelInbound,
        render(reply, _address, about) {
          rendered.push(about);
          return [{ kind: "text", chars: reply.text.length, body: reply.text }];
        },
        async send(part, { chat }) {
          sent.push({ chat, text: String(part.body) });
          return { messageId: String(sent.length) };
        },
        close: async () => {},
      };
    },
  });
  const host = await createTestHost({
    plugins: [names],
    config: { commands: { ownerAllowFrom: undefined }, channels: { names: config } },
  });
  onTestFinished(() => host.close());
  return {
    sent,
    rendered,
    /** A person writes; resolves with how that ended and what `receive` resolved with. */
    async say(
      text: string,
      { from, chat = from, group = false }: { readonly from: string; readonly chat?: string; readonly group?: boolean },
    ) {
      if (account === undefined) throw new Error("the channel is not open");
      events += 1;
      const inbound: ChannelInbound = {
        kind: "message",
        chat: { id: chat, kind: group ? "group" : "direct" },
        sender: { id: from },
        text,
        media: [],
        mention: true,
        timestamp: account.now(),
        messageId: `in${events}`,
      };
      const accepted = await account.receive(JSON.parse(JSON.stringify(inbound)), {
        id: `${events}`,
        lane: `names:default:${chat}`,
      });
      return { accepted, report: await host.settled(accepted.eventId) };
    },
    /** As `service pairing approve`, in a process of its own. */
    async approve(...args: readonly string[]) {
      const code = /Pairing code: `(\w+)`/.exec(sent.map(({ text }) => text).join("\n"))?.[1] ?? "none";
      const { configFile, directory } = host;
      return await run(["pairing", "approve", "names", code, "--config", configFile, ...args], { home: directory });
    },
    async service(...args: readonly string[]) {
      const { configFile, directory } = host;
      return await run([...args, "--config", configFile], { home: directory });
    },
  };
}

describe("ids that are compared in normalized form", () => {
  test("identify a listed sender in any spelling", async () => {
    const { say, sent } = await start({ dmPolicy: "allowlist", allowFrom: ["names:Ada"] });
    expect((await say("hi", { from: "ADA" })).report).toMatchObject({ outcome: "answered" });
    expect(sent).toEqual([{ chat: "ada", text: "heard: hi" }]);
    expect((await say("/status", { from: "aDa" })).report).toMatchObject({ outcome: "answered" });
    expect((await say("hi", { from: "bob" })).report).toMatchObject({
      outcome: "refused",
      reason: "sender_not_allowed",
    });
  });

  test("identify a configured group", async () => {
    const { say } = await start({ groups: { "#Room": { allowFrom: ["ADA"] } } });
    expect((await say("hi", { from: "ada", chat: "#rOOm", group: true })).report).toMatchObject({
      outcome: "answered",
    });
    const { report } = await say("hi", { from: "bob", chat: "#room", group: true });
    expect(report).toMatchObject({ outcome: "refused", reason: "group_sender_not_allowed" });
    expect(report.decisions.at(-1)).toMatchObject({ path: "channels.names.groups.#Room.allowFrom" });
  });

  test("admit only literally listed senders if the channel's normalization throws", async () => {
    const identity: ChannelIdentity = {
      fold: () => {
        throw new Error("broken");
      },
    };
    const { say } = await start({ dmPolicy: "allowlist", allowFrom: ["ada"] }, identity);
    expect((await say("hi", { from: "ada" })).report).toMatchObject({ outcome: "answered" });
    expect((await say("hi", { from: "ADA" })).report).toMatchObject({ outcome: "refused" });
  });
});

describe("an id that can change hands", () => {
  test("is admitted if listed but never as owner, and the trace and the sender learn why", async () => {
    const { say, sent } = await start({ dmPolicy: "allowlist", allowFrom: ["~ada", "bob"] });
    expect((await say("hi", { from: "~Ada" })).report).toMatchObject({ outcome: "answered" });
    const { report } = await say("/config show", { from: "~ada" });
    expect(report).toMatchObject({ outcome: "refused", reason: "owner_identity_weak" });
    expect(report.decisions).toContainEqual(
      expect.objectContaining({
        code: "owner_identity_weak",
        detail: "/config is for owners only, and another person can take over the id ~ada, so it is never an owner.",
      }),
    );
    expect(sent.at(-1)?.text).toContain("your id, `~ada`, cannot be one");
    expect((await say("/config show", { from: "bob" })).report.reason).not.toBe("owner_required");
  });

  test("is approved for a day and never becomes owner, even if the operator asks for it", async () => {
    const { say, sent, approve } = await start({});
    const { report } = await say("hi", { from: "~ada" });
    expect(report).toMatchObject({ outcome: "refused", reason: "pairing_required" });
    expect(report.decisions.find(({ code }) => code === "pairing_required")?.hint).toContain(
      "The approval expires after 24 hours, because",
    );
    const { code, out } = await approve("--owner");
    expect([code, out]).toEqual([0, expect.stringContaining("The approval expires after 24 hours and makes no owner")]);
    expect(out).not.toContain("is an owner now");
    expect((await say("hello", { from: "~ada" })).report).toMatchObject({ outcome: "answered" });
    expect(sent.at(-1)).toEqual({ chat: "~ada", text: "heard: hello" });
    expect((await say("/config show", { from: "~ada" })).report).toMatchObject({ reason: "owner_identity_weak" });
  });

  test("leaves ownership to the one of two people who has a lasting id", async () => {
    const { say, approve } = await start({});
    await say("hi", { from: "ada" });
    expect((await approve()).out).toContain("is an owner now");
    expect((await say("/config show", { from: "ada" })).report.reason).not.toBe("owner_required");
  });
});

describe("ids with colons", () => {
  test("work for chats and senders: replies go to the chat, and lists and groups can name them", async () => {
    const ada = "@ada:example.org";
    const { say, sent, service } = await start({
      dmPolicy: "allowlist",
      allowFrom: [ada],
      groups: { "!room:example.org": { allowFrom: [ada] } },
    });
    expect((await say("hi", { from: ada })).report).toMatchObject({ outcome: "answered" });
    const inGroup = await say("all", { from: ada, chat: "!room:example.org", group: true });
    expect(inGroup.report).toMatchObject({ outcome: "answered" });
    expect(sent).toEqual([
      { chat: ada, text: "heard: hi" },
      { chat: "!room:example.org", text: "heard: all" },
    ]);
    const { out } = await service("events", "list", "--json");
    expect(
      JSON.parse(out).events.map(({ chat, thread }: { readonly chat: string; readonly thread?: string }) => [
        chat,
        thread,
      ]),
    ).toEqual([
      ["!room:example.org", undefined],
      [ada, undefined],
    ]);
    expect((await service("events", "list", "--chat", "!room:example.org", "--json")).out).toContain(
      inGroup.accepted.eventId,
    );
  });
});

describe("a channel receives", () => {
  test("the message that is answered when it renders the answer", async () => {
    const { say, rendered } = await start({ dmPolicy: "open", allowFrom: ["*"] });
    await say("hi", { from: "ada" });
    expect(rendered.at(-1)).toMatchObject({ trigger: "in1", inbound: { text: "hi", sender: { id: "ada" } } });
  });

  test("only the id, and whether it was known, when it submits an event", async () => {
    const { say } = await start({ dmPolicy: "open", allowFrom: ["*"] });
    const { accepted } = await say("hi", { from: "ada" });
    expect(accepted).toEqual({ eventId: expect.any(String), duplicate: false });
  });
});
