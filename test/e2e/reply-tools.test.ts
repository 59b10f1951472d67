/** What a model adds to its own reply: files by `attach`, buttons by `buttons`, and images that it generates. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createTestHost } from "service-gateway/testkit";
import { aroundEach, test } from "vitest";
import ai from "../../plugins/ai/index.ts";
import botchat from "../../plugins/botchat/index.ts";
import { callTools, say } from "../openai-server/answers.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import { openChannel, openPlatform, people } from "./room.ts";

aroundEach(inOwnTest);

const png = Buffer.from("89504e470d0a1a0a0000000d494844520000000100000001080600000", "hex");

async function open({ channels = {}, agent = {} }: { readonly channels?: object; readonly agent?: object } = {}) {
  const model = await createOpenAiServer();
  const directory = temporaryDirectory();
  const work = join(directory, "work");
  mkdirSync(work);
  for (const name of ["a.txt", "b.txt", "c.txt"]) writeFileSync(join(work, name), `file ${name}`);
  const host = await createTestHost({
    directory,
    plugins: [ai, botchat],
    config: {
      agents: { defaults: { model: "local/small", workspace: work, heartbeat: { every: "0" }, ...agent } },
      models: { providers: { local: { api: "openai-compatible", baseUrl: model.url } } },
      channels,
      plugins: { entries: { ai: { options: { retries: 0 } } } },
    },
  });
  onTestFinished(async () => {
    await host.close();
    await model.close();
    removeDirectory(directory);
  });
  const results = () =>
    model.requests
      .at(-1)
      ?.body.messages.flatMap((one) => (one.role === "tool" ? [JSON.parse(String(one.content))] : [])) ?? [];
  return {
    ...{ host, model, work, directory, results },
    attach: (...all: readonly object[]) => callTools(all.map((args) => ({ name: "attach", args }))),
    async said(text: string) {
      const before = host.outbox().length;
      const ended = await host.say(text);
      return { ...ended, sent: host.outbox().slice(before) };
    },
    offered: () => model.requests.at(-1)?.body.tools?.map((tool) => tool.function.name) ?? [],
  };
}

test.concurrent("workspace files and buttons become part of the reply, with captions below its text", async () => {
  const { model, attach, said, results } = await open();
  model.script(
    attach({ path: "a.txt", caption: "The first." }, { path: "b.txt" }),
    callTools([{ name: "buttons", args: { rows: [["More"], [{ text: "Done", callback_data: "done" }]] } }]),
    say("Here they are."),
  );
  const { sent } = await said("the files");
  expect(
    sent.map(({ text, media, buttons }) => ({ text, files: media.map(({ fileName }) => fileName), buttons })),
  ).toEqual([
    {
      text: "Here they are.\n\nThe first.",
      files: ["a.txt", "b.txt"],
      buttons: [[{ text: "More", value: "More" }], [{ text: "Done", value: "done" }]],
    },
  ]);
  expect(results()).toMatchObject([
    { ok: true, fileName: "a.txt", mimeType: "text/plain", size: 10 },
    { ok: true, fileName: "b.txt" },
    { ok: true },
  ]);
});

test.concurrent("files of parallel calls are sent in the order of the calls, whichever is stored first", async () => {
  const { model, attach, said, work } = await open();
  // The first takes longest.
  for (const [name, size] of [
    ["a.bin", 16],
    ["b.bin", 4],
  ] as const)
    writeFileSync(join(work, name), Buffer.alloc(size * 1_000_000, 7));
  model.script(
    attach({ path: "a.bin", caption: "First." }, { path: "b.bin" }, { path: "c.txt", caption: "Third." }),
    say("Here."),
  );
  const [reply] = (await said("the files")).sent;
  expect(reply?.media.map(({ fileName }) => fileName)).toEqual(["a.bin", "b.bin", "c.txt"]);
  expect(reply?.text).toBe("Here.\n\nFirst.\n\nThird.");
});

test.concurrent("the file is captured at the time of the call, and the next turn starts without it", async () => {
  const { model, attach, said, work } = await open();
  model.script(attach({ path: "a.txt" }), async (exchange) => {
    writeFileSync(join(work, "a.txt"), "changed since");
    await say("Here.")(exchange);
  });
  const { sent } = await said("the file");
  expect(readFileSync(sent[0]?.media[0]?.path ?? "", "utf8")).toBe("file a.txt");
  expect((await said("and?")).sent.map(({ media }) => media)).toEqual([[]]);
});

test.concurrent("a silent or empty answer still sends the file", async () => {
  const { model, attach, said } = await open();
  model.script(attach({ path: "a.txt" }), say("NO_REPLY"));
  expect((await said("quietly")).sent).toMatchObject([{ text: "", media: [{ fileName: "a.txt" }] }]);
  model.script(attach({ path: "b.txt", caption: "Look." }), say(""), say(""));
  expect((await said("without words")).sent).toMatchObject([{ text: "Look.", media: [{ fileName: "b.txt" }] }]);
});

test.concurrent("a refused file is reported with a reason; the sender reads a line unless a retry works", async () => {
  const { model, attach, said, results, work, host } = await open();
  symlinkSync(host.configFile, join(work, "link.txt"));
  const inside = createServer((_, response) => void response.end("inside"));
  await new Promise<void>((resolve) => inside.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void inside.close());
  const url = `http://127.0.0.1:${(inside.address() as AddressInfo).port}/secret.png`;
  model.script(
    attach(
      { path: "../state/gateway-token" },
      { path: "link.txt" },
      { path: "gone.txt" },
      { path: url },
      {},
      { path: "a.txt", url },
    ),
    say("I could not."),
  );
  const { sent, decisions } = await said("secrets");
  expect(results().map(({ ok, code }) => [ok, code])).toEqual([
    [false, "media_refused"],
    [false, "media_refused"],
    [false, "media_missing"],
    [false, "address_not_public"],
    [false, "invalid_arguments"],
    [false, "invalid_arguments"],
  ]);
  expect(results()[0].error).toMatch(/^gateway-token may not be sent: it is neither in the workspace/);
  expect(JSON.stringify(results()[3])).not.toContain("127.0.0.1");
  expect(sent).toHaveLength(1);
  expect(sent[0]?.text).toMatch(/^I could not\.\n\n\[media unavailable: [^\n]+\]$/);
  expect(sent[0]?.media).toEqual([]);
  expect(decisions.filter(({ code }) => code === "media_missing")).toHaveLength(1);
  model.script(attach({ path: "gone.txt" }), attach({ path: "c.txt" }), say("Here."));
  expect((await said("again")).sent).toMatchObject([{ text: "Here.", media: [{ fileName: "c.txt" }] }]);
  model.script(attach({ path: "gone.txt" }), say("NO_REPLY"));
  expect((await said("quietly")).sent).toEqual([]);
});

test.concurrent("buttons are offered only where they are allowed; a call despite that loses no file", async () => {
  const platform = await openPlatform();
  const [ada = 0] = people(platform);
  const { model, attach, offered } = await open({
    channels: { botchat: openChannel(platform, { streamMode: "off", capabilities: { inlineButtons: "off" } }) },
  });
  model.script(
    attach({ path: "a.txt" }, { path: "b.txt" }, { path: "c.txt" }),
    callTools([{ name: "buttons", args: { rows: [["Yes"]] } }]),
    say("Three."),
  );
  platform.act.say(ada, ada, "all of them");
  const sent = () =>
    [...([...platform.world.rooms.values()].find((room) => room.chat.id === ada)?.messages.values() ?? [])].filter(
      ({ from }) => from?.is_bot === true,
    ) as unknown as readonly { readonly document?: { readonly file_name: string }; readonly reply_markup?: object }[];
  await expect.poll(() => sent().map(({ document }) => document?.file_name)).toEqual(["a.txt", "b.txt", "c.txt"]);
  expect(offered()).toEqual(["send", "edit", "delete", "react", "attach"]);
  expect(sent().filter((message) => message.reply_markup !== undefined)).toEqual([]);
});

test.concurrent("an agent whose settings disable these tools is not offered them", async () => {
  const { said, offered } = await open({ agent: { tools: { deny: ["attach", "butt*"] } } });
  await said("hello");
  expect(offered()).toEqual(["send"]);
});

test.concurrent("a generated image is sent with its text, even a large one; no private address is read", async () => {
  const { model, said, directory } = await open();
  const large = Buffer.concat([png, Buffer.alloc(2_000_000, 7)]);
  const dataOf = (bytes: Buffer) => `data:image/png;base64,${bytes.toString("base64")}`;
  model.script(say("A dot.", { images: [dataOf(png), dataOf(png)] }));
  expect((await said("draw")).sent).toMatchObject([
    { text: "A dot.", media: [{ mimeType: "image/png", fileName: "file.png" }] },
  ]);
  model.script(say("", { images: [dataOf(large)] }));
  const [big] = (await said("draw more")).sent;
  expect(big).toMatchObject({
    text: "",
    media: [{ mimeType: "image/png", fileName: "file.png", size: large.length }],
  });
  expect(readFileSync(big?.media[0]?.path ?? "").equals(large)).toBe(true);
  expect(readdirSync(join(directory, "state", "loopback", "default", "media"))).toHaveLength(2);
  model.script(say("Look.", { images: ["http://127.0.0.1:9/inside.png"] }));
  expect((await said("elsewhere")).sent).toMatchObject([
    { text: "Look.\n\n[media unavailable: inside.png, its address is not public]", media: [] },
  ]);
});
