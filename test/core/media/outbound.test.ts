/**
 * The files of a reply before a channel sees them: had, judged, laid down, told by their content, or told to be
 * missing.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { OutboundMedia, Route } from "../../../core/contract/types.ts";
import { createGuardedFetch } from "../../../core/media/guarded-fetch.ts";
import { createOutbound, mostBytesOut } from "../../../core/media/outbound.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "outbound-")));
const stateDirectory = join(root, "state");
const workspace = join(root, "work");
const media = join(stateDirectory, "chat", "default", "media");
const to = { channel: "chat", account: "default", chat: "1" };
const route: Route = { agentId: "main", sessionKey: "s", isolated: false, to };
const files: Record<string, { readonly body: string | Buffer; readonly type?: string }> = {};
const server = createServer((request, response) => {
  const file = files[decodeURIComponent(request.url?.split("?")[0] ?? "").slice(1)];
  response
    .writeHead(file === undefined ? 404 : 200, file?.type === undefined ? {} : { "content-type": file.type })
    .end(file?.body);
});

beforeAll(async () => {
  mkdirSync(workspace);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => rmSync(media, { recursive: true, force: true }));
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(root, { recursive: true, force: true });
});

const outbound = createOutbound({
  fetch: createGuardedFetch({
    lookup: async (host) => [host === "inside.example" ? "10.0.0.1" : "93.184.215.14"],
    connect: () => connect((server.address() as AddressInfo).port, "127.0.0.1"),
  }),
  stateDirectory,
  roots: () => ({ workspace, secret: [] }),
  maxBytes: () => 2_000_000,
});

async function complete(text: string, given: readonly OutboundMedia[], signal = new AbortController().signal) {
  const { reply, problems } = await outbound({ text, media: given, buttons: [] }, route, signal);
  return { text: reply.text, media: reply.media, problems };
}

function picture(width: number, height: number): Buffer {
  const head = Buffer.alloc(64);
  head.write("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return head;
}

/** With a picture's own notes before its size, as cameras write them. */
function photo(width: number, height: number): Buffer {
  const notes = Buffer.alloc(20_000);
  notes.writeUInt16BE(0xffe1);
  notes.writeUInt16BE(notes.length - 2, 2);
  const frame = Buffer.from([0xff, 0xc2, 0, 11, 8, height >> 8, height & 255, width >> 8, width & 255, 1, 0, 0, 0]);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), notes, frame]);
}

describe("files are stored under random names, with the type read from their content", () => {
  test("from an address, ignoring the server's declared name and type", async () => {
    files["a b.png"] = { body: picture(640, 480), type: "text/html" };
    const {
      media: [found],
      problems,
    } = await complete("look", [{ url: "http://files.example/a%20b.png?token=x" }]);
    expect(problems).toEqual([]);
    expect(found).toEqual({
      path: expect.stringMatching(/^.*\/state\/chat\/default\/media\/[0-9a-f]{32}\.png$/),
      mimeType: "image/png",
      fileName: "a b.png",
      size: 64,
      width: 640,
      height: 480,
    });
    expect(readFileSync(found?.path ?? "").equals(picture(640, 480))).toBe(true);
    expect(statSync(found?.path ?? "").mode & 0o777).toBe(0o600);
    expect(statSync(media).mode & 0o777).toBe(0o700);
  });

  test("from an address without a known extension, which the name then gets", async () => {
    files["picture.php"] = { body: picture(640, 480) };
    files["photo.JPEG"] = { body: photo(4, 3) };
    files["notes.py"] = { body: "print(1)" };
    const address = (name: string) => ({ url: `http://files.example/${name}` });
    const { media: found } = await complete("look", [
      address("picture.php"),
      address("photo.JPEG"),
      address("notes.py"),
      { ...address("picture.php"), fileName: "mine.v2" },
    ]);
    expect(found.map(({ fileName }) => fileName)).toEqual(["picture.php.png", "photo.JPEG", "notes.py", "mine.v2"]);
  });

  test("from the workspace, as an immutable copy", async () => {
    writeFileSync(join(workspace, "photo.jpg"), photo(4_000, 3_000));
    const {
      media: [found],
    } = await complete("", [{ path: "photo.jpg" }]);
    expect(found).toMatchObject({ mimeType: "image/jpeg", fileName: "photo.jpg", width: 4_000, height: 3_000 });
    writeFileSync(join(workspace, "photo.jpg"), "something else");
    expect(readFileSync(found?.path ?? "").equals(photo(4_000, 3_000))).toBe(true);
  });

  test("except a file received with a message, which is sent from its place", async () => {
    mkdirSync(media, { recursive: true });
    const path = join(media, "abc.pdf");
    writeFileSync(path, "%PDF-1.7");
    expect((await complete("", [{ path, fileName: "report.pdf" }])).media).toEqual([
      { path, mimeType: "application/pdf", fileName: "report.pdf", size: 8 },
    ]);
    expect(readdirSync(media)).toEqual(["abc.pdf"]);
  });

  test("from generated bytes; a name without an extension gets one", async () => {
    const {
      media: [found],
    } = await complete("", [{ data: Buffer.from("%PDF-1.7").toString("base64"), fileName: "report" }]);
    expect(found).toMatchObject({ mimeType: "application/pdf", fileName: "report.pdf" });
  });

  test.each([
    ["OggS\0\x02\0\0\0\0\0\0\0\0OpusHead", "audio/ogg; codecs=opus"],
    ["OggS\0\x02\0\0\0\0\0\0\0\0\x01vorbis", "audio/ogg; codecs=vorbis"],
    ["OggS\0\x02", "audio/ogg"],
  ])("including the codec of audio: %j", async (body, mimeType) => {
    const {
      media: [found],
    } = await complete("", [{ data: Buffer.from(body, "latin1").toString("base64"), as: "voice" }]);
    expect(found).toMatchObject({ mimeType, as: "voice", fileName: "file.ogg" });
  });

  test("a file that the platform already has is passed on; a reply without a recipient fetches nothing", async () => {
    expect((await complete("", [{ ref: "abc", as: "sticker" }])).media).toEqual([{ ref: "abc", as: "sticker" }]);
    const given = { text: "", media: [{ url: "http://files.example/x" }], buttons: [] };
    const nowhere = await outbound(given, { ...route, to: null }, new AbortController().signal);
    expect(nowhere).toEqual({ reply: given, problems: [], refused: [] });
  });
});

describe("an unavailable file is noted in the text, and the others are sent", () => {
  test("the available files keep their order, and the unavailable ones leave nothing behind", async () => {
    files["1.png"] = { body: picture(1, 1) };
    files["big.bin"] = { body: Buffer.alloc(2_000_001) };
    const found = await complete("Here they are. ", [
      { url: "http://files.example/1.png" },
      { url: "http://inside.example/[secret]*x*.png" },
      { url: "http://files.example/none.png" },
      { url: "http://files.example/big.bin" },
      { path: "/etc/passwd" },
      { path: "none.txt" },
      { data: "not base64!", fileName: "x.bin" },
      { data: "A".repeat(1_400_000), fileName: "y.bin" },
      { path: "1.png", url: "" },
    ]);
    expect(found.media.map(({ fileName }) => fileName)).toEqual(["1.png"]);
    expect(found.text.split("\n\n").sort()).toEqual(
      [
        "Here they are.",
        "[media unavailable: secret  x .png, its address is not public]",
        "[media unavailable: none.png, it may not be sent]",
        "[media unavailable: big.bin, it is too large]",
        "[media unavailable: passwd, it may not be sent]",
        "[media unavailable: none.txt, there is no such file]",
        "[media unavailable: x.bin, it may not be sent]",
        "[media unavailable: y.bin, it is too large]",
        "[media unavailable: 1.png, it may not be sent]",
      ].sort(),
    );
    expect(found.problems.join("\n")).toContain(
      "inside.example is 10.0.0.1, an address of a private network (10.0.0.0/8)",
    );
    expect(found.text).not.toContain("10.0.0.1");
    expect(readdirSync(media)).toHaveLength(1);
  });

  test("files beyond twenty are noted in the text", async () => {
    const data = picture(1, 1).toString("base64");
    const found = await complete(
      "",
      Array.from({ length: 22 }, (_, index) => ({ data, fileName: `${index}.png` })),
    );
    expect(found.media.map(({ fileName }) => fileName)).toEqual(
      Array.from({ length: 20 }, (_, index) => `${index}.png`),
    );
    expect(found.problems).toEqual(["20.png: a reply has at most 20 files", "21.png: a reply has at most 20 files"]);
  });

  test("a closing gateway does not wait for files", async () => {
    const found = await complete("x", [{ url: "http://files.example/1.png" }], AbortSignal.abort());
    expect(found).toMatchObject({ media: [], text: "x\n\n[media unavailable: 1.png, it could not be fetched]" });
  });
});

test("a sent file is limited to 50 MB or the account's own limit", () => {
  expect([mostBytesOut(undefined), mostBytesOut(0), mostBytesOut(0.5), mostBytesOut(2_000)]).toEqual([
    52_428_800, 52_428_800, 524_288, 2_097_152_000,
  ]);
});
