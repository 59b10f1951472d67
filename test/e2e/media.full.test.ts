/**
 * Files that people send: fetched after the gate, told when they are not, handed to the engine, and gone after a week.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createTestHost } from "service-gateway/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { EngineTurn, InboundMedia } from "../../core/sdk/contract.ts";
import ai from "../../plugins/ai/index.ts";
import botchat from "../../plugins/botchat/index.ts";
import type { Message, Platform } from "../../plugins/playground/platform/index.ts";
import type { Fault } from "../../plugins/playground/platform/server/faults.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { hang, refuse, say } from "../openai-server/answers.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { type Conversation, converse, kitchen } from "./conversation.ts";
import { answered, botToken, openChannel, openPlatform, people } from "./room.ts";

const png = (fill: number) => Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(500, fill)]);
const webp = Buffer.concat([Buffer.from("RIFF\x40\0\0\0WEBPVP8 ", "latin1"), Buffer.alloc(64, 1)]);
const photo = (fill = 1) => ({ kind: "photo" as const, bytes: png(fill), fileName: "a.png", mimeType: "image/png" });
const voice = {
  kind: "voice" as const,
  bytes: Buffer.from("OggS\0\x02aaaaaaaa", "latin1"),
  fileName: "v.ogg",
  mimeType: "audio/ogg",
};
const document = (bytes: Buffer) => ({
  kind: "document" as const,
  bytes,
  fileName: "report.pdf",
  mimeType: "application/pdf",
});

const mediaOf = (place: Conversation): readonly InboundMedia[] => place.turns.at(-1)?.inbound.media ?? [];
const getFiles = (platform: Platform) => platform.calls.list({ method: "getFile" });
/** Fails the next file that is asked for, for good. */
const lose = (platform: Platform, description: string) =>
  platform.faults.add({ method: "getFile", times: 1, kind: "refuse", status: 400, description });

describe("a file of an accepted message", () => {
  test("is available to the agent: private, typed by its content, and named in the message", async () => {
    const place = await converse();
    await place.start();
    place.platform.act.say(place.ada, place.ada, "look here", { media: photo() });
    await place.asked(1);
    const [media] = mediaOf(place);
    expect(media).toMatchObject({
      kind: "image",
      mimeType: "image/png",
      size: 508,
      path: expect.stringMatching(/\/media\/[0-9a-f]{32}\.png$/),
    });
    expect(readFileSync(media?.path ?? "").equals(png(1))).toBe(true);
    expect(statSync(media?.path ?? "").mode & 0o777).toBe(0o600);
    expect(place.turns.at(-1)?.messages.at(-1)?.media).toEqual([media]);
    expect(place.lastAsked()).toContain("<media:image>\nlook here\n[attached image image/png 508 B at /");
    expect(JSON.stringify(place.turns)).not.toContain(botToken.split(":")[1]);
  });

  test("is passed on as a file if it is a voice note", async () => {
    const place = await converse();
    await place.start();
    place.platform.act.say(place.ada, place.ada, "", { media: voice });
    await place.asked(1);
    expect(mediaOf(place)).toMatchObject([
      { kind: "voice", mimeType: "audio/ogg", path: expect.stringMatching(/\.ogg$/) },
    ]);
  });

  test("is not fetched if it is larger than mediaMaxMb; the text is answered with the reason", async () => {
    const place = await converse({ channel: { mediaMaxMb: 0.001 } });
    await place.start();
    place.platform.act.say(place.ada, place.ada, "my report", { media: document(Buffer.alloc(20_000, "x")) });
    await place.asked(1);
    expect(place.lastAsked()).toMatch(
      /<media:document>\nmy report\n\[media unavailable: the file is too large: 20 kB, at most 1 kB\]$/,
    );
    expect(mediaOf(place)[0]?.path).toBeUndefined();
    expect(getFiles(place.platform)).toEqual([]);
    expect(await place.ended(1)).toEqual(["answered answered"]);
  });

  test("is omitted if it cannot be fetched, while the text and the rest of its album remain", async () => {
    const place = await converse();
    await place.start();
    lose(place.platform, "Bad Request: wrong file_id or the file is temporarily unavailable");
    place.platform.act.album(place.ada, place.ada, [photo(1), photo(2), photo(3)], { caption: "our garden" });
    await place.asked(1);
    const media = mediaOf(place);
    expect(media).toHaveLength(3);
    expect(media.filter(({ path }) => path !== undefined)).toHaveLength(2);
    expect(media.filter(({ unavailable }) => unavailable !== undefined)).toHaveLength(1);
    expect(place.lastAsked()).toContain("our garden");
    expect(place.lastAsked().match(/\[media unavailable: getFile: 400 [^\]]*\]/g)).toHaveLength(1);
    expect(place.lastAsked().match(/\[attached image/g)).toHaveLength(2);
  });

  test.each<[string, Partial<Fault>, RegExp]>([
    ["breaks off in the middle", { kind: "reset-after" }, /no answer \((?:UND_ERR_SOCKET|ECONNRESET|\w*CLOSED\w*)/],
    ["is answered by a proxy's error", { kind: "status", status: 502 }, /the platform answered 502/],
    ["is gone", { kind: "refuse", status: 404 }, /the file is gone/],
  ])(
    "that %s is retried; if that fails too, the message is answered, and no token is revealed",
    async (_name, fault, words) => {
      const place = await converse({ channel: { retry: { attempts: 2, minDelayMs: 5, maxDelayMs: 5 } } });
      const gateway = await place.start();
      const { faults, act } = place.platform;
      faults.add({ method: "file", times: 1, kind: "drop", ...fault } as Fault);
      act.say(place.ada, place.ada, "one", { media: photo() });
      await place.asked(1);
      const once = place.lastAsked();
      faults.add({ method: "file", times: 2, kind: "drop", ...fault } as Fault);
      act.say(place.ada, place.ada, "two", { media: photo() });
      await place.asked(2);
      expect(place.lastAsked()).toMatch(/two\n\[media unavailable: /);
      expect(once).toMatch(fault.kind === "refuse" ? /unavailable/ : /attached image/);
      await place.ended(2);
      const log = readFileSync(join(gateway.stateDirectory, "logs", "gateway.log"), "utf8");
      expect(log).toMatch(words);
      expect(log + JSON.stringify(place.turns)).not.toContain(botToken.split(":")[1]);
      const left = readdirSync(gateway.stateDirectory, { recursive: true, encoding: "utf8" });
      expect(left.filter((name) => name.endsWith(".part"))).toEqual([]);
    },
  );

  test("is reported by /status while it is being fetched", async () => {
    const place = await converse();
    await place.start();
    place.platform.faults.add({ method: "file", times: 1, kind: "drop" });
    place.platform.act.say(place.ada, place.ada, "look here", { media: photo() });
    await expect.poll(() => getFiles(place.platform).length).toBe(1);
    place.platform.act.say(place.ada, place.ada, "/status");
    await answered(place.platform, place.ada, /Now: fetching files for \d+ s, 1 running in total/);
    place.platform.act.say(place.ada, place.ada, "/stop");
    await place.ended(3);
    place.platform.act.say(place.ada, place.ada, "/status");
    await answered(place.platform, place.ada, /Now: idle, 0 running in total/);
  });

  test("is abandoned by /stop without a turn, and the next message is answered", async () => {
    const place = await converse();
    const gateway = await place.start();
    // Never answered: left alone, it would be given up after two minutes.
    place.platform.faults.add({ method: "file", times: 1, kind: "drop" });
    place.platform.act.say(place.ada, place.ada, "look here", { media: photo() });
    // The fault has met this file, so that it does not meet the next one.
    await expect.poll(() => place.platform.faults.list().filter(({ times }) => times > 0)).toEqual([]);
    place.platform.act.say(place.ada, place.ada, "/stop");
    expect(await place.ended(2)).toEqual(["silent stopped", "answered answered"]);
    expect(place.messages(place.ada).map(({ text }) => text)).toEqual(["Stopped."]);
    place.platform.act.say(place.ada, place.ada, "and this one", { media: photo() });
    await place.asked(1);
    expect(mediaOf(place)).toMatchObject([{ path: expect.stringMatching(/\.png$/) }]);
    expect(place.lastAsked()).toContain("and this one");
    const { stateDirectory } = gateway;
    expect(readdirSync(join(stateDirectory, "botchat", "default", "media"))).toHaveLength(1);
    expect(readFileSync(join(stateDirectory, "logs", "gateway.log"), "utf8")).not.toContain("could not be fetched");
  });

  test("with a caption that looks like a command is a message to the agent, so no file is lost", async () => {
    const place = await converse();
    await place.start();
    place.platform.act.say(place.ada, place.ada, "/new look", { media: photo() });
    await place.asked(1);
    expect(place.lastAsked()).toContain("<media:image>\n/new look\n[attached image");
  });

  test("is fetched only after the access check, so a refused sender causes no request and no directory", async () => {
    const place = await converse({ channel: { dmPolicy: "allowlist", allowFrom: [1] } });
    const { stateDirectory } = await place.start();
    place.platform.act.say(place.ada, place.ada, "look here", { media: photo() });
    expect(await place.ended(1)).toEqual(["refused sender_not_allowed"]);
    expect(getFiles(place.platform)).toEqual([]);
    expect(existsSync(join(stateDirectory, "botchat", "default", "media"))).toBe(false);
  });

  test("is listed in the history of the next turn, with the reason if it was missing", async () => {
    const place = await converse();
    await place.start();
    lose(place.platform, "Bad Request: the file is gone");
    place.platform.act.say(place.ada, place.ada, "look here", { media: photo() });
    await place.ended(1);
    place.platform.act.say(place.ada, place.ada, "and?");
    await place.asked(2);
    expect(place.turns[1]?.messages[0]?.text).toContain(
      "look here\n[media unavailable: getFile: 400 Bad Request: the file is gone]",
    );
  });
});

describe("a file of a quoted message", () => {
  test("is available to the agent beside the files of the reply and distinguishable from them", async () => {
    const place = await converse();
    await place.start();
    const { act } = place.platform;
    // Nobody asked the bot about it yet: nothing is fetched.
    const shown = act.say(place.bela, kitchen, "our garden", { media: photo(1) });
    expect(await place.ended(1)).toEqual(["silent mention_required"]);
    expect(getFiles(place.platform)).toEqual([]);
    act.say(place.ada, kitchen, "@e2e_bot and this, what grows there?", { media: photo(2), replyTo: shown.message_id });
    await place.asked(1);
    const { inbound, messages } = place.turns[0] as EngineTurn;
    expect(inbound.media.map(({ path }) => readFileSync(path ?? "")[20])).toEqual([2]);
    expect(inbound.replyTo?.media?.map(({ path }) => readFileSync(path ?? "")[20])).toEqual([1]);
    expect(messages.at(-1)?.media).toEqual([...(inbound.replyTo?.media ?? []), ...inbound.media]);
    expect(place.lastAsked()).toMatch(
      /\[reply to Bela[^\]]*\]\n> <media:image>\n> our garden\n\[attached there image image\/png 508 B at [^\]]*\]\n\[attached image image\/png 508 B at [^\]]*\]$/,
    );
  });

  test("does not delay a command", async () => {
    const place = await converse();
    await place.start();
    const { act } = place.platform;
    const shown = act.say(place.ada, place.ada, "our garden", { media: photo() });
    await place.ended(1);
    act.say(place.ada, place.ada, "/whoami", { replyTo: shown.message_id });
    await place.ended(2);
    expect(getFiles(place.platform)).toHaveLength(1);
  });

  test("is reported if it cannot be fetched, and the question is still answered", async () => {
    const place = await converse();
    await place.start();
    const { act } = place.platform;
    const shown = act.say(place.ada, place.ada, "our garden", { media: photo() });
    await place.ended(1);
    lose(place.platform, "Bad Request: the file is gone");
    act.say(place.ada, place.ada, "what grows there?", { replyTo: shown.message_id });
    expect(await place.ended(2)).toEqual(["answered answered", "answered answered"]);
    expect(place.lastAsked()).toMatch(
      /> our garden\n\[media unavailable there: getFile: 400 Bad Request: the file is gone\]$/,
    );
  });
});

describe("a sticker", () => {
  const sticker = { kind: "sticker" as const, bytes: webp, fileName: "s.webp", mimeType: "image/webp", emoji: "👍" };

  async function withModel() {
    const model = await createOpenAiServer();
    const platform = await openPlatform();
    const directory = temporaryDirectory();
    const host = await createTestHost({
      directory,
      plugins: [botchat, ai],
      config: {
        log: { level: "info" },
        agents: { defaults: { model: "local/eyes" } },
        models: { providers: { local: { api: "openai-compatible", baseUrl: model.url } } },
        channels: { botchat: openChannel(platform, { streamMode: "off" }) },
      },
    });
    onTestFinished(async () => {
      await host.close();
      await model.close();
      removeDirectory(directory);
    });
    const [ada = 0] = people(platform);
    const stateDirectory = join(host.directory, "state");
    return {
      model,
      platform,
      stateDirectory,
      configFile: host.configFile,
      ada,
      cache: join(stateDirectory, "botchat", "sticker-cache.json"),
    };
  }

  const imagesOf = (
    request: { readonly body: { readonly messages: readonly { readonly content: unknown }[] } } | undefined,
  ) => JSON.stringify(request?.body.messages).match(/data:image\/webp;base64/g)?.length ?? 0;

  test("is described once if it is static, and the cached description is used from then on", async () => {
    const { model, platform, configFile, ada, cache } = await withModel();
    model.script(say("A cat that waves."), say("Hello, cat."));
    platform.act.say(ada, ada, "", { media: sticker });
    await answered(platform, ada, "Hello, cat.");
    expect(imagesOf(model.requests[0])).toBe(1);
    expect(imagesOf(model.requests[1])).toBe(0);
    expect(JSON.stringify(model.requests[1]?.body.messages)).toContain('showing \\"A cat that waves.');
    const { out } = await run(["usage", "--by", "purpose", "--json", "--config", configFile], {
      home: temporaryHome(),
    });
    expect(JSON.parse(out)).toMatchObject({
      usage: expect.arrayContaining([expect.objectContaining({ purpose: "describe", calls: 1, inputTokens: 11 })]),
    });
    const stored = JSON.parse(readFileSync(cache, "utf8")) as {
      readonly stickers: Record<string, { readonly description: string }>;
    };
    expect(Object.values(stored.stickers)).toMatchObject([
      { description: "A cat that waves.", emoji: "👍", fileIds: { "4242": expect.any(String) } },
    ]);
    expect(statSync(cache).mode & 0o777).toBe(0o600);
    const again = [...platform.world.rooms.values()]
      .flatMap((room) => [...room.messages.values()])
      .find((message) => message.sticker !== undefined);
    model.script(say("Hello again."));
    if (again?.sticker === undefined) throw new Error("the sticker is not there");
    platform.act.send(ada, ada, { sticker: again.sticker });
    await answered(platform, ada, "Hello again.");
    expect(model.requests).toHaveLength(3);
    expect(JSON.stringify(model.requests[2]?.body.messages)).toContain("A cat that waves.");
  });

  test("is reported by its emoji, without being fetched, if it is animated", async () => {
    const { model, platform, ada } = await withModel();
    const moving = [
      ["tgs", "application/x-tgsticker", "Nice."],
      ["webm", "video/webm", "Nice as well."],
    ] as const;
    for (const [ending, mimeType, answer] of moving) {
      model.script(say(answer));
      platform.act.say(ada, ada, "", { media: { ...sticker, fileName: `s.${ending}`, mimeType } });
      await answered(platform, ada, answer);
      expect(getFiles(platform)).toEqual([]);
      expect(JSON.stringify(model.requests.at(-1)?.body.messages.at(-1))).toContain("<media:sticker> 👍");
    }
  });

  test("is described at its next use if /stop interrupted the description", async () => {
    const { model, platform, stateDirectory, ada } = await withModel();
    model.script(hang(), say("A cat that waves."), say("Hello, cat."));
    platform.act.say(ada, ada, "", { media: sticker });
    await expect.poll(() => model.requests.length).toBe(1);
    platform.act.say(ada, ada, "/stop");
    await answered(platform, ada, "Stopped.");
    const [sent] = [...platform.world.rooms.values()]
      .flatMap((room) => [...room.messages.values()])
      .filter((message) => message.sticker);
    if (sent?.sticker === undefined) throw new Error("the sticker is not there");
    platform.act.send(ada, ada, { sticker: sent.sticker });
    await answered(platform, ada, "Hello, cat.");
    expect(JSON.stringify(model.requests[2]?.body.messages)).toContain("A cat that waves.");
    expect(readFileSync(join(stateDirectory, "logs", "gateway.log"), "utf8")).not.toContain("could not be described");
  });

  test("is answered without an invented description if the model has no vision", async () => {
    const { model, platform, ada, cache } = await withModel();
    model.script(
      refuse(400, "image input is not supported"),
      refuse(400, "image input is not supported"),
      say("A thumb, I think."),
    );
    platform.act.say(ada, ada, "", { media: sticker });
    await answered(platform, ada, "A thumb, I think.");
    // It is found by its emoji and its set.
    expect(Object.values(JSON.parse(readFileSync(cache, "utf8")).stickers)).toMatchObject([{ description: "" }]);
    expect(imagesOf(model.requests[2])).toBe(0);
    expect(JSON.stringify(model.requests[2]?.body.messages)).toContain("that you cannot see");
  });
});

test("files are stored in the state directory of the account, one for each message", async () => {
  const place = await converse();
  const gateway = await place.start();
  place.platform.act.say(place.ada, place.ada, "one", { media: photo(1) });
  await place.ended(1);
  place.platform.act.say(place.ada, place.ada, "two", { media: photo(2) });
  await place.ended(2);
  expect(readdirSync(join(gateway.stateDirectory, "botchat", "default", "media"))).toHaveLength(2);
});

test("a service message ends silent under its name; a message without text from a sender is a turn", async () => {
  const place = await converse();
  await place.start();
  const { act } = place.platform;
  act.send(place.ada, place.ada, { pinned_message: { message_id: 1 } } as Partial<Message>);
  act.send(place.ada, place.ada, { hologram: {} } as Partial<Message>);
  act.send(place.ada, place.ada, { dice: { emoji: "🎯", value: 4 } } as Partial<Message>);
  expect(await place.ended(3)).toEqual(["silent service_pinned_message", "answered answered", "answered answered"]);
  expect(place.turns.map(({ inbound }) => inbound.text)).toEqual(["🎯 4"]);
  // A kind of the platform's future is answered without a model, and is no part of the conversation.
  expect(place.messages(place.ada)[0]?.text).toBe(
    "I cannot read this kind of message. Please send text, a file or a location.",
  );
  expect(place.turns[0]?.messages).toHaveLength(1);
});
