/** What the bot sends, and what becomes of it when a call fails. */
import type { TurnEvent } from "service-gateway/sdk";
import { expect, test } from "vitest";
import { createApi } from "../../../plugins/mattermost/api.ts";
import type { Fault } from "../../support/mattermost/faults.ts";
import { startMattermost } from "../../support/mattermost/server.ts";
import { onTestFinished } from "../../support/own-test.ts";
import { openHost } from "./host.ts";

test.each<[string, Fault["kind"]]>([
  ["the server fails after it has stored it", "late-error"],
  ["the connection breaks after it was stored", "cut"],
  ["the connection breaks before it was stored", "cut-before"],
  ["the server fails before it has stored it", "error"],
  ["a proxy answers that it lost the server", "proxy"],
  ["the server limits the rate", "flood"],
])("a message arrives once if %s", async (_, kind) => {
  const { server, answers, playUntil } = await openHost();
  server.faults.add({ kind, call: /^POST posts$/ });
  server.say(server.ada, server.chat, "hello");
  await playUntil(() => answers().length > 0 && server.calls.filter(({ path }) => path === "posts").length > 0);
  server.say(server.ada, server.chat, "and now?");
  await playUntil(() => answers().length > 1);
  expect(answers()).toEqual(["heard: hello", "heard: and now?"]);
});

test.each<[string, string, number, string, RegExp]>([
  ["the bot was removed", "api.context.permissions.app_error", 403, "no_rights", /\/invite @<bot>/],
  [
    "the channel is archived",
    "api.post.create_post.can_not_post_to_deleted.error",
    400,
    "channel_archived",
    /Unarchive/,
  ],
  ["the token is no longer valid", "api.context.session_expired.app_error", 401, "unauthorized", /Create New Token/],
  ["the thread was deleted", "api.post.create_post.root_id.app_error", 400, "thread_gone", /topic/i],
])("the trace says what to press if %s", async (_, id, status, reason, hint) => {
  const { server, host, ends, playUntil } = await openHost();
  server.faults.add({ kind: "refuse", id, status, call: /^POST posts$/, times: 9 });
  const root = server.say(server.bela, server.room, "a root");
  server.say(server.ada, server.room, "@breadbot hello", { root_id: root.id });
  const failed = () => ends.find(({ outcome }) => outcome === "failed");
  await playUntil(() => failed() !== undefined);
  expect(failed()?.reason).toBe(reason);
  const decisions = await host.why(failed()?.eventId ?? "");
  expect(decisions.map((decision) => decision.hint ?? "").join("\n")).toMatch(hint);
});

test("a person who never wrote is reached by their id, and the id of a direct channel is refused", async () => {
  const { server, host } = await openHost();
  const { bela, bot, chat } = server;
  const connection = (to: string) =>
    host.deliver("agent", { message: "hello", channel: "mattermost", to, deliver: true });
  const reached = await connection(bela.id);
  expect(reached.ended).toMatchObject([{ outcome: "answered" }]);
  expect(server.posts(server.world.direct(bot, bela), bot)).toHaveLength(1);
  const refused = await connection(chat.id);
  expect(refused.ended).toMatchObject([{ outcome: "failed", reason: "chat_not_found" }]);
  const named = await connection("@bela");
  expect(named.ended).toMatchObject([{ outcome: "answered" }]);
  expect(server.posts(server.world.direct(bot, bela), bot)).toHaveLength(2);
});

async function* withFile(): AsyncGenerator<TurnEvent> {
  const data = Buffer.from("a picture of bread").toString("base64");
  yield { type: "text", delta: "Here it is." };
  yield { type: "media", media: { data, fileName: "bread.txt", mimeType: "text/plain" } };
  yield { type: "done" };
}

test("files of a reply are in one post with its text", async () => {
  const { server, answers, until } = await openHost({}, { answer: withFile });
  server.say(server.ada, server.chat, "show me");
  await until(() => answers().length === 1);
  const [post] = server.posts(server.chat, server.bot);
  expect([post?.message, post?.file_ids.map((id) => server.world.files.get(id)?.name)]).toEqual([
    "Here it is.",
    ["bread.txt"],
  ]);
});

test("a server without files gets the text alone, and the trace says where to press", async () => {
  const { server, host, ends, answers, playUntil } = await openHost({}, { answer: withFile });
  server.world.config.EnableFileAttachments = "false";
  server.say(server.ada, server.chat, "show me");
  await playUntil(() => ends.length > 0);
  expect(answers()).toEqual(["Here it is."]);
  expect(JSON.stringify(await host.why(ends[0]?.eventId ?? ""))).toContain("File Sharing and Downloads");
});

test("no mention, link or mark of a reply has an effect that its words do not show", async () => {
  const hostile = "@channel @all <!here> ~town-square [x](javascript:alert(1)) \u202Eevil";
  const { server, answers, until } = await openHost({}, { answer: () => hostile });
  server.say(server.ada, server.chat, "say it");
  await until(() => answers().length === 1);
  expect(answers()[0]).not.toMatch(/(?<![\w⁠])@(?:channel|all|here)\b/);
  expect(answers()[0]).not.toContain("](javascript:");
});

test.each<["GET" | "POST" | "PUT" | "DELETE", string]>([
  ["GET", "users/me"],
  ["GET", "config/client"],
  ["GET", "channels/x/posts"],
  ["POST", "posts"],
  ["POST", "posts/ephemeral"],
  ["POST", "channels/direct"],
  ["POST", "files"],
  ["POST", "reactions"],
  ["PUT", "posts/x/patch"],
  ["DELETE", "posts/x"],
])("%s %s waits as long as the server asks", async (method, path) => {
  const server = await startMattermost();
  onTestFinished(() => server.close());
  server.faults.add({ kind: "flood", retryAfter: 7 });
  const api = createApi({
    ...{ url: server.url, token: server.bot.token, calling: () => () => {}, stop: new AbortController().signal },
  });
  await expect(api.call(method, path, method === "GET" ? {} : { body: {} })).rejects.toMatchObject({
    ...{ reason: "flood_wait", retryable: true, retryAfterMs: 7_000, fate: "not-sent" },
  });
});
