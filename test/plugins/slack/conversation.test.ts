/** People and the bot in a workspace, by Socket Mode. */
import { aroundEach, describe, test } from "vitest";
import { expect, inOwnTest } from "../../support/own-test.ts";
import { typed } from "../../support/slack/people.ts";
import { ada, adaDirect, bot, bread, eve, eveDirect, shownText } from "../../support/slack/world.ts";
import { openSlack } from "./bench.ts";

aroundEach(inOwnTest);

const named = `<@${bot.user}>`;

describe.concurrent("what people write", () => {
  test("a mention arrives as two events of Slack, and is answered once", async () => {
    const { server, seen, ends } = await openSlack();
    server.people.say(`${named} what is bread?`, { channel: bread });
    await expect.poll(() => seen(bread)).toEqual(["heard: what is bread?"]);
    await expect.poll(() => server.delivery.confirmed.length).toBeGreaterThanOrEqual(3);
    server.delivery.repeat();
    server.people.say("not for you", { channel: bread });
    await expect.poll(() => ends.length).toBe(2);
    expect(seen(bread)).toEqual(["heard: what is bread?"]);
    expect(server.complaints).toEqual([]);
  });

  test("names of people, links and marks are read as Markdown, and entities as letters", async () => {
    const { server, seen } = await openSlack();
    server.people.say(`<@${eve}> says *yes*, see <https://a.test/b|the page> &amp; <#C0BREAD01|bread>: \`a &lt; *b*\``);
    await expect
      .poll(() => server.world.channels.get(adaDirect)?.messages.at(-1)?.text)
      .toBe("heard: @Eve says *yes*, see <https://a.test/b|the page> &amp; #bread: `a &lt; *b*`");
    expect(seen()).toHaveLength(1);
  });

  test("an answer mentions nobody, whatever its words", async () => {
    const { server } = await openSlack({ answer: () => "<!channel> <@U0EVE0001> @here" });
    server.people.say("hi");
    await expect
      .poll(() => server.world.channels.get(adaDirect)?.messages.at(-1)?.text)
      .toMatch(/^&lt;!channel&gt; &lt;@\S*U0EVE0001&gt; @\S*here$/);
  });

  test("a thread stays a thread, and a direct chat has the id of the person", async () => {
    const { server, host } = await openSlack();
    const root = server.people.say("first");
    server.people.say("second", { thread: root });
    const answers = () => server.world.channels.get(adaDirect)?.messages.filter(({ user }) => user === bot.user);
    await expect.poll(() => answers()?.map(({ thread_ts }) => thread_ts)).toEqual([undefined, root]);
    expect(host.ended().every(({ outcome }) => outcome === "answered")).toBe(true);
  });

  test("with threadPerMention, a mention begins a thread in which the bot needs no further mention", async () => {
    const { server, ends } = await openSlack({ options: { threadPerMention: true } });
    const root = server.people.say(`${named} begin`, { channel: bread });
    const answers = () => server.world.channels.get(bread)?.messages.filter(({ user }) => user === bot.user);
    await expect
      .poll(() => answers()?.map(({ thread_ts, text }) => [thread_ts, text]))
      .toEqual([[root, "heard: begin"]]);
    server.people.say("go on", { channel: bread, thread: root, user: eve });
    await expect.poll(() => answers()?.map(({ thread_ts }) => thread_ts)).toEqual([root, root]);
    const other = server.people.say("talk among people", { channel: bread });
    server.people.say("still among people", { channel: bread, thread: other });
    await expect.poll(() => ends.length).toBe(4);
    expect(answers()).toHaveLength(2);
  });

  test("a message that is deleted before its turn is not answered", async () => {
    let go = () => {};
    const first = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { server, seen, ends } = await openSlack({
      async answer({ inbound }) {
        if (inbound.text === "wait") await first;
        return `heard: ${inbound.text}`;
      },
    });
    server.people.say("wait");
    const ts = server.people.say("a secret");
    await expect.poll(() => server.delivery.confirmed.length).toBe(2);
    server.people.delete(ts);
    await expect.poll(() => server.delivery.confirmed.length).toBe(3);
    go();
    await expect.poll(() => ends.filter((end) => end.includes("deleted")).length).toBeGreaterThan(0);
    await expect.poll(() => seen()).toEqual(["heard: wait"]);
  });

  test("the preview of a link is no edit of its writer, and a change of words is one", async () => {
    const { server, seen } = await openSlack({ options: { editedMessages: "answer" } });
    const ts = server.people.say("see https://a.test");
    await expect.poll(() => seen()).toHaveLength(1);
    server.people.edit(ts, "see https://a.test");
    server.people.edit(ts, "see https://b.test");
    await expect.poll(() => seen()).toHaveLength(2);
    await expect.poll(() => server.delivery.confirmed.length).toBe(5);
    expect(seen()[1]).toContain("https://b.test");
  });

  test("another bot is answered only where it is listed and names this one", async () => {
    const { server, seen, ends } = await openSlack({ options: { groups: { [bread]: { requireMention: false } } } });
    server.people.robot(`${named} hello`, { channel: bread });
    await expect.poll(() => ends.length).toBe(1);
    expect(seen(bread)).toEqual([]);
    expect(ends[0]).toMatch(/bot/);
  });
});

describe.concurrent("buttons and commands", () => {
  test("the slash command is a message, and an app's other commands are commands of the gateway", async () => {
    const { server, seen } = await openSlack();
    server.people.command("/ask", typed("why <b>?"));
    await expect.poll(() => seen()).toEqual(["heard: why <b>?"]);
    server.people.command("/whoami", "");
    await expect.poll(() => seen().join("\n")).toContain(ada);
  });

  test("the answer of a command in a channel is for its sender alone, also by the slash command", async () => {
    const { server, seen } = await openSlack();
    server.people.say(`${named} !whoami`, { channel: bread });
    await expect.poll(() => server.world.ephemerals.length).toBe(1);
    server.people.command("/ask", "!whoami", { channel: bread });
    await expect.poll(() => server.world.ephemerals.length).toBe(2);
    expect(server.world.ephemerals.map(({ channel, user }) => [channel, user])).toEqual([
      [bread, ada],
      [bread, ada],
    ]);
    expect(seen(bread)).toEqual([]);
    expect(server.tokenAt).toEqual([]);
  });

  test("a press of a stranger has no effect, and they alone see why", async () => {
    const { server, seen, ends } = await openSlack({
      options: { groupPolicy: "allowlist", groups: { [bread]: { allowFrom: [ada] } } },
    });
    server.people.say(`${named} hello`, { channel: bread });
    await expect.poll(() => seen(bread)).toHaveLength(1);
    server.people.press("go", { channel: bread, user: eve });
    await expect.poll(() => server.world.ephemerals.map(({ user }) => user)).toEqual([eve]);
    await expect.poll(() => ends.at(-1)).toMatch(/^refused/);
    expect(seen(bread)).toHaveLength(1);
  });

  test("a direct chat with someone who never wrote is opened once", async () => {
    const { server, host } = await openSlack();
    const send = (text: string) =>
      host.deliver("agent", { message: text, channel: "slack", to: eve, deliver: true, name: "Note" });
    for (const text of ["one", "two"]) expect((await send(text)).ended[0]?.outcome).toBe("answered");
    expect(server.calls.filter(({ method }) => method === "conversations.open")).toHaveLength(1);
    expect(server.world.channels.get(eveDirect)?.messages.map(shownText)).toHaveLength(2);
  });
});

describe.concurrent("a send", () => {
  test("a direct chat that is another one than before is opened again", async () => {
    const { server, seen } = await openSlack();
    server.people.say("Hello");
    await expect.poll(() => seen()).toHaveLength(1);
    server.faults = [{ method: "chat.postMessage", kind: "refuse", what: "channel_not_found" }];
    server.people.say("And now?");
    await expect.poll(() => seen()).toEqual(["heard: Hello", "heard: And now?"]);
    expect(server.calls.filter(({ method }) => method === "conversations.open")).toHaveLength(1);
  });

  test("a missing scope is named with the place to add it", async () => {
    const { server, host } = await openSlack();
    server.scopes = server.scopes.filter((scope) => scope !== "chat:write");
    const { ended } = await host.deliver("agent", {
      message: "hi",
      channel: "slack",
      to: ada,
      deliver: true,
      name: "N",
    });
    expect(ended[0]?.outcome).toBe("failed");
    expect(JSON.stringify(ended[0]?.decisions)).toMatch(/missing_scope.*add chat:write under OAuth & Permissions/);
  });

  test("a method that Slack limits waits as long as it says, and the answer arrives once", async () => {
    const { server, seen, host } = await openSlack();
    server.faults = [{ method: "chat.postMessage", kind: "limit" }];
    server.people.say("Hello");
    await expect.poll(() => server.calls.some(({ method }) => method === "chat.postMessage")).toBe(true);
    await host.advance(1_000);
    expect(seen()).toEqual([]);
    await host.advance(5_000);
    await expect.poll(() => seen()).toEqual(["heard: Hello"]);
  });
});

describe.concurrent("the connection", () => {
  test("before Slack closes a socket, another one is open, and an event on either is confirmed there", async () => {
    const { server, seen } = await openSlack();
    const [first] = server.delivery.sockets;
    server.delivery.refresh("warning");
    await expect.poll(() => server.delivery.sockets.size).toBe(2);
    server.people.say("on the new one");
    await expect.poll(() => seen()).toEqual(["heard: on the new one"]);
    first?.close();
    await expect.poll(() => server.delivery.sockets.size).toBe(1);
    server.people.say("and after");
    await expect.poll(() => seen()).toEqual(["heard: on the new one", "heard: and after"]);
    expect(server.complaints).toEqual([]);
    expect(server.calls.filter(({ method }) => method === "apps.connections.open")).toHaveLength(2);
  });

  test("an app that is removed from the workspace is reported at once", async () => {
    const { server, state } = await openSlack();
    server.delivery.event({ type: "app_uninstalled" });
    await expect.poll(state).toMatchObject({ state: "failed", code: "unauthorized" });
  });
});
