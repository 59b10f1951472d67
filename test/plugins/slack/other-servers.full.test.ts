/**
 * A second opinion: servers that others wrote, unchanged. What they lack, so that the channel does without it there:
 *
 * - crabline has seven methods of the Web API and posted events; no edits, deletions, reactions, files, people,
 *   buttons, slash commands or Socket Mode.
 * - emulate has the Web API with files and reactions, and the bot is a person there (a token of a bot needs an OAuth
 *   installation); no Socket Mode, buttons, slash commands, `users.conversations` or exact limits.
 */
import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ChannelConnection, Part } from "service-gateway/sdk/channel";
import { expect, onTestFinished, test } from "vitest";
import { createTestAccount } from "../../../core/testkit/channel/test-account.ts";
import slack from "../../../plugins/slack/index.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { makersProgram } from "../../support/makers-clients.ts";
import { type SlackServer, signingSecret } from "../../support/slack/server.ts";
import { openSlack } from "./bench.ts";

const never = new AbortController().signal;
const load = async <T>(path: string) => (await import(pathToFileURL(makersProgram(path)).href)) as T;

interface Crabline {
  startSlackServer(options: object): Promise<{
    readonly manifest: {
      readonly adminToken: string;
      readonly botToken: string;
      readonly endpoints: { readonly adminInboundUrl: string; readonly apiRoot: string };
    };
    close(): Promise<void>;
  }>;
}

interface Emulate {
  createEmulator(options: object): Promise<{ readonly url: string; close(): Promise<void> }>;
}

/** Calls the Web API of a server as a client would. */
async function call(root: string, method: string, token: string, args: Readonly<Record<string, string>> = {}) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/x-www-form-urlencoded" };
  const response = await fetch(`${root}/${method}`, { method: "POST", headers, body: new URLSearchParams(args) });
  return (await response.json()) as {
    readonly [name: string]: unknown;
    readonly messages?: readonly Record<string, unknown>[];
  };
}

test("with crabline: its signed events are received, and its histories have the answers in their threads", async () => {
  const { startSlackServer } = await load<Crabline>("@openclaw/crabline/dist/src/servers/slack.js");
  // The gateway's address is not known before it listens: the events are passed on by a server in between.
  const recorderPath = join(temporaryDirectory(), "crabline.jsonl");
  const { forward, url } = await forwarder();
  const { manifest, close } = await startSlackServer({
    ...{ botToken: "xoxb-crabline-bot-token", signingSecret, recorderPath, eventsRequestUrl: url },
  });
  onTestFinished(close);
  const { apiRoot, adminInboundUrl } = manifest.endpoints;
  const server = { apiUrl: apiRoot.replace(/\/$/, "") } as SlackServer;
  const options = { botToken: manifest.botToken, appToken: undefined, signingSecret, threadPerMention: true };
  const { host } = await openSlack({ server, options });
  forward(`${host.url}/channels/slack/default/events`);
  const say = async (body: object) => {
    const headers = { "content-type": "application/json", "x-crabline-admin-token": manifest.adminToken };
    const response = await fetch(adminInboundUrl, { method: "POST", headers, body: JSON.stringify(body) });
    expect(response.status).toBe(200);
  };
  const history = async (channel: string) =>
    (await call(server.apiUrl, "conversations.history", manifest.botToken, { channel })).messages ?? [];
  await say({ channel: "D0CRAB001", user: "U0CRAB001", text: "Hello *crab*" });
  await expect.poll(async () => (await history("D0CRAB001")).map(({ text }) => text)).toContain("heard: Hello *crab*");
});

test("with emulate: messages, edits, reactions and files are what its histories have", async () => {
  const { createEmulator } = await load<Emulate>("emulate/dist/api.js");
  const botToken = "xoxb-emulate-bot-token";
  const emulator = await createEmulator({
    service: "slack",
    port: 0,
    seed: {
      tokens: { [botToken]: { login: "admin" } },
      slack: {
        users: [{ name: "ada", real_name: "Ada Lind", email: "ada@a.test" }],
        channels: [{ name: "bread" }],
        bots: [{ name: "my-bot" }],
      },
    },
  });
  onTestFinished(() => emulator.close());
  const server = { apiUrl: `${emulator.url}/api` } as SlackServer;
  const options = { botToken, appToken: undefined, signingSecret, groups: { "*": { requireMention: false } } };
  const file = join(temporaryDirectory(), "note.txt");
  writeFileSync(file, "flour and water");
  const { host } = await openSlack({ server, options });
  const api = (method: string, args: Readonly<Record<string, string>> = {}) =>
    call(server.apiUrl, method, botToken, args);
  const channels = (await api("conversations.list")).channels as readonly {
    readonly id: string;
    readonly name: string;
  }[];
  const channel = channels.find(({ name }) => name === "bread")?.id ?? "";
  const users = (await api("users.list")).members as readonly { readonly id: string; readonly name: string }[];
  const ada = users.find(({ name }) => name === "ada")?.id ?? "";
  const { team_id: team } = await api("auth.test");
  const event = { type: "message", channel, user: ada, text: "Hello", ts: `${Math.floor(Date.now() / 1_000)}.000100` };
  const body = JSON.stringify({ type: "event_callback", team_id: team, event_id: "Ev1", event });
  const time = String(Math.floor(Date.now() / 1_000));
  const signature = `v0=${createHmac("sha256", signingSecret).update(`v0:${time}:${body}`).digest("hex")}`;
  const headers = { "x-slack-request-timestamp": time, "x-slack-signature": signature };
  const posted = await fetch(`${host.url}/channels/slack/default/events`, { method: "POST", body, headers });
  expect(posted.status).toBe(200);
  const history = async () => (await api("conversations.history", { channel })).messages ?? [];
  await expect.poll(async () => (await history()).map(({ text }) => text)).toContain("heard: Hello");
  const connection = openConnection(server.apiUrl, botToken);
  const address = { channel: "slack", account: "default", chat: channel };
  const [part] = connection.render({ text: "**First**", media: [], buttons: [] }, address);
  const { messageId } = await connection.send(part as Part, address, never);
  const [changed] = connection.render({ text: "Second", media: [], buttons: [] }, address);
  await connection.send({ ...(changed as Part), replaces: messageId }, address, never);
  await connection.react?.(messageId, "👀", address);
  const [files] = connection.render({ text: "", media: [{ path: file, fileName: "note.txt" }], buttons: [] }, address);
  await connection.send(files as Part, address, never);
  const messages = await history();
  expect(messages.find(({ ts }) => ts === messageId)).toMatchObject({ text: "Second", reactions: [{ name: "eyes" }] });
  expect(JSON.stringify(messages)).toContain("note.txt");
  const id = /"id":"(F\w+)"/.exec(JSON.stringify(messages))?.[1] ?? "";
  const fetched = await connection.fetchMedia?.(
    { kind: "document", ref: id, mimeType: "text/plain" },
    { maxBytes: 1_000, signal: never },
  );
  expect(readFileSync(fetched?.path ?? "", "utf8")).toBe("flour and water");
  await connection.remove?.(messageId, address, never);
  expect((await history()).map(({ ts }) => ts)).not.toContain(messageId);
  await connection.close();
});

function openConnection(apiUrl: string, botToken: string): ChannelConnection {
  const options = { botToken, signingSecret, apiUrl, threadPerMention: false, slashCommand: "/ask" };
  const directory = temporaryDirectory();
  const { account } = createTestAccount({ channel: "slack", options, directory, now: Date.now, elapsed: Date.now });
  const { channel } = slack;
  if (channel === undefined) throw new Error("the plugin declares no channel");
  return channel.open(account as never);
}

/** A server that passes requests on, once it knows where to. */
async function forwarder(): Promise<{ forward(to: string): void; readonly url: string }> {
  const { createServer } = await import("node:http");
  const { buffer } = await import("node:stream/consumers");
  let target: string | undefined;
  const server = createServer(async (request, response) => {
    const body = new Uint8Array(await buffer(request));
    if (target === undefined) return void response.writeHead(503).end();
    const names = ["content-type", "x-slack-request-timestamp", "x-slack-signature", "x-slack-retry-num"];
    const headers = Object.fromEntries(
      names.flatMap((name) => (request.headers[name] === undefined ? [] : [[name, String(request.headers[name])]])),
    );
    const answer = await fetch(target, { method: "POST", body, headers });
    response.writeHead(answer.status).end(await answer.text());
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { readonly port: number };
  return {
    url: `http://127.0.0.1:${port}/events`,
    forward(to) {
      target = to;
    },
  };
}
