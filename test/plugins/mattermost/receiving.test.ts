/** What reaches the gateway: in order and once, whatever the connection loses. */
import { expect, test } from "vitest";
import { createApi } from "../../../plugins/mattermost/api.ts";
import { postsSince } from "../../../plugins/mattermost/receive/history.ts";
import { startMattermost } from "../../support/mattermost/server.ts";
import { onTestFinished } from "../../support/own-test.ts";
import { openHost } from "./host.ts";

test("an event that the connection leaves out is fetched, before the one that follows it", async () => {
  const { server, answers, playUntil } = await openHost();
  server.say(server.ada, server.chat, "first");
  await playUntil(() => answers().length === 1);
  server.events.lose(1);
  server.say(server.ada, server.chat, "second");
  server.say(server.ada, server.chat, "third");
  await playUntil(() => answers().length === 3);
  expect(answers()).toEqual(["heard: first", "heard: second", "heard: third"]);
});

test("a connection that breaks goes on where it was: also what REST does not list arrives", async () => {
  const { server, answers, playUntil, reasons } = await openHost({ reactionNotifications: "all" });
  const post = server.say(server.ada, server.chat, "hello");
  await playUntil(() => answers().length === 1);
  server.events.drop();
  server.react(server.ada, post, "tada");
  await playUntil(() => reasons().includes("reaction_noted"));
  server.say(server.ada, server.chat, "did you see it?");
  await playUntil(() => answers().length === 2);
  expect(server.calls.filter(({ path }) => path.endsWith("/posts")).length).toBeGreaterThan(0);
  expect(reasons().filter((reason) => reason === "reaction_noted")).toHaveLength(1);
});

test("what was written, edited and deleted during an absence arrives once, and the deleted words do not", async () => {
  const heard: string[] = [];
  const { server, answers, playUntil, reasons } = await openHost(
    {},
    {
      answer({ inbound }) {
        heard.push(inbound.text);
        return `heard: ${inbound.text}`;
      },
    },
  );
  const { ada, chat, room } = server;
  const before = server.say(ada, chat, "before");
  await playUntil(() => answers().length === 1);
  await server.leave();
  server.say(ada, chat, "one");
  const edited = server.say(ada, chat, "twwo");
  server.edit(ada, edited, "two");
  server.remove(ada, server.say(ada, chat, "the code is 7391"));
  server.say(ada, room, "@breadbot in the channel");
  server.edit(ada, before, "before, and a question?");
  await server.back();
  await playUntil(() => answers().length === 4 && answers(room).length === 1);
  expect(answers()).toEqual(["heard: before", "heard: one", "heard: two", expect.stringContaining("a question?")]);
  expect(heard.join("\n")).not.toContain("7391");
  expect(reasons().filter((reason) => reason === "message_deleted" || reason === "message_unknown")).toHaveLength(1);
  server.events.drop({ forget: true });
  server.say(ada, chat, "last");
  await playUntil(() => answers().length === 5);
  expect(answers().at(-1)).toBe("heard: last");
});

test("more than a thousand posts of an absence are all found, although the server lists a thousand", async () => {
  const server = await startMattermost();
  onTestFinished(() => server.close());
  const since = Date.now() - 1_000;
  for (let index = 0; index < 1_250; index += 1) server.say(server.ada, server.chat, `post ${index}`);
  const api = createApi({
    ...{ url: server.url, token: server.bot.token, calling: () => () => {}, stop: new AbortController().signal },
  });
  const found = await postsSince(server.chat.id, since, api);
  expect(found.map(({ message }) => message)).toEqual(Array.from({ length: 1_250 }, (_, index) => `post ${index}`));
});

test("a message that is deleted before its turn is not answered, and its words are nowhere", async () => {
  const begun = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const heard: string[] = [];
  const { server, answers, until, ends } = await openHost(
    {},
    {
      async answer({ inbound }) {
        heard.push(inbound.text);
        begun.resolve();
        await release.promise;
        return `heard: ${inbound.text}`;
      },
    },
  );
  const hasEnded = (code: string) => ends.some(({ reason }) => reason === code);
  server.say(server.ada, server.chat, "slow");
  await begun.promise;
  server.remove(server.ada, server.say(server.ada, server.chat, "the code is 7391"));
  await until(() => hasEnded("message_deleted"));
  release.resolve();
  await until(() => hasEnded("deleted_by_sender"));
  expect([answers(), heard]).toEqual([["heard: slow"], ["slow"]]);
});

test("posts of webhooks, of the server and of the bot itself are no messages of a person", async () => {
  const { server, answers, playUntil, reasons } = await openHost();
  const { ada, chat } = server;
  server.say(ada, chat, "I am ada", { props: { from_webhook: "true", override_username: "ada" } });
  server.say(ada, chat, "ada joined", { type: "system_join_channel" });
  server.say(ada, chat, "really ada");
  await playUntil(() => reasons().length === 3);
  expect(answers()).toEqual(["heard: really ada"]);
  expect(reasons().toSorted()).toEqual(["answered", "service_message", "webhook_message"]);
});

test("in a channel the name of the bot addresses it, and neither a longer name nor everyone's does", async () => {
  const { server, answers, until } = await openHost();
  const { ada, room } = server;
  for (const text of ["@breadbots hi", "breadbot hi", "@channel hi", "mail@breadbot.example", "@breadbot.two hi"])
    server.say(ada, room, text);
  server.say(ada, room, "hi @BreadBot.");
  await until(() => answers(room).length === 1);
  expect(answers(room)).toEqual(["heard: hi @⁠BreadBot."]);
});

test("a thread is a conversation of its own, and begins with the post that it answers", async () => {
  const quotes: unknown[] = [];
  const { server, until } = await openHost(
    {},
    {
      answer({ inbound }) {
        quotes.push([inbound.chat.thread, inbound.replyTo?.text, inbound.replyTo?.sender]);
        return "an answer";
      },
    },
  );
  const { ada, bela, bot, room } = server;
  const root = server.say(bela, room, "The oven is broken.");
  server.say(ada, room, "@breadbot what does bela mean?", { root_id: root.id });
  await until(() => server.posts(room, bot).length === 1);
  expect(quotes).toEqual([[root.id, "The oven is broken.", "bela"]]);
  expect(server.posts(room, bot).map(({ root_id }) => root_id)).toEqual([root.id]);
});

test("with replyInThread, a message in a channel begins a thread", async () => {
  const { server, until } = await openHost({ replyInThread: true });
  const { ada, bot, chat, room } = server;
  const first = server.say(ada, room, "@breadbot hello");
  server.say(ada, chat, "hello in private");
  await until(() => server.posts(room, bot).length === 1 && server.posts(chat, bot).length === 1);
  expect(server.posts(room, bot).map(({ root_id }) => root_id)).toEqual([first.id]);
  expect(server.posts(chat, bot).map(({ root_id }) => root_id)).toEqual([""]);
});

test("a token that becomes void ends the account, and the status says where to get another", async () => {
  const { server, host, playUntil } = await openHost();
  Object.assign(server.bot, { token: "another-token" });
  server.events.drop({ forget: true });
  let state: Awaited<ReturnType<typeof host.accounts>>[number] | undefined;
  await playUntil(() => {
    void host.accounts().then((accounts) => {
      state = accounts.find(({ channel }) => channel === "mattermost");
    });
    return state?.state === "failed";
  });
  expect(state).toMatchObject({ code: "unauthorized", hint: expect.stringContaining("Create New Token") });
});
