/**
 * What is kept of a person beside conversations: pairing, devices, data of plugins, reactions, and events that have not
 * ended.
 */
import { join } from "node:path";
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import { definePlugin, Type } from "../../core/sdk/contract.ts";
import { openSqliteStore } from "../../core/state/sqlite/index.ts";
import botchat from "../../plugins/botchat/index.ts";
import devicePair from "../../plugins/device-pair/index.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { kitchen } from "./conversation.ts";
import { answered, answers, openChannel, openPlatform, people } from "./room.ts";

/** Keeps something of each sender, under their id and in a value, and one thing of nobody. */
const guestBook = definePlugin({
  id: "guest-book",
  version: "1.0.0",
  host: "^0.2.0",
  setup(host) {
    host.tap(
      "gating",
      async ({ channel, chat, sender }) => {
        await host.store.set(`greeted:${sender.id}`, true);
        await host.store.set(`note of ${sender.name}`, {
          channel,
          chat: sender.id,
          room: chat.id,
          text: "likes fruit",
        });
        await host.store.set("visits", 2);
        return undefined;
      },
      { order: "early" },
    );
  },
});

async function open({ dmPolicy, waits }: { readonly dmPolicy: "open" | "pairing"; readonly waits?: Promise<void> }) {
  const platform = await openPlatform({ privacy: false });
  const [ada = 0, bela = 0] = people(platform);
  const host = await createTestHost({
    plugins: [botchat, devicePair, guestBook],
    async answer({ inbound }) {
      if (inbound.text.includes("slowly")) await waits;
      return `heard ${inbound.text.replace("@e2e_bot ", "")}`;
    },
    config: {
      commands: { ownerAllowFrom: undefined },
      channels: {
        botchat: openChannel(platform, {
          dmPolicy,
          groupPolicy: "open",
          streamMode: "off",
          ...(dmPolicy === "pairing" ? { allowFrom: [] } : { allowFrom: ["*"] }),
        }),
      },
    },
  });
  onTestFinished(() => host.close());
  const command = (...args: readonly string[]) =>
    run([...args, "--config", host.configFile], { home: temporaryHome() });
  const exported = async (person: number) => JSON.parse((await command("privacy", "export", `botchat:${person}`)).out);
  const idle = () =>
    expect
      .poll(async () => (await command("status")).out, { interval: 100 })
      .toContain("0 waiting, 0 running, 0 to be sent");
  return { platform, host, ada, bela, command, exported, idle };
}

const code = (texts: readonly string[]): string => /\b[A-HJ-NP-Z2-9]{8}\b/.exec(texts.at(-1) ?? "")?.[0] ?? "";

test("erasing a person removes their pairing, ownership, devices and plugin data, but nothing of others", async () => {
  const { platform, host, ada, bela, command, exported, idle } = await open({ dmPolicy: "pairing" });
  for (const person of [ada, bela]) {
    platform.act.say(person, person, "may I?");
    await answered(platform, person, /[A-HJ-NP-Z2-9]{8}/);
  }
  expect(await command("pairing", "approve", "botchat", code(answers(platform, ada)), "--no-notify")).toMatchObject({
    code: 0,
  });
  platform.act.say(ada, ada, "strawberries");
  await answered(platform, ada, "heard strawberries");
  platform.act.say(ada, ada, "/pair");
  await answered(platform, ada, /\/devices\/pair/);
  const invited = /`([A-Z2-9]{4}-?[A-Z2-9]{4})`|<code>([A-Z2-9]{8})<\/code>|\b([A-Z2-9]{8})\b/.exec(
    answers(platform, ada).at(-1) ?? "",
  );
  const asked = await fetch(`${host.url}/devices/pair`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code: invited?.slice(1).find(Boolean), name: "Laptop" }),
  });
  const device = (await asked.json()) as { readonly id: string; readonly secret: string };
  expect(asked.status).toBe(202);
  platform.act.say(ada, ada, `/pair approve ${device.id}`);
  await answered(platform, ada, "Approved");
  const collected = await fetch(`${host.url}/devices/pair/${device.id}`, {
    headers: { authorization: `Bearer ${device.secret}` },
  });
  const { token } = (await collected.json()) as { readonly token: string };
  const describe = async () =>
    (await fetch(`${host.url}/gateway/describe`, { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await describe()).toBe(200);
  await idle();

  const before = await exported(ada);
  expect(before.pairing).toMatchObject([{ state: "approved", owner: true, senderId: String(ada) }]);
  expect(before.data.map(({ namespace, key }: { namespace: string; key: string }) => `${namespace} ${key}`)).toEqual(
    expect.arrayContaining([
      `plugin:device-pair device:${device.id}`,
      `plugin:guest-book greeted:${ada}`,
      "plugin:guest-book note of Ada Lind",
    ]),
  );
  const ofBela = await exported(bela);
  expect(ofBela.pairing).toMatchObject([{ state: "waiting", senderId: String(bela) }]);
  expect(JSON.stringify(ofBela.pairing)).not.toContain(code(answers(platform, bela)));

  expect(await command("privacy", "erase", `botchat:${ada}`)).toMatchObject({
    code: 0,
    out: expect.stringContaining(", 1 pairing, "),
  });
  expect(await exported(ada)).toMatchObject({ events: [], sent: [], pairing: [], data: [], reactions: [] });
  expect(await describe()).toBe(401);
  expect((await command("devices", "list")).out).not.toContain("Laptop");
  const listed = JSON.parse((await command("pairing", "list", "--json")).out);
  expect(JSON.stringify(listed)).not.toContain(String(ada));
  expect(JSON.stringify(listed)).toContain(code(answers(platform, bela)));

  // She is a stranger again, and no owner: the next one who is approved becomes it.
  const told = answers(platform, ada).length;
  platform.act.say(ada, ada, "hello again");
  await expect.poll(() => code(answers(platform, ada).slice(told))).toMatch(/^.{8}$/);
  expect((await command("pairing", "approve", "botchat", code(answers(platform, bela)), "--no-notify")).out).toContain(
    "owner",
  );
  platform.act.say(bela, bela, "apples");
  await answered(platform, bela, "heard apples");
  // A request that waits goes as well.
  expect((await exported(ada)).pairing).toMatchObject([{ state: "waiting" }]);
  await idle();
  expect(await command("privacy", "erase", `botchat:${ada}`)).toMatchObject({
    code: 0,
    out: expect.stringContaining(", 1 pairing, "),
  });
  expect((await exported(ada)).pairing).toEqual([]);
  const { data, pairing } = await exported(bela);
  expect(data.map(({ key }: { key: string }) => key)).toEqual(
    expect.arrayContaining([`greeted:${bela}`, "note of Bela Varga"]),
  );
  expect(pairing).toMatchObject([{ state: "approved", owner: true }]);
});

test("erasing a person removes the tool calls of their failed turns, but nothing of others", async () => {
  const lab = definePlugin({
    id: "lab",
    version: "1.0.0",
    host: "^0.2.0",
    setup(plugin) {
      const parameters = Type.Object({ text: Type.String() });
      plugin.tool({
        name: "note",
        description: "Notes a text.",
        parameters,
        run: ({ args }) => ({ noted: `${args.text} in the book` }),
      });
    },
  });
  const host = await createTestHost({
    plugins: [lab],
    async answer({ inbound, tools }, signal) {
      await tools.find(({ name }) => name === "note")?.run({ text: inbound.text }, signal);
      throw new Error("no model");
    },
    allowErrors: [/no model/],
  });
  onTestFinished(() => host.close());
  for (const [from, text] of [
    ["ada", "strawberries"],
    ["bela", "apples"],
  ] as const)
    expect(await host.say(text, { from })).toMatchObject({ outcome: "failed" });
  const command = (...args: readonly string[]) =>
    run([...args, "--config", host.configFile], { home: temporaryHome() });
  const { data } = JSON.parse((await command("privacy", "export", "loopback:ada")).out);
  expect(data).toMatchObject([
    {
      namespace: "tool-calls",
      value: { args: { text: "strawberries" }, result: { noted: "strawberries in the book" } },
    },
  ]);
  expect((await command("privacy", "erase", "loopback:ada")).out).toContain("1 record of tools, plugins and devices");
  const store = await openSqliteStore({ directory: join(host.directory, "state"), now: host.now });
  onTestFinished(() => store.close());
  expect(await store.list("tool-calls")).toMatchObject([{ value: { args: { text: "apples" } } }]);
});

test("erasing a person removes their reaction, read by a turn or not, but no reaction of another person", async () => {
  const { platform, ada, bela, command, exported, idle } = await open({ dmPolicy: "open" });
  platform.act.say(ada, ada, "strawberries");
  await answered(platform, ada, "heard strawberries");
  platform.act.say(bela, bela, "apples");
  await answered(platform, bela, "heard apples");
  const messageOf = (person: number) =>
    [...([...platform.world.rooms.values()].find(({ chat }) => chat.id === person)?.messages.values() ?? [])].findLast(
      ({ from }) => from?.is_bot === true,
    )?.message_id ?? 0;
  const react = async (person: number, emoji: string) => {
    const events = async () =>
      (await command("events", "list", "--json", "--sender", String(person))).out.split("reaction_noted").length;
    const before = await events();
    platform.act.react(person, person, messageOf(person), [emoji]);
    await expect.poll(events).toBe(before + 1);
  };
  await react(ada, "👍");
  platform.act.say(bela, bela, "pears");
  await answered(platform, bela, "heard pears");
  await idle();
  expect((await command("sessions", "show", "agent:main:main")).out).toContain("Reaction added: 👍");
  await react(ada, "🔥");
  await react(bela, "🎉");
  expect(JSON.stringify((await exported(ada)).reactions)).toMatch(/🔥/);
  expect(JSON.stringify((await exported(ada)).reactions)).not.toMatch(/🎉/);

  const erased = await command("privacy", "erase", `botchat:${ada}`);
  expect(erased).toMatchObject({ code: 0, out: expect.stringContaining(", 1 reaction that waits for a turn.") });
  platform.act.say(bela, bela, "plums");
  await answered(platform, bela, "heard plums");
  await idle();
  const { out } = await command("sessions", "show", "agent:main:main", "--limit", "0");
  for (const kept of ["pears", "🎉", "plums"]) expect(out).toContain(kept);
  for (const gone of ["strawberries", "👍", "🔥", "Ada"]) expect(out).not.toContain(gone);
});

test("unfinished events, even unread ones, are counted and erased when the command runs again", async () => {
  const gate = Promise.withResolvers<void>();
  const { platform, ada, bela, command, exported, idle } = await open({ dmPolicy: "open", waits: gate.promise });
  const inKitchen = (person: number, text: string) =>
    platform.act.say(person, kitchen, `@e2e_bot ${text}`, {
      entities: [{ type: "mention", offset: 0, length: "@e2e_bot".length }],
    });
  platform.act.say(ada, ada, "raspberries, slowly");
  platform.act.say(ada, ada, "strawberries");
  inKitchen(bela, "pears, slowly");
  inKitchen(ada, "blackberries");
  const open_ = async () =>
    JSON.parse((await command("events", "list", "--outcome", "waiting", "--json")).out).events.length;
  await expect.poll(open_).toBe(4);

  const early = await command("privacy", "erase", `botchat:${ada}`);
  expect(early).toMatchObject({
    code: 1,
    out: expect.stringContaining("3 events that have not ended: run this again later."),
  });
  expect(await open_()).toBe(4);
  expect(await command("privacy", "erase", `botchat:${bela}`, "--dry-run")).toMatchObject({
    code: 1,
    out: expect.stringContaining("1 event that has not ended: run this again later."),
  });
  gate.resolve();
  await answered(platform, ada, "heard strawberries");
  await answered(platform, kitchen, "heard blackberries");
  await idle();
  expect((await exported(ada)).events).toHaveLength(3);
  expect(await command("privacy", "erase", `botchat:${ada}`)).toMatchObject({
    code: 0,
    out: expect.not.stringContaining("have not ended"),
  });
  const left = await exported(ada);
  expect(left).toMatchObject({ events: [], conversations: [], inOtherConversations: [], sent: [], data: [] });
  expect((await command("sessions", "show", "kitchen", "--limit", "0")).out + JSON.stringify(left)).not.toContain(
    "berries",
  );
  expect(JSON.stringify(await exported(bela))).toContain("pears, slowly");
});
