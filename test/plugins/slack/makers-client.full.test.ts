/**
 * The maker's own clients judge the workspace that the channel is tried in: a request of theirs that it refuses is its
 * fault. Here they are the bot, as the channel is elsewhere.
 */
import type { EventEmitter } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { makersClient } from "../../support/makers-clients.ts";
import { appToken, botToken, type SlackServer, startSlack } from "../../support/slack/server.ts";
import { ada, adaDirect, bot, bread } from "../../support/slack/world.ts";

type Answer = Promise<Readonly<Record<string, unknown>> & { readonly ts?: string }>;
type Call = (args?: object) => Answer;

interface WebClient {
  readonly auth: { test: Call };
  readonly chat: { postMessage: Call; update: Call; delete: Call; postEphemeral: Call };
  readonly conversations: { open: Call; history: Call; replies: Call; info: Call };
  readonly users: { info: Call; conversations: Call; list: Call };
  readonly reactions: { add: Call; remove: Call };
  readonly files: { info: Call };
  filesUploadV2: Call;
}

interface SocketModeClient extends EventEmitter {
  start(): Promise<unknown>;
  disconnect(): Promise<void>;
}

const quiet = { debug() {}, info() {}, warn() {}, error() {}, setLevel() {}, setName() {}, getLevel: () => "error" };

async function serve(): Promise<SlackServer> {
  const server = await startSlack();
  onTestFinished(() => server.close());
  return server;
}

function webClient(server: SlackServer): WebClient {
  const { WebClient } = makersClient<{ WebClient: new (token: string, options: object) => WebClient }>(
    "@slack/web-api",
  );
  return new WebClient(botToken, { slackApiUrl: `${server.apiUrl}/`, logger: quiet, retryConfig: { retries: 0 } });
}

async function socketClient(server: SlackServer): Promise<SocketModeClient> {
  const { SocketModeClient } = makersClient<{ SocketModeClient: new (options: object) => SocketModeClient }>(
    "@slack/socket-mode",
  );
  const client = new SocketModeClient({
    ...{ appToken, logger: quiet, clientOptions: { slackApiUrl: `${server.apiUrl}/` } },
  });
  onTestFinished(() => client.disconnect().then(() => {}));
  await client.start();
  return client;
}

test("the client of the Web API calls every method that the channel calls, and none is refused", async () => {
  const server = await serve();
  const client = webClient(server);
  const channel = bread;
  expect(await client.auth.test()).toMatchObject({ ok: true, user_id: bot.user, team_id: "T0TEAM001" });
  const blocks = [
    { type: "section", text: { type: "mrkdwn", text: "*Hi*" } },
    {
      type: "actions",
      elements: [{ type: "button", action_id: "a", text: { type: "plain_text", text: "Go" }, value: "go" }],
    },
  ];
  const { ts } = await client.chat.postMessage({ channel, text: "Hi", blocks, unfurl_links: false });
  expect(ts).toMatch(/^\d{10}\.\d{6}$/);
  await client.chat.update({ channel, ts, text: "Hello", blocks: [] });
  await client.reactions.add({ channel, timestamp: ts, name: "eyes" });
  await client.reactions.remove({ channel, timestamp: ts, name: "eyes" });
  const answer = await client.chat.postMessage({ channel, text: "in the thread", thread_ts: ts });
  expect(await client.conversations.replies({ channel, ts: String(ts) })).toMatchObject({
    messages: [{ ts }, { ts: answer.ts, thread_ts: ts }],
  });
  expect(await client.conversations.history({ channel, limit: 5 })).toMatchObject({
    messages: [{ ts, reply_count: 1 }],
  });
  await client.chat.postEphemeral({ channel, user: ada, text: "for you" });
  await client.chat.delete({ channel, ts: answer.ts });
  expect(await client.conversations.open({ users: ada })).toMatchObject({ channel: { id: adaDirect } });
  expect(await client.conversations.info({ channel })).toMatchObject({ channel: { name: "bread", is_member: true } });
  expect(await client.users.info({ user: ada })).toMatchObject({ user: { profile: { display_name: "Ada Lind" } } });
  expect(await client.users.conversations({ types: "public_channel,im" })).toMatchObject({
    channels: [{ id: bread }, { id: adaDirect }],
  });
  expect(await client.users.list({ limit: 2 })).toMatchObject({
    response_metadata: { next_cursor: expect.stringMatching(/./) },
  });
  const uploaded = (await client.filesUploadV2({
    channel_id: channel,
    filename: "note.txt",
    file: Buffer.from("flour"),
  })) as {
    readonly files: readonly { readonly files: readonly { readonly id: string }[] }[];
  };
  const file = uploaded.files[0]?.files[0]?.id;
  expect(await client.files.info({ file })).toMatchObject({
    file: { name: "note.txt", size: 5, shares: { public: { [bread]: [{}] } } },
  });
  expect(server.complaints).toEqual([]);
});

test("the client of the Web API reads the errors and the limits as the channel does", async () => {
  const server = await serve();
  const client = webClient(server);
  await expect(client.chat.postMessage({ channel: "C0NOTHING", text: "?" })).rejects.toThrow("channel_not_found");
  server.scopes = server.scopes.filter((scope) => scope !== "chat:write");
  await expect(client.chat.postMessage({ channel: bread, text: "?" })).rejects.toMatchObject({
    data: { error: "missing_scope", needed: "chat:write" },
  });
  server.refusal = "account_inactive";
  await expect(client.auth.test()).rejects.toThrow("account_inactive");
});

test("the client of Socket Mode hears and confirms all that people do, and takes the next socket", async () => {
  const server = await serve();
  const client = await socketClient(server);
  const heard: string[] = [];
  client.on("message", async ({ ack, event }: { ack(): Promise<void>; event: { text: string } }) => {
    await ack();
    heard.push(event.text);
  });
  client.on("interactive", async ({ ack, body }: { ack(): Promise<void>; body: { actions: { value: string }[] } }) => {
    await ack();
    heard.push(`press ${body.actions[0]?.value}`);
  });
  client.on(
    "slash_commands",
    async ({ ack, body }: { ack(): Promise<void>; body: { command: string; text: string } }) => {
      await ack();
      heard.push(`${body.command} ${body.text}`);
    },
  );
  server.people.say("Hello");
  await webClient(server).chat.postMessage({ channel: adaDirect, text: "own" });
  server.people.press("go");
  server.people.command("/ask", "why?");
  await expect.poll(() => heard).toEqual(["Hello", "own", "press go", "/ask why?"]);
  await expect.poll(() => server.delivery.confirmed.length).toBe(4);
  // Asked to refresh, the client closes its socket by itself and opens another one.
  server.delivery.refresh();
  await expect.poll(() => server.calls.filter(({ method }) => method === "apps.connections.open").length).toBe(2);
  await expect.poll(() => server.delivery.sockets.size).toBe(1);
  server.people.say("Again");
  await expect.poll(() => heard.at(-1)).toBe("Again");
  expect(server.complaints).toEqual([]);
});
