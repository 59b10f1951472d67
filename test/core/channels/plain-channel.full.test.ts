/**
 * A channel that says only what it knows: the gateway completes its events, reads its secrets and files, and explains
 * its codes.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Json, Type } from "service-gateway/sdk";
import {
  type ChannelAccount,
  ChannelError,
  defineChannel,
  filePath,
  type Parsed,
  secretText,
} from "service-gateway/sdk/channel";
import { expect, onTestFinished, test } from "vitest";
import { wholeSchema } from "../../../core/config/plugin-schemas.ts";
import { redactConfig } from "../../../core/config/showing/redact.ts";

import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";
import { createEngine, startGateway } from "../../support/gateway.ts";
import { run } from "../cli/command-runner.ts";

const options = Type.Object({
  proxies: Type.Array(
    Type.Object({ url: Type.String(), password: secretText({ description: "Password of the proxy." }) }),
    {
      default: [],
    },
  ),
  keyFile: Type.Optional(filePath({ description: "File with the bot's key." })),
});

/** Opens it in a gateway; `state` is what the account reports of itself. */
async function open({
  start = async () => {},
  send = async () => {},
  section = {},
}: {
  readonly start?: () => Promise<void>;
  /** Before a message is noted as sent. */
  readonly send?: () => Promise<void>;
  readonly section?: object;
} = {}) {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "proxy-password"), "swordfish-2\n");
  const opened = Promise.withResolvers<ChannelAccount<{ proxies: readonly object[]; keyFile?: string }>>();
  const sent: string[] = [];
  const definition = defineChannel({
    id: "plain",
    version: "1.0.0",
    host: "^0.2.0",
    options,
    capabilities: { maxChars: 400 },
    codes: { door_shut: { meaning: "The door of the platform is shut.", hint: "Knock." } },
    open(account) {
      opened.resolve(account as never);
      return {
        start,
        parse: (raw) => raw as unknown as Parsed,
        render: ({ text }) => [{ kind: "text", chars: text.length, body: text }],
        async send({ body }, { chat }) {
          await send();
          sent.push(`${chat}: ${String(body)}`);
          return { messageId: String(sent.length) };
        },
        close: async () => {},
      };
    },
  });
  const heard = createEngine(
    ({ inbound }) => `${inbound.kind} ${inbound.text}, ${inbound.mention ? "for the bot" : "for others"}`,
  );
  const running = await startGateway({
    directory,
    plugins: [definition, heard],
    config: { channels: { plain: { dmPolicy: "open", allowFrom: ["*"], ...section } } },
    gateway: { environment: { PROXY_PASSWORD: "swordfish-1" } },
  });
  onTestFinished(async () => {
    await running.gateway.close();
    removeDirectory(directory);
  });
  const state = async () => (await running.gateway.describe()).accounts[0]?.status;
  return { ...running, definition, sent, state, account: await opened.promise };
}

const readLog = (directory: string) => readFileSync(join(directory, "state", "logs", "gateway.log"), "utf8");

const said = (more: object) =>
  ({ chat: { id: "7", kind: "direct" }, sender: { id: "7" }, text: "hi", ...more }) as unknown as Json;

test("a message with only a chat, a sender and a text is answered", async () => {
  const { account, settled, sent } = await open();
  const { eventId } = await account.receive(said({}));
  const { lane } = (await settled(eventId)) as { readonly lane?: string };
  expect(sent).toEqual(["7: message hi, for the bot"]);
  expect(lane).toBe("plain:default:7");
});

test("a duplicate is recognized by message id and chat; an edit or the same id elsewhere is a new event", async () => {
  const { account } = await open();
  const receive = async (more: object) => await account.receive(said(more));
  const first = await receive({ messageId: "1" });
  expect(await receive({ messageId: "1" })).toEqual({ eventId: first.eventId, duplicate: true });
  const others = [{ messageId: "1", kind: "edit" }, { messageId: "1", chat: { id: "8", kind: "direct" } }, {}, {}];
  for (const other of others) expect(await receive(other)).toMatchObject({ duplicate: false });
  // An id of the channel's own goes before that of the message.
  expect(await account.receive(said({ messageId: "1" }), { id: "update-9" })).toMatchObject({ duplicate: false });
  expect(await account.receive(said({ messageId: "2" }), { id: "update-9" })).toMatchObject({ duplicate: true });
});

test("secrets are read at any depth and never shown; file paths are relative to the configuration", async () => {
  const proxies = [
    { url: "http://a", password: { env: "PROXY_PASSWORD" } },
    { url: "http://b", password: { file: "proxy-password" } },
  ];
  const section = { proxies, keyFile: "keys/bot.pem" };
  const { account, directory, definition } = await open({ section });
  expect(account.options).toMatchObject({
    proxies: [
      { url: "http://a", password: "swordfish-1" },
      { url: "http://b", password: "swordfish-2" },
    ],
    keyFile: join(directory, "keys", "bot.pem"),
  });
  account.log.warn({ tried: "swordfish-2" }, "the proxy does not take swordfish-1");
  const schema = wholeSchema({ channels: { plain: definition.channel as never } });
  expect(redactConfig({ channels: { plain: section } }, schema)).toMatchObject({
    channels: { plain: { proxies: [{ password: "(set)" }, { password: "(set)" }], keyFile: "keys/bot.pem" } },
  });
  await expect.poll(() => readLog(directory)).toContain("the proxy does not take");
  expect(readLog(directory)).not.toContain("swordfish");
});

test("an unreadable secret fails the account and is reported with its path", async () => {
  const running = await startGateway({
    config: { channels: { plain: { proxies: [{ url: "http://a", password: { env: "NOT_SET" } }] } } },
    plugins: [
      defineChannel({
        id: "plain",
        version: "1.0.0",
        host: "^0.2.0",
        options,
        capabilities: { maxChars: 1 },
        open: () => ({}) as never,
      }),
    ],
  });
  onTestFinished(async () => {
    await running.gateway.close();
    removeDirectory(running.directory);
  });
  const [{ status } = { status: undefined }] = (await running.gateway.describe()).accounts;
  expect(status).toMatchObject({
    state: "failed",
    detail: expect.stringContaining("channels.plain.proxies[0].password"),
  });
});

test("a start that fails with one of the channel's codes shows the meaning and hint of the code", async () => {
  const refused = await open({
    async start() {
      throw new ChannelError("door_shut");
    },
  });
  const shut = { state: "failed", code: "door_shut", detail: "The door of the platform is shut.", hint: "Knock." };
  await expect.poll(refused.state).toEqual(shut);
  const worded = await open({
    async start() {
      throw new ChannelError("door_shut", { detail: "Shut since noon" });
    },
  });
  await expect.poll(worded.state).toEqual({ ...shut, detail: "Shut since noon" });
  await expect.poll(() => readLog(worded.directory)).toContain('"reason":"door_shut","msg":"Shut since noon. Knock."');
});

/** A channel that connects and is shut out right after. */
const shutOut = `
import { Type } from "service-gateway/sdk";
import { defineChannel } from "service-gateway/sdk/channel";
export default defineChannel({
  id: "plain", version: "1.0.0", host: "^0.2.0", options: Type.Object({}), capabilities: { maxChars: 400 },
  codes: { door_shut: { meaning: "The door of the platform is shut.", hint: "Knock." } },
  open: (account) => ({
    async start() {
      account.status({ state: "connected" });
      account.status({ state: "failed", code: "door_shut", detail: "Shut since noon" });
    },
    parse: () => undefined, render: () => [], send: async () => ({ messageId: "1" }), close: async () => {},
  }),
});`;

test("a later account failure shows its code in the log, status, channels status, why and doctor", async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "plain"));
  writeFileSync(join(directory, "plain", "index.ts"), shutOut);
  const config = { plugins: { load: ["./plain"] }, channels: { plain: { dmPolicy: "open", allowFrom: ["*"] } } };
  const { gateway, configFile } = await startGateway({ directory, config });
  onTestFinished(async () => {
    await gateway.close();
    removeDirectory(directory);
  });
  const [{ status } = { status: undefined }] = (await gateway.describe()).accounts;
  expect(status).toEqual({ state: "failed", code: "door_shut", detail: "Shut since noon", hint: "Knock." });
  await expect.poll(() => readLog(directory)).toContain('"reason":"door_shut","msg":"Shut since noon. Knock."');
  const ask = async (...words: string[]) => (await run([...words, "--config", configFile], { home: directory })).out;
  expect(await ask("status")).toMatch(/plain:default +failed +Shut since noon\. Knock\.$/m);
  expect(await ask("channels", "status")).toMatch(/plain:default +failed .*Shut since noon\. Knock\.$/m);
  expect(await ask("why", "last")).toMatch(/✗ connect Shut since noon\n.*\n +to change +Knock\.$/m);
  expect(await ask("doctor")).toMatch(/plain:default is failed: Shut since noon\n.*Knock\.$/m);
});

test("gateway codes need no declaration, the channel's own takes precedence, unknown ones are logged", async () => {
  const { account, directory, state } = await open();
  account.status({ state: "waiting", code: "unauthorized" });
  const detail = "The platform rejected the account's credentials.";
  expect(await state()).toMatchObject({
    code: "unauthorized",
    detail,
    hint: expect.stringContaining("The gateway tries again by itself."),
  });
  const error = new ChannelError("unauthorized", { retryable: true });
  account.status({
    state: "waiting",
    detail: error.message,
    code: error.reason,
    ...(error.hint && { hint: error.hint }),
  });
  expect(await state()).toMatchObject({ hint: expect.stringContaining("The gateway tries again by itself.") });
  account.status({ state: "failed", code: "unauthorized" });
  expect(await state()).toMatchObject({ detail, hint: "Set the account's current credentials." });
  account.status({ state: "waiting", code: "door_shut", hint: "Ring the bell." });
  expect(await state()).toMatchObject({ detail: "The door of the platform is shut.", hint: "Ring the bell." });
  account.status({ state: "waiting", detail: "door_shut. The next attempt is in 2 s." });
  const nextAttempt = "The door of the platform is shut. The next attempt is in 2 s.";
  expect(await state()).toEqual({ state: "waiting", code: "door_shut", detail: nextAttempt, hint: "Knock." });
  account.status({ state: "waiting", detail: "door_shut is what the server says." });
  expect(await state()).toEqual({ state: "waiting", detail: "door_shut is what the server says." });
  account.status({ state: "connected" });
  expect(await state()).toEqual({ state: "connected" });
  account.status({ state: "waiting", code: "wall_gone", detail: "The wall is gone" });
  await expect
    .poll(() => readLog(directory))
    .toContain("the channel reports a code that is neither the gateway's nor declared");
  expect(await state()).toEqual({ state: "waiting", code: "wall_gone", detail: "The wall is gone" });
});

test("a send that fails with a code of the channel is logged with the code's hint", async () => {
  const { account, directory, settled } = await open({
    async send() {
      throw new ChannelError("door_shut", { detail: "Shut since noon" });
    },
  });
  const { eventId } = await account.receive(said({}));
  const { decisions } = await settled(eventId);
  expect(decisions.find(({ code }) => code === "door_shut")).toMatchObject({
    detail: "Shut since noon",
    hint: "Knock.",
  });
  await expect.poll(() => readLog(directory)).toMatch(/"detail":"Shut since noon","hint":"Knock\."/);
});
