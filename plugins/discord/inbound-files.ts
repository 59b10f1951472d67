/** Files of people: what a message says of them, and their download. */
import {
  type ChannelAccount,
  ChannelError,
  type InboundMedia,
  mediaTooLarge,
  refusedCall,
  saveMedia,
  unansweredCall,
} from "service-gateway/sdk/channel";
import { fetchLimited } from "service-gateway/sdk/reading";
import type { Api } from "./api.ts";
import { type Fields, id, number, record, records, text } from "./fields.ts";

const voiceMessage = 1 << 13;

function kindOf(mimeType: string | undefined, isVoice: boolean): InboundMedia["kind"] {
  if (isVoice) return "voice";
  const [family] = (mimeType ?? "").split("/");
  return family === "image" || family === "video" || family === "audio" ? family : "document";
}

/** Where a file is: its address expires after a day, and its message names a new one. */
interface FileReference {
  readonly channel: string;
  readonly message: string;
  readonly file: string;
  readonly url: string;
}

export function filesOf(message: Fields, at: Pick<FileReference, "channel" | "message">): readonly InboundMedia[] {
  const isVoice = ((number(message.flags) ?? 0) & voiceMessage) !== 0;
  return records(message.attachments).flatMap((file) => {
    const [name, url, key] = [text(file.filename), text(file.url), id(file.id)];
    const [mimeType, size] = [text(file.content_type), number(file.size)];
    if (url === undefined || key === undefined) return [];
    const ref: FileReference = { ...at, file: key, url };
    return {
      kind: kindOf(mimeType, isVoice),
      ref: JSON.stringify(ref),
      uniqueId: key,
      ...(mimeType !== undefined && { mimeType }),
      ...(name !== undefined && { fileName: name }),
      ...(size !== undefined && size >= 0 && { size }),
    };
  });
}

/** What stands for a message without words. */
export function placeholders(message: Fields, media: readonly InboundMedia[]): string {
  const files = media.map(({ kind }) => `<media:${kind === "voice" ? "audio" : kind}>`);
  const stickers = records(message.sticker_items).map(({ name }) => `<media:sticker> ${text(name) ?? ""}`.trim());
  return [...files, ...stickers].join(" ");
}

function readReference(ref: string): FileReference {
  try {
    const { channel, message, file, url } = record(JSON.parse(ref)) ?? {};
    const [at, of, key, address] = [id(channel), id(message), id(file), text(url)];
    if (at !== undefined && of !== undefined && key !== undefined && address !== undefined)
      return { channel: at, message: of, file: key, url: address };
  } catch {
    // No reference of this channel.
  }
  throw new ChannelError("media_refused", { detail: "the file is unknown" });
}

export async function fetchFile(
  { ref, mimeType, size }: InboundMedia,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
  { api, account }: { readonly api: Api; readonly account: Pick<ChannelAccount, "directory" | "signal"> },
): Promise<{ readonly path: string; readonly mimeType: string; readonly size: number }> {
  if (size !== undefined && size > maxBytes) throw mediaTooLarge(maxBytes, size);
  const file = readReference(ref);
  const until = AbortSignal.any([signal, account.signal]);
  const download = async (url: string) => {
    // A message of a person names the address, and no token is sent there.
    if (!api.hosts.isFile(url))
      throw new ChannelError("media_refused", { detail: "the file is not on a host of Discord" });
    const limit = { maxBytes, fault: () => mediaTooLarge(maxBytes) };
    return await fetchLimited(url, { signal: until }, limit).catch((error: unknown) => {
      throw unansweredCall(error, { call: "download" });
    });
  };
  let response = await download(file.url);
  if (response.status === 403 || response.status === 404) response = await download(await newAddress(api, file, until));
  if (!response.ok || response.body === null)
    throw refusedCall({ status: response.status, body: {} }, { call: "download" });
  return await saveMedia(response.body, {
    directory: account.directory,
    maxBytes,
    ...(mimeType !== undefined && { mimeType }),
  });
}

async function newAddress(api: Api, { channel, message, file }: FileReference, signal: AbortSignal): Promise<string> {
  const found = record(await api.call("GET", `/channels/${channel}/messages/${message}`, { signal }));
  const url = text(records(found?.attachments).find((each) => each.id === file)?.url);
  if (url === undefined) throw new ChannelError("media_refused", { detail: "the file was deleted" });
  return url;
}
