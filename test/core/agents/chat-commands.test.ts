import { readFileSync } from "node:fs";
import { createTestHost, type SayOptions, type TestHostOptions } from "service-gateway/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { definePlugin, Type } from "../../../core/sdk/contract.ts";

const secret = "SeCrEt-hook-token-123456";
const notes = definePlugin({
  id: "notes",
  version: "1.0.0",
  host: "^0.2.0",
  options: Type.Object({
    lines: Type.Integer({ minimum: 1, default: 3 }),
    ids: Type.Array(Type.String(), { default: [], chatWritable: true }),
  }),
  setup() {},
});

type Answer = NonNullable<TestHostOptions["answer"]>;

async function open(config: object = {}, answer: Answer = ({ inbound }) => `heard: ${inbound.text}`) {
  const { channels, ...rest } = config as { readonly channels?: object };
  const host = await createTestHost({
    config: {
      hooks: { token: secret },
      commands: { config: true },
      channels: { loopback: channels ?? {} },
      ...rest,
    },
    plugins: [notes],
    answer,
  });
  onTestFinished(() => host.close());
  const say = async (text: string, said?: SayOptions) => {
    const before = host.outbox().length;
    const ended = await host.say(text, said);
    return {
      ...ended,
      text: host
        .outbox()
        .slice(before)
        .map((sent) => sent.text)
        .join("\n"),
    };
  };
  return { say, file: () => readFileSync(host.configFile, "utf8") };
}

describe("/activation", () => {
  test("`always` applies to every message of that group, `mention` to mentions only, and no file changes", async () => {
    const { say, file } = await open();
    const group = { chat: "-100", group: true };
    const before = file();
    expect(await say("hello", group)).toMatchObject({ outcome: "silent", reason: "mention_required" });
    expect(await say("/activation always", { ...group, mention: true })).toMatchObject({
      text: expect.stringContaining("every message"),
    });
    expect(await say("hello", group)).toMatchObject({ outcome: "answered", text: "heard: hello" });
    expect(await say("hello", { chat: "-200", group: true })).toMatchObject({ reason: "mention_required" });
    expect((await say("/activation", group)).text).toContain("every message");
    await say("/activation mention", group);
    const refused = await say("hello", group);
    expect(refused).toMatchObject({ reason: "mention_required" });
    expect(refused.decisions.at(-1)?.hint).toContain("/activation always");
    expect((await say("/activation", { ...group, mention: true })).text).toContain("when I am mentioned");
    expect(file()).toBe(before);
  });

  test("`mention` also applies if the configuration does not require a mention", async () => {
    const { say } = await open({ channels: { groups: { "*": { requireMention: false } } } });
    const group = { chat: "-100", group: true };
    expect((await say("/activation", group)).text).toContain("As set in the configuration");
    await say("/activation mention", group);
    expect(await say("hello", group)).toMatchObject({ reason: "mention_required" });
    expect((await say("/activation loud", { ...group, mention: true })).text).toContain("Use `/activation always`");
  });

  test("works only in groups", async () => {
    expect((await (await open()).say("/activation always")).text).toContain("in groups only");
  });
});

describe("/config", () => {
  test("shows the effective values with their defaults and without secrets", async () => {
    const { say } = await open();
    expect((await say("/config get agents.defaults.maxConcurrent")).text).toContain("4");
    const hooks = (await say("/config get hooks")).text;
    expect(hooks).toContain('"token": "(set)"');
    expect((await say("/config get hooks.token")).text).toContain("(set)");
    expect((await say("/config get plugins.entries.notes")).text).not.toContain(secret);
    expect((await say("/config get nowhere.at")).text).toContain("The configuration key nowhere.at does not exist");
    const whole = (await say("/config get")).text;
    expect(whole).not.toContain(secret);
  });

  test("sets and removes values in the file, and the changes take effect", async () => {
    const { say, file } = await open();
    const inForce = async () => (await say("/config get messages.groupChat.historyLimit")).text;
    expect((await say("/config set messages.groupChat.historyLimit 7")).text).toContain(
      "`messages.groupChat.historyLimit` is set.",
    );
    expect(JSON.parse(file())).toMatchObject({ messages: { groupChat: { historyLimit: 7 } } });
    await expect.poll(inForce).toContain("7");
    expect((await say("/config set messages.groupChat.historyLimit 7")).text).toContain("already has this value");
    expect((await say("/config unset messages.groupChat.historyLimit")).text).toContain("is removed");
    expect((await say("/config unset messages.groupChat.historyLimit")).text).toContain("is not set in the file");
    await expect.poll(inForce).toContain("50");
  });

  test("keeps a numeric id as a string if the schema says so, also in plugin options", async () => {
    const { say, file } = await open();
    await say('/config set plugins.entries.notes.options.ids ["1","22"]');
    await say("/config set channels.loopback.responsePrefix 123456789012345678901");
    expect(JSON.parse(file())).toMatchObject({
      plugins: { entries: { notes: { options: { ids: ["1", "22"] } } } },
      channels: { loopback: { responsePrefix: "123456789012345678901" } },
    });
  });

  test("accepts curly quotation marks if they can only be syntax", async () => {
    const { say, file } = await open({ channels: { groups: { "-100": {} } } });
    await say("/config set channels.loopback.groups[“-100”].requireMention false");
    await say("/config set plugins.entries.notes.options.ids [“1”, “22”]");
    await say("/config set agents.defaults.systemPrompt “Be brief”");
    expect(JSON.parse(file())).toMatchObject({
      channels: { loopback: { groups: { "-100": { requireMention: false } } } },
      plugins: { entries: { notes: { options: { ids: ["1", "22"] } } } },
      agents: { defaults: { systemPrompt: "“Be brief”" } },
    });
  });

  test("refuses to write an invalid value and says what is allowed", async () => {
    const { say, file } = await open();
    const before = file();
    for (const [text, said] of [
      ["/config set gateway.port lots", "gateway.port"],
      ["/config set plugins.entries.notes.options.lines 0", "plugins.entries.notes.options.lines"],
      ["/config set gateway.prot 1", "Did you mean gateway.port?"],
      ["/config set channels.loopback.dmPolicy whoever", "channels.loopback.dmPolicy"],
      ["/config set messages.groupChat.historyLimit many", "messages.groupChat.historyLimit"],
    ] as const)
      expect((await say(text)).text).toContain(said);
    for (const text of ["/config", "/config set", "/config set gateway.port", "/config unset", "/config paint it"])
      expect((await say(text)).text).toContain("Use `/config get PATH`");
    expect(file()).toBe(before);
  });

  test("never writes a secret, owner, address or permission in any spelling, and says where to change it", async () => {
    const { say, file } = await open();
    const before = file();
    for (const text of [
      "/config set hooks.token another-token-of-somebody-else",
      '/config set hooks["token"] another-token-of-somebody-else',
      '/config set hooks {"enabled":true,"token":"another-token-of-somebody-else"}',
      "/config set gateway.auth.token another-token-of-somebody-else",
      '/config set models.providers.local {"api":"openai-compatible","baseUrl":"http://127.0.0.1:1/v1"}',
      '/config set commands.ownerAllowFrom ["8"]',
      '/config set channels.loopback.allowFrom ["7"]',
      "/config set channels.loopback.dmPolicy disabled",
      '/config set channels.other {"allowFrom":["8"]}',
      "/config set log.level debug",
      "/config unset commands.config",
      "/config unset channels.loopback",
    ]) {
      expect((await say(text)).text, text).toContain(
        "cannot be changed from a chat. Change it on the gateway's machine: ",
      );
    }
    expect(file()).toBe(before);
  });

  test("is for owners only, must be enabled in the configuration; a read-only channel changes nothing", async () => {
    const { say } = await open();
    expect(await say("/config get", { from: "8" })).toMatchObject({ outcome: "refused" });
    expect((await (await open({ commands: {} })).say("/config get")).text).toContain("commands.config: true");
    const closed = await open({ channels: { configWrites: false } });
    const before = closed.file();
    expect((await closed.say("/config set messages.groupChat.historyLimit 7")).text).toContain(
      "`channels.loopback.configWrites`",
    );
    expect((await closed.say("/config unset commands.config")).text).toContain("configWrites");
    expect((await closed.say("/config get commands.config")).text).toContain("true");
    expect(closed.file()).toBe(before);
  });
});

test("with commands.native off, a built-in command is ordinary text", async () => {
  const { say } = await open({ commands: { native: false } });
  expect((await say("/status")).text).toBe("heard: /status");
});

test("commands and their replies are not part of the conversation that the model sees", async () => {
  const seen: string[][] = [];
  const { say } = await open({}, ({ messages }) => {
    seen.push(messages.map(({ text }) => text));
    return "an answer";
  });
  await say("one");
  await say("/status");
  await say('/config set channels.loopback.webhookSecret "SeCrEt-typed-in-a-chat"');
  await say("two");
  expect(seen.at(-1)).toEqual([expect.stringContaining("one"), "an answer", expect.stringContaining("two")]);
});
