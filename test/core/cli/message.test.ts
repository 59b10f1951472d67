import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { Gateway } from "../../../core/gateway/gateway.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import botchat from "../../../plugins/botchat/index.ts";
import { createPlatform, type Message, type Platform } from "../../../plugins/playground/platform/index.ts";
import { botToken, openChannel, people } from "../../e2e/room.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";
import { createEngine, startGateway } from "../../support/gateway.ts";
import { run } from "./command-runner.ts";

const quiet = createEngine(() => "NO_REPLY");
let platform: Platform;
let gateway: Gateway | undefined;
let directory = "";
let ada = 0;

const boot = async () => {
  const config = { agents: { defaults: { engine: "scripted" } }, channels: { botchat: openChannel(platform) } };
  ({ gateway } = await startGateway({ directory, config, plugins: [botchat, quiet] }));
};
const halt = async () => {
  await gateway?.close();
  gateway = undefined;
};

beforeAll(async () => {
  platform = await createPlatform({ bots: [{ token: botToken, username: "e2e_bot", name: "E2E" }] });
  [ada = 0] = people(platform);
  platform.act.say(ada, ada, "hello");
  directory = temporaryDirectory();
  await boot();
  return async () => {
    await halt();
    await platform.close();
    removeDirectory(directory);
  };
});

const message = (...args: readonly string[]) =>
  run(["message", ...args, "--config", join(directory, "config.jsonc")], { home: directory });
const messages = (): readonly Message[] => [
  ...([...platform.world.rooms.values()].find((room) => room.chat.id === ada)?.messages.values() ?? []),
];

test("fields of the platform are sent, and one that the channel does not have is refused", async () => {
  const send = (platform: string) =>
    message("send", "--target", String(ada), "--message", "Do not share", "--platform", platform);
  const before = messages().length;
  expect(await send('{ "botchat": { "protect_contents": true } }')).toMatchObject({
    code: 2,
    err: expect.stringContaining("platform.botchat.protect_contents is not known. Did you mean protect_content?"),
  });
  expect(await send("{ botchat }")).toMatchObject({
    code: 2,
    err: expect.stringContaining(
      '--platform is not JSON: service expects fields by channel such as { "botchat": { ... } }',
    ),
  });
  expect(messages().length).toBe(before);
  expect(await send('{ "botchat": { "protect_content": true }, "other": { "any": 1 } }')).toMatchObject({ code: 0 });
  expect(messages().at(-1)).toMatchObject({ text: "Do not share", has_protected_content: true });
});

test("the running gateway sends, edits, reacts to and deletes a message", async () => {
  const buttons = JSON.stringify([[{ text: "Yes", callback_data: "y" }]]);
  const sent = await message(
    "send",
    "--target",
    String(ada),
    "--message",
    "**Tea?**",
    "--buttons",
    buttons,
    "--silent",
    "--json",
  );
  expect(sent.code).toBe(0);
  const { messageId, ...rest } = JSON.parse(sent.out) as { readonly messageId: string };
  expect(rest).toEqual({ ok: true, chatId: String(ada) });
  const at = ["--target", String(ada), "--message-id", messageId];
  expect(await message("edit", ...at, "--message", "Coffee?")).toMatchObject({
    code: 0,
    out: `Changed: message ${messageId} in chat ${ada}.\n`,
  });
  expect(messages().at(-1)).toMatchObject({ text: "Coffee?", reply_markup: { inline_keyboard: [[{ text: "Yes" }]] } });
  expect(await message("react", ...at, "--emoji", "👍")).toMatchObject({ code: 0, out: "Done.\n" });
  expect(await message("delete", ...at)).toMatchObject({ code: 0, out: "Deleted.\n" });
  expect(messages().map(({ message_id }) => String(message_id))).not.toContain(messageId);
});

test("a refusal is one sentence, or JSON for programs", async () => {
  const refused = await message("sticker", "--target", String(ada), "--file-id", "x");
  expect(refused).toEqual({ code: 1, out: "", err: "error: channels.botchat.actions.sticker is false.\n" });
  const json = await message("send", "--target", "424242", "--message", "x", "--json");
  expect(json.code).toBe(1);
  const error = expect.stringMatching(
    /^sendMessage: 400 Bad Request: chat not found\. Let the person write to the bot first, .+ events list`\.$/,
  );
  expect(JSON.parse(json.out)).toEqual({ ok: false, code: "chat_not_found", error });
});

test("a contradictory command line is wrong usage", async () => {
  expect(await message("send", "--message", "x")).toMatchObject({ code: 2, err: expect.stringContaining("--target") });
  expect(await message("send", "--target", "1")).toMatchObject({
    code: 2,
    err: expect.stringContaining("send needs message or media."),
  });
  expect(await message("send", "--target", "1", "--message", "x", "--buttons", "Yes")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--buttons is not JSON"),
  });
  expect(await message("send", "--target", "1", "--message", "x", "--reply-to", "abc")).toMatchObject({
    code: 2,
    err: expect.stringContaining('replyTo must be a whole number from 1 on, not "abc"'),
  });
});

test("a dry run shows what would be sent, and a local file is sent under its own name", async () => {
  const file = join(directory, "list.txt");
  writeFileSync(file, "bread");
  const before = messages().length;
  const dry = await message("send", "--target", String(ada), "--media", file, "--message", "The list", "--dry-run");
  expect(dry).toMatchObject({
    code: 0,
    out: `Nothing was done. It would send in chat ${ada}.\n  document, 8 characters\n`,
  });
  expect(messages()).toHaveLength(before);
  for (const real of [[], ["--dry-run"]])
    expect(
      await message("send", "--target", String(ada), "--media", join(directory, "none.txt"), ...real),
    ).toMatchObject({
      code: 2,
      err: expect.stringContaining("none.txt cannot be sent"),
    });
  expect(await message("send", "--target", String(ada), "--media", file, "--message", "The list")).toMatchObject({
    code: 0,
  });
  expect(messages().at(-1)).toMatchObject({ caption: "The list", document: { file_name: "list.txt" } });
  expect(readdirSync(join(directory, "state", "botchat", "default", "media"))).toHaveLength(1);
});

test("a dry run refuses a literal address that is not public, as the real send does", async () => {
  for (const url of [
    "http://127.0.0.1/a.png",
    "http://0x7f.1/a.png",
    "http://[::1]:8080/a.png",
    "https://10.0.0.8/a.png",
  ]) {
    const { code, err } = await message("send", "--target", String(ada), "--media", url, "--dry-run");
    expect({ url, code }).toEqual({ url, code: 1 });
    expect(err).toContain("only public addresses are fetched");
  }
  const named = await message(
    "send",
    "--target",
    String(ada),
    "--media",
    "https://files.example.org/a.png",
    "--dry-run",
  );
  expect(named).toMatchObject({ code: 0, out: expect.stringContaining("Nothing was done") });
});

test("the commands on the actions page do what the page says, tried as dry runs", async () => {
  const page = readFileSync(join(import.meta.dirname, "..", "..", "..", "examples", "reference", "actions.md"), "utf8");
  const lines = [...page.matchAll(/^service message (.+)$/gm)].map(([, line = ""]) => line);
  expect(lines.length).toBeGreaterThan(4);
  const report = join(directory, "report.pdf");
  writeFileSync(report, "%PDF-1.4");
  for (const line of lines) {
    const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
      ([, single, double, bare]) => single ?? double ?? bare ?? "",
    );
    const args = words.map((word) => (word === "./report.pdf" ? report : word));
    const { code, err } = await message(...args, "--dry-run");
    // Stickers are off unless an account switches them on.
    expect({ line, code, err }).toMatchObject({ line, code: args[0] === "sticker-search" ? 1 : 0 });
  }
});

test("without a gateway, a message is stored for the next one; reading works, others say what is missing", async () => {
  await halt();
  const stored = await message("send", "--target", String(ada), "--message", "later");
  expect(stored).toMatchObject({
    code: 0,
    out: expect.stringContaining("The message is stored, and sent when one runs"),
  });
  expect(await message("send", "--target", String(ada), "--message", "x", "--dry-run")).toMatchObject({ code: 0 });
  mkdirSync(join(directory, "state", "botchat"), { recursive: true });
  expect(await message("sticker-search", "--query", "cat")).toMatchObject({
    code: 1,
    err: expect.stringContaining("actions.sticker is false"),
  });
  const json = await message("delete", "--target", String(ada), "--message-id", "1", "--json");
  expect(json.code).toBe(1);
  expect(JSON.parse(json.out)).toMatchObject({
    ok: false,
    code: "gateway_not_running",
    error: expect.stringContaining("No gateway is running on"),
  });
  expect(json.err).toBe("");
  expect(await message("delete", "--target", String(ada), "--message-id", "1")).toMatchObject({
    code: 1,
    err: expect.stringContaining("No gateway is running on"),
  });
  expect(messages().map(({ text }) => text)).not.toContain("later");
  await boot();
  await expect.poll(() => messages().at(-1)?.text).toBe("later");
});

test("a message stored by an earlier version is sent with its buttons, whose values were callback_data", async () => {
  await halt();
  const store = await openSqliteStore({ directory: join(directory, "state"), now: Date.now });
  const address = { channel: "botchat", account: "default", chat: String(ada) };
  await store.accept({
    id: "0earlier",
    at: Date.now(),
    event: {
      source: "operator",
      kind: "action",
      lane: `action:botchat:default:${ada}#control`,
      authority: "operator",
      body: { address, text: "Tea?", buttons: [[{ text: "Yes", callback_data: "tea" }]] },
    },
  });
  await store.close();
  await boot();
  await expect.poll(() => messages().at(-1)?.text).toBe("Tea?");
  expect(messages().at(-1)?.reply_markup).toEqual({ inline_keyboard: [[{ text: "Yes", callback_data: "tea" }]] });
});

test("two topics in one command are rejected, with or without a gateway; the same one twice is accepted", async () => {
  const send = (thread: string) =>
    message("send", "--target", "-5:topic:2", "--thread", thread, "--message", "x", "--dry-run");
  const refused = {
    code: 2,
    out: "",
    err: expect.stringContaining("--target: it names topic 2, and --thread names topic 3: leave one out."),
  };
  expect(await send("3")).toMatchObject(refused);
  expect(await send("2")).toMatchObject({ code: 0, out: expect.stringContaining("in chat -5, topic 2.") });
  await halt();
  try {
    expect(await send("3")).toMatchObject(refused);
  } finally {
    await boot();
  }
});

test("a message sent by hand is sent unchanged, even if it is a silence token", async () => {
  for (const text of ["NO_REPLY", "HEARTBEAT_OK"]) {
    const sent = await message("send", "--target", String(ada), "--message", text);
    expect(sent).toMatchObject({ code: 0, out: expect.stringMatching(/^Sent: message \d+ in chat/) });
    expect(messages().at(-1)).toMatchObject({ text });
  }
});
