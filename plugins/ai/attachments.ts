/**
 * Converts the files of a message to parts of a chat completion: images, audio, PDFs and texts. Other files are only
 * mentioned in the text.
 */
import { open } from "node:fs/promises";
import type { EngineMessage } from "service-gateway/sdk";
import type { ModelCall } from "./library.ts";

export type Attachment =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "file"; readonly data: Uint8Array; readonly mediaType: string; readonly filename?: string };

/** The types that servers accept. */
const images = /^image\/(?:png|jpeg|gif|webp)$/;
const sounds = /^audio\/(?:wav|mpeg)$/;
const texts = /^(?:text\/.*|application\/(?:json|xml))$/;

/** Whether a file of the type can be a part of a request. */
export const isSendable = (mimeType: string): boolean =>
  images.test(mimeType) || sounds.test(mimeType) || mimeType === "application/pdf";

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

/** Reads the files. A file that is missing or unreadable is left out; the note about it remains. */
export async function readAttachments(media: EngineMessage["media"]): Promise<readonly Attachment[]> {
  const found: Attachment[] = [];
  let left = maxBytes;
  for (const { kind, path, mimeType = "", fileName, description } of media ?? []) {
    // A sticker with a description need not be sent again.
    if (path === undefined || (kind === "sticker" && description !== undefined)) continue;
    try {
      if (texts.test(mimeType)) {
        const content = await read(path, Math.min(maxTextBytes, left), { cut: true });
        if (content !== undefined) found.push({ type: "text", text: quoted(fileName ?? "the file", content) });
        left -= content?.length ?? 0;
      } else if (isSendable(mimeType)) {
        const data = await read(path, left);
        if (data === undefined) continue;
        left -= data.length;
        found.push({ type: "file", data, mediaType: mimeType, filename: fileName });
      }
    } catch {}
  }
  return found;
}

export function hasFiles({ prompt }: ModelCall): boolean {
  return prompt.some((message) => message.role === "user" && message.content.some((part) => part.type === "file"));
}

/** Replaces each file with a note, for a model that accepts none, so that the model does not invent its content. */
export function withoutFiles(call: ModelCall): ModelCall {
  const prompt = call.prompt.map((message) =>
    message.role !== "user"
      ? message
      : {
          ...message,
          content: message.content.map((part) =>
            part.type === "file" ? { type: "text" as const, text: unseenFile(part.mediaType) } : part,
          ),
        },
  );
  return { ...call, prompt };
}
