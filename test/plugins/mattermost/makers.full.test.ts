/**
 * The stand-in, judged by the maker's own client: a request of the client that it refuses is a fault of the stand-in.
 * And the channel on a server that others wrote, `@openclaw/crabline`, unchanged. That one lacks: `PUT
 * posts/{id}/patch` and `GET posts/{id}`, lists of channels and posts, files, reactions, ephemeral posts, buttons,
 * `pending_post_id`, members, settings and roles, and connections that go on after a loss.
 */
import { join } from "node:path";
import { createTestHost } from "service-gateway/testkit";
import { expect, test } from "vitest";
import mattermost from "../../../plugins/mattermost/index.ts";
import { temporaryHome } from "../../core/cli/command.ts";
import { makersClient, makersProgram } from "../../support/makers-clients.ts";
import { actionsOf, startMattermost } from "../../support/mattermost/server.ts";
import { onTestFinished } from "../../support/own-test.ts";
import { openHost } from "./host.ts";

type Named = { readonly id: string } & Readonly<Record<string, unknown>>;

/** The part of `@mattermost/client` that is used here. */
interface Client4 {
  readonly [method: string]: (...args: readonly unknown[]) => unknown;
}
interface WebSocketClient {
  initialize(url: string, token: string): void;
  addMessageListener(listener: (message: { readonly event: string; readonly seq: number }) => void): void;
  addMissedMessageListener(listener: () => void): void;
  userTyping(channel: string, parent: string, done: () => void): void;
  close(): void;
}
const { Client4, WebSocketClient } = makersClient<{
  Client4: new () => Client4;
  WebSocketClient: new (config: object) => WebSocketClient;
}>("@mattermost/client");

async function clientOf(
  url: string,
  token: string,
): Promise<<T = Named>(method: string, ...args: readonly unknown[]) => Promise<T>> {
  const client = new Client4();
  client.setUrl?.(url);
  client.setToken?.(token);
  return async <T>(method: string, ...args: readonly unknown[]) => (await client[method]?.(...args)) as T;
}

test("each call of the channel is one that the maker's client makes, and the stand-in answers it", async () => {
  const server = await startMattermost();
  onTestFinished(() => server.close());
  const { ada, bela, bot, room } = server;
  const call = await clientOf(server.url, bot.token);
  expect(await call("getMe")).toMatchObject({ id: bot.id, is_bot: true });
  expect(await call("getUserByUsername", "ada")).toMatchObject({ id: ada.id });
  expect(await call("getProfilesByIds", [ada.id, bela.id])).toHaveLength(2);
  expect(await call("getMyTeams")).toMatchObject([{ name: "bakery" }]);
  expect(await call("getAllTeamsChannels")).toHaveLength(2);
  expect(await call("getChannel", room.id)).toMatchObject({ type: "O" });
  expect(await call("getChannelByNameAndTeamName", "bakery", "town-square")).toMatchObject({ id: room.id });
  expect(await call("getChannelMember", room.id, bot.id)).toMatchObject({ user_id: bot.id });
  expect(await call("getClientConfig")).toMatchObject({ EnableFileAttachments: "true" });
  expect(await call("getRoleByName", "system_user")).toMatchObject({ name: "system_user" });
  const direct = await call("createDirectChannel", [bot.id, bela.id]);
  const form = new FormData();
  form.append("channel_id", direct.id);
  form.append("files", new Blob(["bread"]), "bread.txt");
  const { file_infos } = await call<{ readonly file_infos: readonly Named[] }>("uploadFile", form);
  const sent = { channel_id: direct.id, message: "hello", pending_post_id: `${bot.id}:1` };
  const post = await call("createPost", { ...sent, file_ids: file_infos.map(({ id }) => id) });
  expect((await call("createPost", sent)).id).toBe(post.id);
  expect(await call("getPost", post.id)).toMatchObject({ metadata: { files: [{ name: "bread.txt", size: 5 }] } });
  expect(await call("patchPost", { id: post.id, message: "hello again" })).toMatchObject({ message: "hello again" });
  await call("addReaction", bot.id, post.id, "+1");
  expect(await call("getReactionsForPost", post.id)).toMatchObject([{ emoji_name: "+1" }]);
  await call("removeReaction", "me", post.id, "+1");
  const listed = await call<{ readonly order: readonly string[] }>("getPostsSince", direct.id, Date.now() - 60_000);
  expect(listed.order).toContain(post.id);
  await call("deletePost", post.id);
  await expect(call("getPost", post.id)).rejects.toMatchObject({
    status_code: 404,
    server_error_id: "app.post.get.app_error",
  });
  await expect(call("createPostEphemeral", ada.id, { channel_id: room.id, message: "x" })).rejects.toMatchObject({
    status_code: 403,
  });
  bot.roles = "system_user system_admin";
  expect(await call("createPostEphemeral", ada.id, { channel_id: room.id, message: "x" })).toHaveProperty("id");
});

test("a person with the maker's client is answered: text, edit, thread, button, a lost connection", async () => {
  const { server, playUntil } = await openHost(
    {},
    {
      async *answer({ inbound }) {
        yield { type: "text", delta: `heard: ${inbound.text}` };
        if (inbound.text === "ask me") yield { type: "buttons", buttons: [[{ text: "Yes", value: "yes" }]] };
        yield { type: "done" };
      },
    },
  );
  const { ada, bot, chat } = server;
  const call = await clientOf(server.url, ada.token);
  const events: string[] = [];
  let missed = 0;
  // Node's own timers: those of this process are played.
  const socket = new WebSocketClient({
    minWebSocketRetryTime: 10,
    reconnectJitterRange: 1,
    clientPingInterval: 60_000,
  });
  onTestFinished(() => socket.close());
  socket.addMessageListener(({ event }) => void events.push(event));
  socket.addMissedMessageListener(() => {
    missed += 1;
  });
  socket.initialize(`${server.url.replace("http", "ws")}/api/v4/websocket`, ada.token);
  await playUntil(() => events.includes("hello"));
  const direct = await call("createDirectChannel", [ada.id, bot.id]);
  expect(direct.id).toBe(chat.id);
  const answers = () => server.posts(chat, bot);
  const first = await call("createPost", { channel_id: direct.id, message: "hello" });
  await playUntil(() => answers().length === 1);
  await call("patchPost", { id: first.id, message: "hello, and are you there?" });
  await playUntil(() => answers().length === 2);
  await call("createPost", { channel_id: direct.id, message: "in a thread", root_id: first.id });
  await playUntil(() => answers().some(({ root_id }) => root_id === first.id));
  await call("createPost", { channel_id: direct.id, message: "ask me" });
  await playUntil(() => answers().some((post) => actionsOf(post).length > 0));
  const asked = answers().find((post) => actionsOf(post).length > 0);
  await call("doPostAction", asked?.id, asked === undefined ? "" : actionsOf(asked)[0]?.id);
  await playUntil(() => answers().some(({ message }) => message === "heard: callback_data: yes"));
  expect(events.filter((event) => event === "posted").length).toBeGreaterThanOrEqual(8);
  server.events.drop({ forget: true });
  await call("createPost", { channel_id: direct.id, message: "after the loss" });
  await playUntil(() => answers().some(({ message }) => message === "heard: after the loss") && missed > 0);
  expect(answers().filter(({ message }) => message === "heard: after the loss")).toHaveLength(1);
});

test("on a server of others, a person is answered in private and a mention in a channel", async () => {
  const { startMattermostServer, mattermostId } = (await import(
    makersProgram("@openclaw/crabline/dist/src/index.js")
  )) as {
    startMattermostServer(options: object): Promise<{
      close(): Promise<void>;
      readonly manifest: {
        readonly baseUrl: string;
        readonly adminToken: string;
        readonly botToken: string;
        readonly endpoints: { readonly adminInboundUrl: string; readonly apiRoot: string };
      };
    }>;
    mattermostId?(text: string): string;
  };
  const posted: { readonly message?: string; readonly channel_id?: string }[] = [];
  const { manifest, close } = await startMattermostServer({
    botUsername: "breadbot",
    recorderPath: join(temporaryHome(), "calls.jsonl"),
    onEvent: (event: { readonly path?: string; readonly body?: object }) => {
      if (event.path === "/api/v4/posts") posted.push(event.body ?? {});
    },
  });
  onTestFinished(close);
  const { baseUrl: url, botToken: token, adminToken, endpoints } = manifest;
  const channels = { mattermost: { url, token, dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open" } };
  const host = await createTestHost({ plugins: [mattermost], config: { channels }, allowErrors: [/./] });
  onTestFinished(() => host.close());
  const id = (text: string) => mattermostId?.(text) ?? text.padEnd(26, "0");
  const write = async (body: object) => {
    const answer = await fetch(endpoints.adminInboundUrl, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${adminToken}`,
        "x-crabline-admin-token": adminToken,
      },
      body: JSON.stringify({ senderId: id("ada"), senderName: "ada", ...body }),
    });
    expect(await answer.json()).toMatchObject({ ok: true });
  };
  const state = async () => (await host.accounts()).find(({ channel }) => channel === "mattermost")?.state;
  await expect.poll(state).toBe("connected");
  await write({ text: "hello" });
  await expect.poll(() => posted.map(({ message }) => message)).toContain("heard: hello");
  await write({ text: "@breadbot hi", channelId: id("room"), channelType: "O", channelName: "room" });
  await expect.poll(() => posted.find(({ message }) => message === "heard: hi")?.channel_id).toBe(id("room"));
});
