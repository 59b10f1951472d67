import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ada, openPlatform, png, type TestPlatform, token } from "./client.ts";

let home: TestPlatform;
beforeAll(async () => {
  home = await openPlatform();
});
afterAll(() => home.platform.close());

const chat_id = String(ada);
const file = (name: string, type: string, content: string | Buffer = "bytes") =>
  new File([new Uint8Array(Buffer.from(content))], name, { type });

describe("sending files", () => {
  test.each([
    ["sendDocument", "document", "a.pdf", "application/pdf"],
    ["sendVideo", "video", "a.mp4", "video/mp4"],
    ["sendAudio", "audio", "a.mp3", "audio/mpeg"],
    ["sendVoice", "voice", "a.ogg", "audio/ogg"],
    ["sendAnimation", "animation", "a.mp4", "video/mp4"],
    ["sendVideoNote", "video_note", "a.mp4", "video/mp4"],
    ["sendSticker", "sticker", "a.webp", "image/webp"],
  ])("%s shows a %s that can be downloaded again", async (method, field, name, type) => {
    const { result } = await home.form(method, { chat_id, [field]: file(name, type, "the bytes") });
    const { file_id } = result[field];
    const { result: found } = await home.call("getFile", { file_id });
    const answer = await fetch(`${home.platform.url}/file/bot${token}/${found.file_path}`);
    expect(await answer.text()).toBe("the bytes");
    expect((await home.call(method, { chat_id: ada, [field]: file_id })).ok).toBe(true);
  });

  test("a photo has sizes, a caption and its entities", async () => {
    const { result } = await home.form("sendPhoto", {
      chat_id,
      photo: file("a.png", "image/png", png(640, 480)),
      caption: "<b>x</b>",
      parse_mode: "HTML",
    });
    expect(result.photo.at(-1)).toMatchObject({ width: 640, height: 480 });
    expect(result).toMatchObject({ caption: "x", caption_entities: [{ type: "bold", offset: 0, length: 1 }] });
    const thumb = await home.call("getFile", { file_id: result.photo[0].file_id });
    expect(thumb.ok).toBe(true);
  });

  test("audio that is not a real voice note is sent as a file", async () => {
    const { result } = await home.form("sendVoice", { chat_id, voice: file("a.wav", "audio/wav") });
    expect(result.voice).toBeUndefined();
    expect(result.document.file_name).toBe("a.wav");
  });

  test("all items of an album share one id", async () => {
    const media = ["a", "b"].map((name) => ({ type: "photo", media: `attach://${name}`, caption: name }));
    const photo = file("a.png", "image/png", png(10, 10));
    const { result } = await home.form("sendMediaGroup", { chat_id, media: JSON.stringify(media), a: photo, b: photo });
    expect(result.map((message: { caption: string }) => message.caption)).toEqual(["a", "b"]);
    expect(new Set(result.map((message: { media_group_id: string }) => message.media_group_id)).size).toBe(1);
  });

  test("a URL on this machine is fetched", async () => {
    const server = createServer((_request, response) =>
      response.setHeader("content-type", "text/plain").end("from afar"),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const document = `http://127.0.0.1:${(server.address() as AddressInfo).port}/note.txt`;
    const { result } = await home.call("sendDocument", { chat_id: ada, document });
    expect(result.document).toMatchObject({ file_name: "note.txt", mime_type: "text/plain", file_size: 9 });
    await new Promise((resolve) => server.close(resolve));
  });
});

describe("refused files", () => {
  const photo = (content: string | Buffer) =>
    home.form("sendPhoto", { chat_id, photo: file("a.png", "image/png", content) });

  test.each([
    ["no picture", "not a picture at all, only text", "IMAGE_PROCESS_FAILED"],
    ["too wide for its height", png(2100, 100), "PHOTO_INVALID_DIMENSIONS"],
    ["width and height over 10,000", png(6000, 4001), "PHOTO_INVALID_DIMENSIONS"],
  ])("a photo that is %s", async (_name, content, reason) => {
    expect((await photo(content)).description).toBe(`Bad Request: ${reason}`);
  });

  test.each([
    ["sendDocument", {}, "there is no document in the request"],
    ["sendPhoto", { photo: "" }, "there is no photo in the request"],
    ["sendDocument", { document: "nope" }, "wrong file identifier/HTTP URL specified"],
    ["sendDocument", { document: "https://example.com/x" }, "failed to get HTTP URL content"],
    ["getFile", { file_id: "nope" }, "wrong file_id or the file is temporarily unavailable"],
    ["sendMediaGroup", { media: [{ type: "photo", media: "x" }] }, "media must include 2-10 items"],
    ["sendDocument", { document: "nope", caption: "x".repeat(1025) }, "message caption is too long"],
  ])("%s with %j", async (method, params, reason) => {
    expect((await home.call(method, { chat_id: ada, ...params })).description).toBe(`Bad Request: ${reason}`);
  });

  test("the id of a photo is not accepted as a document, and an empty file is refused", async () => {
    const sent = await photo(png(10, 10));
    const { file_id } = sent.result.photo.at(-1);
    expect((await home.call("sendDocument", { chat_id: ada, document: file_id })).description).toBe(
      "Bad Request: type of file mismatch",
    );
    const empty = await home.form("sendDocument", { chat_id, document: file("a.txt", "text/plain", "") });
    expect(empty.description).toBe("Bad Request: file must be non-empty");
  });

  test("a file of more than 20 MB cannot be fetched, and the file route requires the token", async () => {
    const big = await home.form("sendDocument", {
      chat_id,
      document: file("a.bin", "application/x", Buffer.alloc(20 * 1024 * 1024 + 1)),
    });
    const { file_id } = big.result.document;
    expect((await home.call("getFile", { file_id })).description).toBe("Bad Request: file is too big");
    expect((await fetch(`${home.platform.url}/file/bot1:wrong/documents/file_1.pdf`)).status).toBe(401);
    expect((await fetch(`${home.platform.url}/file/bot${token}/../../etc/passwd`)).status).toBe(404);
  });

  test("a truncated multipart body is refused", async () => {
    const answer = await fetch(`${home.platform.url}/bot${token}/sendDocument`, {
      method: "POST",
      headers: { "content-type": "multipart/form-data; boundary=x" },
      body: '--x\r\nContent-Disposition: form-data; name="chat_id"\r\n\r\n1',
    });
    expect(await answer.json()).toMatchObject({ description: "Bad Request: the multipart body is cut short" });
  });
});

test("a file sent by a person has an id with which the bot can fetch it", async () => {
  const media = {
    kind: "voice",
    bytes: Buffer.from("voice"),
    fileName: "v.ogg",
    mimeType: "audio/ogg",
    duration: 3,
  } as const;
  const message = home.platform.act.say(ada, ada, "listen", { media });
  expect(message).toMatchObject({ caption: "listen", voice: { duration: 3, mime_type: "audio/ogg" } });
  expect((await home.call("getFile", { file_id: message.voice?.file_id })).result.file_size).toBe(5);
});
