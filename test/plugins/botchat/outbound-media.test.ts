/**
 * Files on their way out: as what each is sent, albums, captions, and what is done when the platform does not take one.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Reply } from "service-gateway/sdk";
import type { OutboundMedia, Part } from "service-gateway/sdk/channel";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createLimits } from "../../../plugins/botchat/send/limits.ts";
import { bodyOf, messagesIn } from "../../../plugins/botchat/send/part-body.ts";
import { renderReply } from "../../../plugins/botchat/send/render.ts";
import { createSender, type Sender } from "../../../plugins/botchat/send/send.ts";
import { createShown } from "../../../plugins/botchat/send/shown.ts";
import { createBotApi } from "../../../plugins/botchat/wire/api.ts";
import { createTransport, type Transport } from "../../../plugins/botchat/wire/transport.ts";
import { createPlatform, type Platform } from "../../../plugins/playground/platform/index.ts";
import { ada, callsOf, direct, messageIn, never, reply, token } from "./platform.ts";

/** The smallest PNG: one transparent pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);
const settings = {
  textChunkLimit: 4000,
  chunkMode: "length",
  linkPreview: true,
  replyToMode: "off",
  capabilities: { inlineButtons: "all" },
} as const;

const directory = mkdtempSync(join(tmpdir(), "outbound-media-"));
let platform: Platform;
let transport: Transport;
let sender: Sender;

beforeAll(async () => {
  platform = await createPlatform({ bots: [{ token, username: "house_bot", name: "House" }] });
  platform.act.say(ada, ada, "hello");
  transport = createTransport({});
  const api = await createBotApi({ token, apiRoot: platform.url, transport, pollTimeoutMs: 1_000 });
  sender = createSender(api, { keyboards: { keep: async () => {}, of: async () => undefined }, shown: createShown() });
});
beforeEach(() => platform.calls.clear());
afterAll(async () => {
  await transport.close();
  await platform.close();
  rmSync(directory, { recursive: true, force: true });
});

/** A file as the gateway lays it down, with what it found out about it. */
function file(name: string, mimeType: string, more: Partial<OutboundMedia> = {}): OutboundMedia {
  const path = join(directory, name);
  writeFileSync(path, mimeType === "image/png" ? png : `bytes of ${name}`);
  const sides = mimeType.startsWith("image/") ? { width: 1, height: 1 } : {};
  return { path, mimeType, fileName: name, size: 100, ...sides, ...more };
}

const render = (text: string, more: Partial<Reply>) => renderReply(reply(text, more), settings, { chat: direct.chat });

async function send(text: string, more: Partial<Reply>) {
  const receipts = [];
  for (const part of render(text, more)) receipts.push(await sender.send(part, direct, never));
  return receipts;
}

const shown = (messageId: string | undefined) => messageIn(platform, messageId) as unknown as Record<string, unknown>;
const methods = () => platform.calls.list().map(({ method }) => method);
const kindsOf = (text: string, media: readonly OutboundMedia[], more: Partial<Reply> = {}) =>
  render(text, { media, ...more }).map(({ kind }) => kind);

describe("the type in which a file is sent", () => {
  test.each([
    ["photo", "a.png", "image/png", {}],
    ["animation", "a.gif", "image/gif", {}],
    ["video", "a.mp4", "video/mp4", {}],
    ["audio", "a.mp3", "audio/mpeg", {}],
    ["voice", "v.ogg", "audio/ogg; codecs=opus", { as: "voice" }],
    ["voice", "v.mp3", "audio/mpeg", { as: "voice" }],
    ["voice", "v.m4a", "audio/mp4", { as: "voice" }],
    ["video_note", "n.mp4", "video/mp4", { as: "round-video" }],
    ["sticker", "s.webp", "image/webp", { as: "sticker" }],
    ["document", "a.pdf", "application/pdf", {}],
    ["document", "a.tif", "image/tiff", {}],
  ] as const)("%s: %s of type %s arrives complete, with its name and type", async (field, name, type, more) => {
    const [receipt] = await send("", { media: [file(name, type, more)] });
    const found = shown(receipt?.messageId)[field] as { file_id: string; file_name?: string } | { file_id: string }[];
    const sent = Array.isArray(found) ? found.at(-1) : found;
    const { result } = (await (await fetch(`${platform.url}/bot${token}/getFile?file_id=${sent?.file_id}`)).json()) as {
      result: { file_path: string };
    };
    const bytes = Buffer.from(
      await (await fetch(`${platform.url}/file/bot${token}/${result.file_path}`)).arrayBuffer(),
    );
    expect(bytes.equals(type === "image/png" ? png : Buffer.from(`bytes of ${name}`))).toBe(true);
    if (field === "document") expect(found).toMatchObject({ file_name: name });
    expect(Object.values(platform.calls.list()[0]?.params ?? {})).toContain(
      `${name} (${type.split(";")[0]}, ${bytes.length} bytes)`,
    );
  });

  test("a file that is already on the platform is sent by its handle", async () => {
    const [first] = await send("", { media: [file("s.webp", "image/webp", { as: "sticker" })] });
    const { file_id: ref } = shown(first?.messageId).sticker as { file_id: string };
    const [second] = await send("", { media: [{ ref, as: "sticker" }] });
    expect(shown(second?.messageId).sticker).toMatchObject({ file_id: ref });
    expect(callsOf(platform, "sendSticker").at(-1)?.params).toMatchObject({ sticker: ref });
  });

  test.each([
    ["over 10 MB", { size: 10_485_761 }],
    ["with sides over 10,000", { width: 6_000, height: 4_001 }],
    ["twenty times as wide as high", { width: 2_100, height: 100 }],
    ["whose sides are unknown", { width: undefined, height: undefined }],
  ])("a picture %s is sent unchanged as a document", (_name, more) => {
    const { width: _w, height: _h, ...bare } = file("a.png", "image/png");
    const sides = Object.fromEntries(
      Object.entries({ width: 1, height: 1, ...more }).filter(([, value]) => value !== undefined),
    );
    expect(kindsOf("", [{ ...bare, ...sides }])).toEqual(["document"]);
  });

  test.each([
    [
      "voice",
      "a.wav",
      "audio/wav",
      "audio",
      /not as voice: that requires OGG with Opus, MP3 or M4A, this is audio\/wav/,
    ],
    ["voice", "a.ogg", "audio/ogg; codecs=vorbis", "audio", /not as voice/],
    ["voice", "a.pdf", "application/pdf", "document", /not as voice/],
    ["round-video", "a.mov", "video/quicktime", "video", /not as round-video: that requires MP4/],
    ["sticker", "a.png", "image/png", "photo", /not as sticker/],
  ] as const)(
    "the type %s is ignored for an unsuitable file, which is reported (%s)",
    (as, name, type, kind, omitted) => {
      const [part] = render("", { media: [file(name, type, { as })] });
      expect(part?.kind).toBe(kind);
      expect(part?.omitted?.join()).toMatch(omitted);
    },
  );

  test("the name decides if the type is unknown", () => {
    const kinds = ["/x/a.png", "/x/a.mp4", "/x/a.flac", "/x/a"].map((path) => kindsOf("", [{ path }])[0]);
    expect(kinds).toEqual(["photo", "video", "audio", "document"]);
  });

  test("a name that would break the upload is repaired, and a long one keeps its extension", async () => {
    const odd = file("a.pdf", "application/pdf", { fileName: `a"b;\r\nc/${"x".repeat(300)}.pdf` });
    const [receipt] = await send("", { media: [odd] });
    const { file_name: name } = shown(receipt?.messageId).document as { file_name: string };
    expect(name).toMatch(/^a_b___c_x+\.pdf$/);
    expect(name.length).toBeLessThanOrEqual(120);
  });
});

describe("albums", () => {
  test("adjacent files of one class form an album, the caption below the first; all ids are returned", async () => {
    const media = [file("1.png", "image/png"), file("2.mp4", "video/mp4"), file("3.png", "image/png")];
    const [receipt] = await send("**our** garden", { media });
    expect(receipt?.messageIds).toHaveLength(3);
    expect(receipt?.messageIds?.[0]).toBe(receipt?.messageId);
    const messages = receipt?.messageIds?.map(shown) ?? [];
    expect(messages.map((each) => ("photo" in each ? "photo" : "video"))).toEqual(["photo", "video", "photo"]);
    expect(new Set(messages.map(({ media_group_id: album }) => album)).size).toBe(1);
    expect(messages.map(({ caption }) => caption)).toEqual(["our garden", undefined, undefined]);
    expect(messages[0]).toMatchObject({ caption_entities: [{ type: "bold" }] });
    expect(methods()).toEqual(["sendMediaGroup"]);
  });

  test("audio and documents are grouped separately, other types stay single; an album has at most ten", () => {
    const photo = file("1.png", "image/png");
    const sound = file("1.mp3", "audio/mpeg");
    const paper = file("1.pdf", "application/pdf");
    const gif = file("1.gif", "image/gif");
    expect(kindsOf("", [photo, photo, sound, sound, paper, paper, gif, gif, photo])).toEqual([
      "album",
      "album",
      "album",
      "animation",
      "animation",
      "photo",
    ]);
    const sizes = render("", { media: Array.from({ length: 21 }, () => photo) }).map(
      ({ body }) => (body as { files: unknown[] }).files.length,
    );
    expect(sizes).toEqual([10, 10, 1]);
  });

  test("buttons are attached to the text of an album, or to its last file if it has none", async () => {
    const media = [file("1.png", "image/png"), file("2.png", "image/png"), file("3.png", "image/png")];
    const buttons = [[{ text: "ok", value: "ok" }]];
    expect(kindsOf("which?", media, { buttons })).toEqual(["album", "text"]);
    expect(kindsOf("", media, { buttons })).toEqual(["album", "photo"]);
    for (const text of ["which?", ""]) {
      const receipts = await send(text, { media, buttons });
      expect(shown(receipts.at(-1)?.messageId)).toHaveProperty("reply_markup");
    }
  });

  test("text and buttons below files do not wait for the next second, other messages do", () => {
    const limits = createLimits({
      now: () => 0,
      limits: { perBotPerSecond: 30, perChatPerSecond: 1, perGroupPerMinute: 20 },
    });
    const waits = (parts: readonly Part[], chat: string) =>
      parts.map(
        (part) =>
          limits.admit(chat, { messages: messagesIn(part), joins: bodyOf(part).joins === true }, never) !== undefined,
      );
    const media = [file("1.png", "image/png"), file("2.png", "image/png"), file("3.png", "image/png")];
    const buttons = [[{ text: "ok", value: "ok" }]];
    expect(waits(render("which?", { media, buttons }), "1")).toEqual([false, false]);
    expect(waits(render("", { media, buttons }), "2")).toEqual([false, false]);
    expect(waits(render("which?".repeat(1_000), { media, buttons }), "3")).toEqual([false, false, true]);
    expect(waits(render("which?".repeat(1_000), { buttons }), "4")).toEqual([false, true]);
    limits.close();
  });

  test("an album can reply and be silent like any message", async () => {
    const [parent] = await send("first", {});
    const media = [file("1.png", "image/png"), file("2.png", "image/png")];
    await send("", { media, replyTo: parent?.messageId ?? "", silent: true });
    expect(callsOf(platform, "sendMediaGroup").at(-1)?.params).toMatchObject({ disable_notification: "true" });
    expect(JSON.stringify(callsOf(platform, "sendMediaGroup").at(-1)?.params.reply_parameters)).toContain(
      parent?.messageId,
    );
  });
});

describe("captions", () => {
  const photo = () => [file("1.png", "image/png")];
  const textsOf = (count: number, media = photo()) =>
    render("x ".repeat(count).trim(), { media }).map(({ kind, chars }) => `${kind} ${chars}`);

  test("contain up to 1,024 units, and the rest follows as text", () => {
    expect(textsOf(512)).toEqual(["photo 1023"]);
    expect(render("x".repeat(1_024), { media: photo() }).map(({ chars }) => chars)).toEqual([1_024]);
    expect(render("x".repeat(1_025), { media: photo() }).map(({ chars }) => chars)).toEqual([1_024, 1]);
    expect(textsOf(2_500)).toEqual(["photo 1023", "text 3975"]);
  });

  test("are formatted and arrive in order with the text that follows", async () => {
    const text = `**bold** ${"word ".repeat(600)}the end`;
    const receipts = await send(text, { media: photo() });
    const messages = receipts.map(({ messageId }) => shown(messageId));
    expect(messages).toHaveLength(2);
    expect(messages[0]).toMatchObject({ caption_entities: [{ type: "bold" }] });
    expect(`${messages[0]?.caption} ${messages[1]?.text}`).toBe(text.replaceAll("**", ""));
  });

  test("are omitted for round videos and stickers, and the text follows", () => {
    expect(kindsOf("look", [file("n.mp4", "video/mp4", { as: "round-video" })])).toEqual(["round-video", "text"]);
    expect(kindsOf("look", [{ ref: "x", as: "sticker" }])).toEqual(["sticker", "text"]);
  });
});

describe("content that the platform rejects", () => {
  const refuse = (method: string, description: string) =>
    platform.faults.add({ method, times: 1, kind: "refuse", status: 400, description });

  test("a caption that it cannot parse is sent again without markup, with the file", async () => {
    refuse("sendPhoto", "Bad Request: can't parse entities: unexpected end tag");
    const [receipt] = await send("**look**", { media: [file("1.png", "image/png")] });
    expect(shown(receipt?.messageId)).toMatchObject({ caption: "look" });
    expect(shown(receipt?.messageId)).not.toHaveProperty("caption_entities");
  });

  test("an album caption that it cannot parse is sent again without markup", async () => {
    refuse("sendMediaGroup", "Bad Request: can't parse entities: unexpected end tag");
    const [receipt] = await send("**look**", { media: [file("1.png", "image/png"), file("2.png", "image/png")] });
    expect(receipt?.messageIds?.map((each) => shown(each).caption)).toEqual(["look", undefined]);
  });

  test.each([
    ["sendVoice", "sendAudio", "audio", file("v.mp3", "audio/mpeg", { as: "voice" })],
    ["sendVideoNote", "sendVideo", "video", file("n.mp4", "video/mp4", { as: "round-video" })],
  ] as const)("%s to a person who blocks it becomes %s, once", async (method, other, field, media) => {
    refuse(method, "Bad Request: VOICE_MESSAGES_FORBIDDEN");
    const [receipt] = await send("", { media: [media] });
    expect(shown(receipt?.messageId)).toHaveProperty(field);
    expect(methods()).toEqual([method, other]);
    refuse(method, "Bad Request: VOICE_MESSAGES_FORBIDDEN");
    refuse(other, "Bad Request: VOICE_MESSAGES_FORBIDDEN");
    await expect(send("", { media: [media] })).rejects.toMatchObject({
      reason: "voice_forbidden",
      fate: "not-sent",
      retryable: false,
    });
  });

  test("a picture that it cannot display is sent as a document", async () => {
    const broken = file("1.png", "image/jpeg");
    const [receipt] = await send("look", { media: [broken] });
    expect(shown(receipt?.messageId)).toMatchObject({ caption: "look", document: { file_name: "1.png" } });
    expect(methods()).toEqual(["sendPhoto", "sendDocument"]);
  });

  test("an album with a picture that it cannot display becomes an album of documents", async () => {
    const [receipt] = await send("look", {
      media: [file("1.png", "image/png"), file("2.png", "image/jpeg"), file("3.mp4", "video/mp4")],
    });
    const messages = receipt?.messageIds?.map(shown) ?? [];
    expect(messages.map(({ document }) => (document as { file_name: string }).file_name)).toEqual([
      "1.png",
      "2.png",
      "3.mp4",
    ]);
    expect(messages[0]).toMatchObject({ caption: "look" });
  });

  test("a missing file fails its part for good before anything is sent", async () => {
    await expect(
      send("x", { media: [{ path: join(directory, "none.png"), mimeType: "image/png" }] }),
    ).rejects.toMatchObject({
      reason: "media_missing",
      fate: "not-sent",
      retryable: false,
      message: expect.not.stringContaining(directory),
    });
    expect(methods()).toEqual([]);
  });

  describe("a text is sent without refused files", () => {
    const buttons = [[{ text: "ok", value: "ok" }]];
    const withText = (text: string, more: Partial<Reply>) =>
      render(text, more).map((part) => sender.send({ ...part, mayOmitFiles: true }, direct, never));

    test.each([
      ["sendPhoto", 400, "Bad Request: not enough rights to send photos to the chat"],
      ["sendPhoto", 400, "Bad Request: wrong remote file identifier specified: Wrong string length"],
      ["sendPhoto", 413, "Request Entity Too Large"],
    ])("%s: %i %s", async (method, status, description) => {
      platform.faults.add({ method, times: 1, kind: "refuse", status, description });
      const [receipt] = await Promise.all(
        withText("**look** at <this>", { media: [file("1.png", "image/png")], buttons }),
      );
      expect(shown(receipt?.messageId)).toMatchObject({
        text: "look at <this>\n\n[A file of this answer could not be sent.]",
        entities: [{ type: "bold", offset: 0, length: 4 }],
        reply_markup: { inline_keyboard: [[{ text: "ok" }]] },
      });
      expect(receipt?.omitted).toEqual([`the file: sendPhoto: ${status} ${description}`]);
    });

    test("of an album, or without a missing file", async () => {
      refuse("sendMediaGroup", "Bad Request: not enough rights to send photos to the chat");
      const [album] = await Promise.all(
        withText("our garden", { media: [file("1.png", "image/png"), file("2.png", "image/png")] }),
      );
      expect(shown(album?.messageId).text).toBe("our garden\n\n[2 files of this answer could not be sent.]");
      const [gone] = await Promise.all(
        withText("look", { media: [{ path: join(directory, "none.pdf"), mimeType: "application/pdf" }] }),
      );
      expect(shown(gone?.messageId).text).toBe("look\n\n[A file of this answer could not be sent.]");
    });

    test.each([
      ["without a text", "", "Bad Request: not enough rights to send photos to the chat"],
      ["where no text may be sent either", "look", "Bad Request: not enough rights to send text messages to the chat"],
      ["where it may come later", "look", "Too Many Requests: retry after 1", 429],
    ])("but not %s", async (_name, text, description, status = 400) => {
      platform.faults.add({ method: "sendPhoto", times: 1, kind: "refuse", status, description });
      await expect(Promise.all(withText(text, { media: [file("1.png", "image/png")] }))).rejects.toMatchObject({
        fate: "not-sent",
      });
      expect(methods()).toEqual(["sendPhoto"]);
    });

    test("but not if the message must be sent completely or not at all", async () => {
      refuse("sendPhoto", "Bad Request: not enough rights to send photos to the chat");
      await expect(send("look", { media: [file("1.png", "image/png")] })).rejects.toMatchObject({
        reason: "no_rights",
      });
      expect(methods()).toEqual(["sendPhoto"]);
    });
  });

  test("a URL that was not fetched is not passed to the platform", async () => {
    await expect(send("", { media: [{ url: "https://example.com/a.png" }] })).rejects.toMatchObject({
      reason: "media_refused",
    });
    expect(methods()).toEqual([]);
  });
});
