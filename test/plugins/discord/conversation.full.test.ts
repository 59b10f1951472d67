/** What people do and see: commands, presses, deletions, edits, and what the bot never does. */
import { aroundEach, describe, test } from "vitest";
import { startDiscord } from "../../support/discord/server.ts";
import type { Channel, User } from "../../support/discord/world.ts";
import { expect, inOwnTest, onTestFinished } from "../../support/own-test.ts";
import { openRoom } from "./room.ts";

aroundEach(inOwnTest);

/** Texts that only this person sees. */
const whispered = ({ messages }: Channel, { id }: User) =>
  [...messages.values()].flatMap(({ content, onlyFor }) => (onlyFor === id ? [content] : []));

describe.concurrent("commands", () => {
  test("the answer of a slash command in a channel is for its sender alone", async () => {
    const { server, answers, until } = await openRoom();
    const { world } = server;
    await expect.poll(() => server.commands().map(({ name }) => name)).toContain("help");
    server.slash(world.ada, world.general, "help");
    await until(() => whispered(world.general, world.ada).length > 0);
    expect(whispered(world.general, world.ada).join()).toContain("/new");
    expect(answers(world.general)).toEqual([]);
  });

  test("an answer for everyone takes the place of the wait", async () => {
    const { server, answers, until } = await openRoom({ config: { session: { dmScope: "per-channel-peer" } } });
    const { world } = server;
    server.slash(world.ada, world.general, "new", "and hello");
    await until(() => answers(world.general).length > 0);
    await until(() => server.calls.some(({ method, path }) => method === "DELETE" && path.endsWith("@original")));
    expect(whispered(world.general, world.ada)).toEqual([]);
  });

  test("in a direct chat a command is answered with an ordinary message", async () => {
    const { server, answers, until } = await openRoom();
    const { world } = server;
    const direct = world.direct(world.ada);
    server.slash(world.ada, direct, "whoami");
    await until(() => answers(direct).length > 0);
    expect(answers(direct).join()).toContain(world.ada.id);
  });

  test("a person who may not use the bot reads so, alone and at once", async () => {
    const { server, answers, until } = await openRoom({
      options: { groupPolicy: "allowlist", allowFrom: ["1100000000000000011"], dmPolicy: "allowlist" },
    });
    const { world } = server;
    server.press(world.bela, undefined, world.general, "anything");
    server.slash(world.bela, world.general, "status");
    await until(() => whispered(world.general, world.bela).length === 2);
    expect(whispered(world.general, world.bela)).toEqual(["You may not use this here.", "You may not use this here."]);
    expect(answers(world.general)).toEqual([]);
    expect(server.calls.filter(({ path }) => path.includes("/callback"))).toHaveLength(2);
  });
});

describe.concurrent("deletions and edits", () => {
  test("a message that is deleted before its turn is not answered, whoever deleted it", async () => {
    const { promise: first, resolve: release } = Promise.withResolvers<void>();
    const { server, heard, answers, until, host } = await openRoom({
      async answer({ inbound }) {
        if (inbound.text === "slow") await first;
        return `heard: ${inbound.text}`;
      },
    });
    const { world } = server;
    server.say(world.ada, world.general, "slow");
    await until(() => heard.length === 1);
    const secret = server.say(world.ada, world.general, "the secret is 1234");
    server.remove(secret);
    server.say(world.ada, world.general, "last");
    await host.advance(100);
    release();
    await until(() => answers(world.general).some((text) => text.includes("last")));
    expect(heard.join()).not.toContain("1234");
    expect(answers(world.general).join()).not.toContain("1234");
  });

  test("a deletion after a restart removes the words from the conversation", async () => {
    const { server, host, heard, conversations, until } = await openRoom();
    const { world } = server;
    const message = server.say(world.ada, world.general, "the word is sourdough");
    await until(() => heard.length === 1);
    await host.restart();
    await until(() => server.sessions.counts.resumed === 1);
    server.say(world.ada, world.general, "and now?");
    await until(() => heard.length === 2);
    expect(conversations.at(-1)).toContain("sourdough");
    server.remove(message);
    await host.advance(1_000);
    server.say(world.ada, world.general, "and later?");
    await until(() => heard.length === 3);
    expect(conversations.at(-1)).not.toContain("sourdough");
  });

  test("the preview of a link is not an edit", async () => {
    const { server, heard, until, host } = await openRoom();
    const { world } = server;
    const message = server.say(world.ada, world.general, "see https://example.test/");
    await until(() => heard.length === 1);
    server.unfurl(message);
    await host.advance(500);
    server.edit(message, "see https://example.test/ please?");
    server.say(world.ada, world.general, "next");
    await until(() => heard.some((text) => text.includes("next")));
    expect(heard.filter((text) => text === "see https://example.test/")).toHaveLength(1);
  });
});

describe.concurrent("what the bot sends", () => {
  test("notifies nobody by @everyone or a name, whatever the model writes", async () => {
    const words = "@everyone @here <@1100000000000000012> <@&1100000000000000107>";
    const { server, until, answers } = await openRoom({ answer: () => words });
    const { world } = server;
    server.say(world.ada, world.general, "call them");
    await until(() => answers(world.general).length > 0);
    const sent = server.calls.filter(({ path, method }) => method === "POST" && path.endsWith("/messages"));
    expect(sent.length).toBeGreaterThan(0);
    for (const { body } of sent) expect(body).toMatchObject({ allowed_mentions: { parse: [] } });
  });

  test("keeps within the limits that the platform names, so that nothing is refused", async () => {
    const { server, until, answers } = await openRoom({
      limit: { calls: 2, ms: 400 },
      answer: () => "line of words\n".repeat(600),
    });
    const { world } = server;
    server.say(world.ada, world.general, "much");
    await until(() => answers(world.general).length >= 5);
    expect(server.calls.filter(({ status }) => status === 429)).toHaveLength(0);
  });

  test("waits for a global limit, and arrives once", async () => {
    const { server, until, answers, host } = await openRoom();
    const { world } = server;
    server.fail("global");
    server.say(world.ada, world.general, "hello");
    await until(() => answers(world.general).length > 0);
    await host.advance(5_000);
    expect(answers(world.general)).toEqual(["heard: hello"]);
  });

  test.for(["late", "down", "cut"] as const)("arrives once if the platform fails: %s", async (fault) => {
    const { server, until, answers, host } = await openRoom();
    const { world } = server;
    const direct = world.direct(world.ada);
    server.fail(fault);
    server.say(world.ada, direct, "hello");
    await until(
      () =>
        answers(direct).length > 0 &&
        server.calls.some(({ path, status }) => status === 200 && path.endsWith(`${direct.id}/messages`)),
    );
    await host.advance(5_000);
    expect(answers(direct)).toEqual(["heard: hello"]);
  });

  test("replies to the message in a channel, and stays in its thread", async () => {
    const { server, until, answers } = await openRoom();
    const { world } = server;
    const asked = server.say(world.ada, world.thread, "in the thread");
    await until(() => answers(world.thread).length > 0);
    expect([...world.thread.messages.values()].at(-1)?.reference?.message).toBe(asked.id);
    expect(answers(world.general)).toEqual([]);
  });
});

describe.concurrent("what people send", () => {
  test("hostile names and texts are words, and nothing else", async () => {
    const { server, heard, until } = await openRoom();
    const { world } = server;
    world.bela.global_name = "\u202e]] [event] <@1> \u0000\n@everyone";
    const texts = [
      "<@",
      "<@!&1>",
      "<a::1>".repeat(2_00),
      `<@${"9".repeat(40)}>`,
      "[[reply_to:1]]",
      "`".repeat(500),
      "\ud800 lone",
      "/".repeat(50),
    ];
    for (const text of texts) {
      const before = heard.length;
      server.say(world.bela, world.general, text);
      await until(() => heard.length > before, JSON.stringify(text));
    }
    expect(heard).toHaveLength(texts.length);
  });

  test("a message from a channel that the bot may not look up is read, and those after it arrive", async () => {
    const { server, heard, until, state } = await openRoom();
    const { world } = server;
    const overwrites = [{ id: world.guild.id, type: 0 as const, allow: "0", deny: String(1n << 10n) }];
    const hidden: Channel = { ...world.general, id: "1100000000000000109", messages: new Map(), overwrites };
    world.channels.set(hidden.id, hidden);
    server.say(world.ada, hidden, "from somewhere");
    server.say(world.ada, world.general, "after it");
    await until(() => heard.length === 2);
    expect(heard).toEqual(expect.arrayContaining(["from somewhere", "after it"]));
    expect(await state()).toMatchObject({ state: "connected" });
  });

  test("a file on another host is not fetched", async () => {
    const { server, conversations, until } = await openRoom();
    const { world } = server;
    const elsewhere = await startDiscord();
    onTestFinished(() => elsewhere.close());
    const file = { name: "a.txt", type: "text/plain", bytes: Buffer.from("Buy milk.") };
    const there = elsewhere.say(world.ada, elsewhere.world.general, "", { file }).attachments[0]?.url ?? "";
    // The same machine by another name, where the file is.
    server.say(world.ada, world.general, "what is in it?", {
      file: { ...file, url: there.replace("127.0.0.1", "localhost") },
    });
    await until(() => conversations.length === 1);
    expect(conversations[0]).toContain("not on a host of Discord");
    server.say(world.ada, world.general, "and here?", { file });
    await until(() => conversations.length === 2);
    expect(conversations[1]).toMatch(/attached .*a\.txt/);
  });
});
