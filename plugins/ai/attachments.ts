/**
 * Converts the files of a message to parts of a chat completion: images, audio, PDFs and texts. Other files are only
 * mentioned in the text.
 */
import { open } from "node:fs/promises";
import type { EngineMessage, EngineProvider } from "service-gateway/sdk";
import type { ModelCall } from "./library.ts";

export type Attachment =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "file"; readonly data: Uint8Array; readonly mediaType: string; readonly filename?: string };

/** The types that servers accept. */
const images = /^image\/(?:png|jpeg|gif|webp)$/;
const sounds = /^audio\/(?:wav|mpeg)$/;
/** Only for models of which it is known that they listen: what phones record. */
const otherSounds = /^audio\/(?:ogg|mp4|flac|webm)$/;
const texts = /^(?:text\/.*|application\/(?:json|xml))$/;

/** Whether a file of the type can be a part of a request. */
export const isSendable = (mimeType: string): boolean =>
  images.test(mimeType) || sounds.test(mimeType) || mimeType === "application/pdf";

type Facts = Pick<NonNullable<EngineProvider["models"]>[string], "images" | "audio">;

/** Whether a model is sent a file of the type. */
function accepts({ images, audio }: Facts, mediaType: string): boolean {
  if (!mediaType.startsWith("audio/")) return images !== false;
  return audio ?? (images !== false && sounds.test(mediaType));
}

/** What a model reads in place of a file. */
export const unseenFile = (mimeType: string): string => `[a file of the type ${mimeType} that you cannot see]`;

const maxTextBytes = 64 * 1024;
/** Total size for the files of one message, which are sent as text in one request. */
const maxBytes = 20 * 1024 * 1024;

/** Reads at most `limit` bytes. Returns `undefined` if the file is larger, unless `cut` is set. */
async function read(path: string, limit: number, { cut = false } = {}): Promise<Buffer | undefined> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    if (size > limit && !cut) return undefined;
    const buffer = Buffer.alloc(Math.min(size, limit));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Quotes each line, so that the end of the file's content is unambiguous. */
function quoted(name: string, content: Buffer): string {
  const lines = content
    .toString("utf8")
    .split(/\r\n|[\r\n\v\f\u0085\u2028\u2029]/)
    .map((line) => `> ${line}`);
  return `[content of ${name.replace(/[^\p{L}\p{N} ._-]/gu, "")}]\n${lines.join("\n")}`;
}

/**
 * Reads the files. A file that is missing or unreadable is left out; the note about it remains. `hears`: one of the
 * models listens to sound files.
 */
export async function readAttachments(
  media: EngineMessage["media"],
  { hears = false } = {},
): Promise<readonly Attachment[]> {
  const found: Attachment[] = [];
  let left = maxBytes;
  for (const { kind, path, mimeType: type = "", fileName, description } of media ?? []) {
    const [mimeType = ""] = type.split(";", 1);
    // A sticker with a description need not be sent again.
    if (path === undefined || (kind === "sticker" && description !== undefined)) continue;
    try {
      if (texts.test(mimeType)) {
        const content = await read(path, Math.min(maxTextBytes, left), { cut: true });
        if (content !== undefined) found.push({ type: "text", text: quoted(fileName ?? "the file", content) });
        left -= content?.length ?? 0;
      } else if (isSendable(mimeType) || (hears && otherSounds.test(mimeType))) {
        const data = await read(path, left);
        if (data === undefined) continue;
        left -= data.length;
        found.push({ type: "file", data, mediaType: mimeType, filename: fileName });
      }
    } catch {}
  }
  return found;
}

/** About what a picture takes, whatever the length of its data. */
const tokensOfFile = 1_000;
/** About so many bytes of each format are one of the 32 tokens that a second takes. */
const soundBytes: Readonly<Record<string, number>> = {
  "audio/ogg": 125,
  "audio/webm": 125,
  "audio/mp4": 250,
  "audio/mpeg": 500,
};
const otherSoundBytes = 1_000;

/** About how many tokens a file takes. */
export function fileTokens({ mediaType, data }: { readonly mediaType?: unknown; readonly data?: unknown }): number {
  const content = (data as { readonly data?: unknown } | undefined)?.data ?? data;
  if (typeof mediaType !== "string" || !mediaType.startsWith("audio/") || !ArrayBuffer.isView(content))
    return tokensOfFile;
  return Math.max(tokensOfFile, Math.ceil(content.byteLength / (soundBytes[mediaType] ?? otherSoundBytes)));
}

const typesIn = ({ prompt }: ModelCall): readonly string[] =>
  prompt.flatMap((message) =>
    message.role === "user" ? message.content.flatMap((part) => (part.type === "file" ? [part.mediaType] : [])) : [],
  );

export const hasFiles = (call: ModelCall): boolean => typesIn(call).length > 0;

/** Whether another model may answer better. The words of what phones record are usually in the text. */
export const missesFiles = (call: ModelCall, facts: Facts): boolean =>
  typesIn(call).some((type) => !accepts(facts, type) && !otherSounds.test(type));

/**
 * Replaces each file that a model does not accept with a note, so that the model does not invent its content. Without
 * `facts`, it accepts none.
 */
export function withoutFiles(call: ModelCall, facts: Facts = { images: false, audio: false }): ModelCall {
  if (typesIn(call).every((type) => accepts(facts, type))) return call;
  const prompt = call.prompt.map((message) =>
    message.role !== "user"
      ? message
      : {
          ...message,
          content: message.content.map((part) =>
            part.type === "file" && !accepts(facts, part.mediaType)
              ? { type: "text" as const, text: unseenFile(part.mediaType) }
              : part,
          ),
        },
  );
  return { ...call, prompt };
}
