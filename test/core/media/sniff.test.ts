import { describe, expect, test } from "vitest";
import { sniff } from "../../../core/media/sniff.ts";

const bytes = (text: string) => Buffer.concat([Buffer.from(text, "latin1"), Buffer.alloc(64)]);

describe("the type of a file", () => {
  test.each([
    ["\x89PNG\r\n\x1a\n", "image/png", "png"],
    ["\xff\xd8\xff\xe0", "image/jpeg", "jpg"],
    ["GIF89a", "image/gif", "gif"],
    ["RIFF\x10\0\0\0WEBPVP8 ", "image/webp", "webp"],
    ["RIFF\x10\0\0\0WAVEfmt ", "audio/wav", "wav"],
    ["\0\0\0\x18ftypheic", "image/heic", "heic"],
    ["\0\0\0\x18ftypisom", "video/mp4", "mp4"],
    ["\0\0\0\x18ftypM4A ", "audio/mp4", "m4a"],
    ["\x1a\x45\xdf\xa3\x9fB\x82\x84webm", "video/webm", "webm"],
    ["\x1a\x45\xdf\xa3\x9fB\x82\x88matroska", "video/x-matroska", "mkv"],
    ["OggS\0\x02", "audio/ogg", "ogg"],
    ["ID3\x04", "audio/mpeg", "mp3"],
    ["\xff\xfb\x90\x64", "audio/mpeg", "mp3"],
    ["%PDF-1.7", "application/pdf", "pdf"],
    ["PK\x03\x04", "application/zip", "zip"],
    ["MZ\x90\0\x03", "application/octet-stream", "bin"],
  ])("%j begins with %s", (head, mimeType, extension) => expect(sniff(bytes(head))).toEqual({ mimeType, extension }));

  test("is read from its content, whatever type its sender declares", () => {
    expect(sniff(bytes("MZ\x90\0\x03"), "image/png").mimeType).toBe("application/octet-stream");
    expect(sniff(bytes("\x89PNG\r\n\x1a\n"), "text/html").mimeType).toBe("image/png");
    expect(sniff(Buffer.from("hello"), "image/svg+xml")).toEqual({ mimeType: "text/plain", extension: "txt" });
    expect(sniff(Buffer.from("hello"), "video/mp4").mimeType).toBe("text/plain");
  });

  test("of a container is refined by the declared type, but only within that container", () => {
    const docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    expect(sniff(bytes("PK\x03\x04"), docx)).toEqual({ mimeType: docx, extension: "docx" });
    expect(sniff(bytes("\x1f\x8b\x08"), docx).mimeType).toBe("application/gzip");
    expect(sniff(bytes("\x1f\x8b\x08"), "application/x-tgsticker").extension).toBe("tgs");
    expect(sniff(Buffer.from('{"a":1}'), "Application/JSON")).toEqual({
      mimeType: "application/json",
      extension: "json",
    });
  });

  test("is text even if the sample ends inside a character, and also for an empty file", () => {
    expect(sniff(Buffer.from(`${"x".repeat(4_095)}é`)).mimeType).toBe("text/plain");
    expect(sniff(Buffer.alloc(0)).mimeType).toBe("text/plain");
  });
});
