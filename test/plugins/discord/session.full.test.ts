/** The session at the gateway: what is said meanwhile arrives once, and the token goes to the platform alone. */
import { aroundEach, describe, test } from "vitest";
import { startDiscord } from "../../support/discord/server.ts";
import { expect, inOwnTest, onTestFinished } from "../../support/own-test.ts";
import { openRoom } from "./room.ts";

aroundEach(inOwnTest);

describe.concurrent("what is said meanwhile", () => {
  test("arrives by a resumption when the gateway starts again", async () => {
    const { server, host, heard, until } = await openRoom();
    const { world, sessions } = server;
    server.say(world.ada, world.general, "before");
    await until(() => heard.includes("before"));
    await host.restart();
    await until(() => sessions.counts.resumed === 1);
    server.say(world.ada, world.general, "after");
    await until(() => heard.includes("after"));
    expect(sessions.counts).toMatchObject({ identified: 1, resumed: 1 });
    expect(heard).toEqual(["before", "after"]);
  });

  test("arrives once and in order after the session has ended, from direct chats, channels and threads", async () => {
    const { server, heard, until } = await openRoom();
    const { world, sessions } = server;
    const direct = world.direct(world.ada);
    server.say(world.ada, direct, "direct 1");
    server.say(world.ada, world.general, "general 1");
    await until(() => heard.length === 2);
    sessions.cut();
    sessions.forget();
    for (const [channel, name] of [
      [direct, "direct"],
      [world.general, "general"],
      [world.thread, "thread"],
    ] as const)
      for (const count of [2, 3]) server.say(world.ada, channel, `${name} ${count}`);
    await until(() => heard.length === 8);
    await until(() => sessions.counts.identified === 2);
    for (const name of ["direct", "general", "thread"])
      expect(heard.filter((text) => text.startsWith(name))).toEqual(
        [...(name === "thread" ? [] : [1]), 2, 3].map((count) => `${name} ${count}`),
      );
  });

  test("arrives once and in order after the platform was away for 300 s", async () => {
    const { server, host, heard, until, state } = await openRoom();
    const { world } = server;
    const direct = world.direct(world.ada);
    server.say(world.ada, direct, "before");
    await until(() => heard.includes("before"));
    await server.away();
    server.sessions.forget();
    for (let minute = 0; minute < 5; minute += 1) {
      server.say(world.ada, direct, `direct ${minute}`);
      server.say(world.ada, world.thread, `thread ${minute}`);
      await host.advance(60_000);
    }
    expect(await state()).not.toMatchObject({ state: "connected" });
    await server.listen();
    await until(() => heard.length === 11);
    for (const name of ["direct", "thread"])
      expect(heard.filter((text) => text.startsWith(name))).toEqual(
        [0, 1, 2, 3, 4].map((minute) => `${name} ${minute}`),
      );
  });

  test("does not include what was said before the bot was there", async () => {
    const { server, heard, until } = await openRoom({
      prepare: ({ world, say }) => void say(world.ada, world.general, "before the bot"),
    });
    server.say(server.world.ada, server.world.general, "now");
    await until(() => heard.length > 0);
    expect(heard).toEqual(["now"]);
  });
});

describe.concurrent("what the platform says at the end of a connection", () => {
  test.for([
    [4004, { state: "failed", code: "unauthorized" }],
    [4013, { state: "failed", code: "intents_refused", hint: expect.stringContaining("Message Content Intent") }],
    [4014, { state: "failed", code: "intents_refused", hint: expect.stringContaining("discord.com/developers") }],
    [4011, { state: "failed", code: "sharding_required" }],
  ] as const)("%i ends the account, and says what to do", async ([code, expected]) => {
    const { server, state } = await openRoom();
    server.sessions.close(code);
    await expect.poll(state).toMatchObject(expected);
  });

  test.for([4000, 4008, 1006])("after %i the session goes on", async (code) => {
    const { server, until } = await openRoom();
    if (code === 1006) server.sessions.cut();
    else server.sessions.close(code);
    await until(() => server.sessions.counts.resumed === 1);
    expect(server.sessions.counts.identified).toBe(1);
  });

  test.for([4007, 4009])("after %i a new session begins", async (code) => {
    const { server, until } = await openRoom();
    server.sessions.close(code);
    await until(() => server.sessions.counts.identified === 2);
  });

  test("op 7 resumes, and op 9 that may be resumed as well", async () => {
    const { server, until } = await openRoom();
    server.sessions.send({ op: 7, d: null });
    await until(() => server.sessions.counts.resumed === 1);
    server.sessions.send({ op: 9, d: true });
    await until(() => server.sessions.counts.resumed === 2);
    server.sessions.send({ op: 9, d: false });
    await until(() => server.sessions.counts.identified === 2);
  });

  test("a wrong token ends the account", async () => {
    const { state } = await openRoom({ options: { token: "wrong" }, isConnected: false });
    await expect.poll(state).toMatchObject({ state: "failed", code: "unauthorized" });
  });
});

describe.concurrent("the platform's own hosts", () => {
  test("an address for resumptions elsewhere never gets the token", async () => {
    const foreign = await startDiscord();
    onTestFinished(() => foreign.close());
    const { server, until } = await openRoom({
      // The same machine by another name.
      prepare: ({ settings }) => void Object.assign(settings, { resumeUrl: `ws://localhost:${foreign.port}` }),
    });
    server.sessions.cut();
    await until(() => server.sessions.counts.resumed === 1);
    expect(foreign.sessions.counts).toEqual({ identified: 0, resumed: 0, heartbeats: 0 });
  });

  test("an unencrypted address elsewhere is refused before anything is sent", async () => {
    const { state } = await openRoom({ options: { apiRoot: "http://discord.example/api/v10" }, isConnected: false });
    await expect.poll(state).toMatchObject({ state: "failed", detail: expect.stringContaining("not encrypted") });
  });
});

test("without the Message Content Intent the bot answers mentions, and says which switch is off", async () => {
  const { server, state, heard, until } = await openRoom({
    prepare: ({ settings }) => void Object.assign(settings, { messageContent: false }),
  });
  expect(await state()).toMatchObject({
    state: "connected",
    code: "content_intent_missing",
    hint: expect.stringContaining("switch on Message Content Intent"),
  });
  const { world } = server;
  server.say(world.ada, world.general, "not for the bot");
  server.say(world.ada, world.general, `<@${world.bot.id}> hello`);
  await until(() => heard.length > 0);
  expect(heard).toEqual(["hello"]);
});
