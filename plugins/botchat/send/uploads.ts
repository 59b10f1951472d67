/** Adds the files of a part to a call, and reads the resulting messages. */
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { ChannelError } from "service-gateway/sdk/channel";
import { id, record } from "../intake/fields.ts";
import { Upload } from "../wire/multipart.ts";
import type { PartFile } from "./part-body.ts";

type Payload = Readonly<Record<string, unknown>>;

const longestName = 120;

/** The name is quoted in a header, and users see it. Not every server decodes escapes there. */
function headerName(name: string): string {
  const safe = name.replace(/[\p{Cc}\p{Zl}\p{Zp}";\\/]/gu, "_").trim();
  const ending = /\.[^.]{1,10}$/.exec(safe)?.[0] ?? "";
  return safe.length <= longestName ? safe : `${safe.slice(0, longestName - ending.length)}${ending}`;
}

/** Without its parameters, which describe the audio coding. */
function headerType(type: string | undefined): string {
  return /^[\w.+-]+\/[\w.+-]+/.exec(type ?? "")?.[0] ?? "application/octet-stream";
}

/** Read again at each attempt. */
async function open({ path, name, type, ref }: PartFile): Promise<unknown> {
  if (ref !== undefined) return ref;
  if (path === undefined)
    throw new ChannelError("media_refused", { detail: "only files that the gateway has stored are sent" });
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) {
    throw new ChannelError("media_missing", { detail: `the file ${basename(path)} was removed before it was sent` });
  }
  return new Upload({ path, name: headerName(name ?? basename(path)), type: headerType(type), size: found.size });
}

/** The payload with its files. Throws `media_missing` before anything is sent. */
export async function attachFiles(payload: Payload, files: readonly PartFile[]): Promise<Payload> {
  const opened = await Promise.all(files.map(open));
  if (Array.isArray(payload.media)) {
    return {
      ...payload,
      media: payload.media.map((item, index) => ({ ...item, [files[index]?.field ?? "media"]: opened[index] })),
    };
  }
  return { ...payload, ...Object.fromEntries(files.map(({ field }, index) => [field, opened[index]])) };
}

/** The id of one message, or those of an album in order; none if the answer contains none. */
export function messageIdsOf(answer: unknown): readonly string[] {
  const messages: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
  return messages.map((message) => id(record(message as never)?.message_id)).filter((found) => found !== undefined);
}
