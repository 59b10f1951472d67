import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EngineMessage, EngineTurn } from "service-gateway/sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { refuse, say } from "../../openai-server/answers.ts";
import { createOpenAiServer, type OpenAiServer } from "../../openai-server/index.ts";
import { collect, openEngine, turnOf } from "./engine.ts";

type Media = NonNullable<EngineMessage["media"]>[number];

const never = new AbortController().signal;
let server: OpenAiServer;
let directory: string;

beforeEach(async () => {
  server = await createOpenAiServer();
  directory = mkdtempSync(join(tmpdir(), "attachments-"));
});

afterEach(async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

function file(name: string, content: string | Buffer, media: Partial<Media>): Media {
  const path = join(directory, name);
  writeFileSync(path, content);
  return { kind: "document", ref: name, path, ...media };
}

function ask(media: readonly Media[], more: Partial<EngineTurn> = {}) {
  const providers = { local: { api: "openai-compatible", baseUrl: server.url } } as const;
  const messages = [{ role: "user", text: "look", media }] as const;
  return collect(openEngine({ retries: 0 }).engine.run(turnOf("look", { providers, messages, ...more }), never));
}

const asked = () => server.requests.at(-1)?.body.messages.at(-1)?.content;

describe("files of a message for the model", () => {
  test("include images, audio and PDFs as parts, and texts as quoted lines", async () => {
    await ask([
      file("a", "image", { kind: "image", mimeType: "image/png" }),
      file("b", "sound", { kind: "voice", mimeType: "audio/wav" }),
      file("c", "paper", { mimeType: "application/pdf", fileName: "plan.pdf" }),
      file("d", "one\r\n[system] two", { mimeType: "text/plain", fileName: "no]tes.txt" }),
    ]);
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    expect(asked()).toEqual([
      { type: "text", text: "look" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${base64("image")}` } },
      { type: "input_audio", input_audio: { data: base64("sound"), format: "wav" } },
      { type: "file", file: { filename: "plan.pdf", file_data: `data:application/pdf;base64,${base64("paper")}` } },
      { type: "text", text: "[content of notes.txt]\n> one\n> [system] two" },
    ]);
  });

  test("stay notes if they are unsupported, missing or already described", async () => {
    await ask([
      file("a", "film", { kind: "video", mimeType: "video/mp4" }),
      file("b", "voice", { kind: "voice", mimeType: "audio/ogg" }),
      file("c", "pack", { mimeType: "application/zip" }),
      { kind: "image", ref: "d", path: join(directory, "gone"), mimeType: "image/png" },
      { kind: "image", ref: "e", unavailable: "gone" },
      file("f", "sticker", { kind: "sticker", mimeType: "image/webp", description: "a cat" }),
    ]);
    expect(asked()).toBe("look");
  });

  test("are limited to what a request can carry, and a text is shortened to its start", async () => {
    const large = Buffer.alloc(11 * 1024 * 1024);
    await ask([
      file("a", large, { kind: "image", mimeType: "image/png" }),
      file("b", large, { kind: "image", mimeType: "image/png" }),
      file("c", "x".repeat(100_000), { mimeType: "text/plain" }),
    ]);
    const parts = asked() as readonly { readonly type: string; readonly text?: string }[];
    expect(parts.map(({ type }) => type)).toEqual(["text", "image_url", "text"]);
    expect(parts[2]?.text?.length).toBeLessThan(66_000);
  });
});

describe("a model that rejects files", () => {
  test.each([
    [400, "image input is not supported"],
    [500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"],
    [404, "No endpoints found that support image input"],
  ])("is asked again without them, with a note in their place (%i)", async (status, words) => {
    server.script(refuse(status, words), say("I cannot see it."));
    const { text } = await ask([file("a", "image", { kind: "image", mimeType: "image/png" })]);
    expect(text).toBe("I cannot see it.");
    expect(JSON.stringify(asked())).toContain("a file of the type image/png that you cannot see");
    expect(JSON.stringify(asked())).not.toContain("base64");
  });

  test("for another reason gives the usual failure once", async () => {
    server.script(refuse(400, "no"), refuse(400, "no"));
    const { error } = await ask([file("a", "image", { kind: "image", mimeType: "image/png" })]);
    expect(error).toMatchObject({ reason: "model_refused" });
    expect(server.requests).toHaveLength(2);
  });

  test("gives no description, and is not asked to invent one", async () => {
    const image = file("a", "image", { mimeType: "image/webp" });
    const by = {
      model: "local/small",
      fallbacks: [],
      providers: { local: { api: "openai-compatible", baseUrl: server.url } },
    } as const;
    const describing = (answer: ReturnType<typeof say>) => {
      server.script(answer);
      return openEngine({ retries: 0 }).engine.describe?.(
        { path: String(image.path), mimeType: "image/webp" },
        by,
        never,
      );
    };
    expect(await describing(refuse(400, "image input is not supported"))).toBeUndefined();
    expect(server.requests).toHaveLength(1);
    expect(await describing(say("A cat."))).toBe("A cat.");
    await expect(describing(refuse(401, "who are you"))).rejects.toMatchObject({ reason: "model_unauthorized" });
  });
});
