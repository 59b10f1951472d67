/** Methods for files: sending files and albums, and downloading. */
import { fetchWhole } from "service-gateway/sdk/reading";
import { type Call, type Method, post } from "../core.ts";
import { badRequest } from "../errors.ts";
import type { FileRecord } from "../files.ts";
import { captionText } from "../format.ts";
import type { Upload } from "../multipart.ts";
import { flagOf, isRecord, jsonOf, numberOf, type RawParams, textOf } from "../params.ts";
import { answeredMessage, placeOf, writableRoom } from "../rooms.ts";
import type { Message, StoredFile } from "../wire.ts";
import type { Room } from "../world.ts";
import { sendContent } from "./messages.ts";

export type MediaKind = "photo" | "document" | "video" | "audio" | "voice" | "animation" | "video_note" | "sticker";

const megabyte = 1024 * 1024;
const maxPhotoBytes = 10 * megabyte;
const maxUploadBytes = 50 * megabyte;
const maxFetchBytes = 20 * megabyte;

/** The file of a parameter: an upload, an id from the platform, or a URL on this machine. */
async function takeFile(call: Call, kind: MediaKind, field: string, params: RawParams): Promise<FileRecord> {
  const direct = call.files[field];
  if (direct !== undefined) return keep(call, kind, direct);
  const given = textOf(params, field) ?? "";
  if (given === "") throw badRequest(`there is no ${kind.replace("_", " ")} in the request`);
  if (given.startsWith("attach://")) {
    const upload = call.files[given.slice("attach://".length)];
    if (upload === undefined) throw badRequest(`can't parse ${kind}: attached file not found`);
    return keep(call, kind, upload);
  }
  if (/^https?:\/\//i.test(given)) return keep(call, kind, await fetchFile(given));
  const known = call.core.files.find(given);
  if (known === undefined) throw badRequest("wrong file identifier/HTTP URL specified");
  if ((known.kind === "photo") !== (kind === "photo")) throw badRequest("type of file mismatch");
  return known;
}

async function fetchFile(address: string): Promise<Upload> {
  const url = new URL(address);
  if (!["127.0.0.1", "localhost", "[::1]"].includes(url.hostname)) throw badRequest("failed to get HTTP URL content");
  try {
    const { ok, headers, bytes } = await fetchWhole(url, { maxBytes: maxFetchBytes, timeoutMs: 5_000 });
    if (!ok) throw new Error("refused");
    const mimeType = headers.get("content-type")?.split(";")[0] ?? "application/octet-stream";
    return { bytes, mimeType, fileName: url.pathname.split("/").at(-1) || "file" };
  } catch {
    throw badRequest("failed to get HTTP URL content");
  }
}

function keep(call: Call, kind: MediaKind, upload: Upload): FileRecord {
  if (upload.bytes.length === 0) throw badRequest("file must be non-empty");
  if (upload.bytes.length > maxUploadBytes) throw badRequest("file is too big");
  if (kind !== "photo") return call.core.files.add(kind, upload);
  if (upload.bytes.length > maxPhotoBytes) throw badRequest("file is too big for a photo");
  const file = call.core.files.add(kind, upload);
  if (file.width === undefined || file.height === undefined) throw badRequest("IMAGE_PROCESS_FAILED");
  const { width, height } = file;
  if (width + height > 10_000 || width > height * 20 || height > width * 20)
    throw badRequest("PHOTO_INVALID_DIMENSIONS");
  return file;
}

/** The message fields that represent a file of a kind. */
export function mediaFields(kind: MediaKind, file: FileRecord, extra: RawParams = {}): Partial<Message> {
  const size = {
    file_id: file.id,
    file_unique_id: `unique-${file.id}`,
    file_size: file.bytes.length,
  };
  if (kind === "photo") {
    const { width = 0, height = 0 } = file;
    const scale = Math.min(1, 90 / Math.max(width, height, 1));
    const small = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
    return {
      photo: [
        { ...size, file_id: `${file.id}-thumb`, file_unique_id: `unique-${file.id}-thumb`, ...small },
        { ...size, width, height },
      ],
    };
  }
  const named = { ...size, file_name: file.fileName, mime_type: file.mimeType };
  const duration = { duration: numberOf(extra, "duration") ?? 0 };
  const frame = {
    width: numberOf(extra, "width") ?? file.width ?? 320,
    height: numberOf(extra, "height") ?? file.height ?? 240,
  };
  const shapes: Readonly<Record<Exclude<MediaKind, "photo">, StoredFile>> = {
    document: named,
    video: { ...named, ...frame, ...duration },
    // Clients without animation support show the document.
    animation: { ...named, ...frame, ...duration },
    audio: { ...named, ...duration },
    voice: { ...size, mime_type: file.mimeType, ...duration },
    video_note: { ...size, length: numberOf(extra, "length") ?? 240, ...duration },
    sticker: stickerOf(size, file, extra),
  };
  const fields: Partial<Message> = { [kind]: shapes[kind] };
  return kind === "animation" ? { ...fields, document: shapes.document } : fields;
}

function stickerOf(size: StoredFile, file: FileRecord, extra: RawParams): StoredFile {
  const emoji = textOf(extra, "emoji");
  return {
    ...size,
    type: "regular",
    width: file.width ?? 512,
    height: file.height ?? 512,
    is_animated: file.fileName.endsWith(".tgs"),
    is_video: file.fileName.endsWith(".webm"),
    ...(emoji === undefined ? {} : { emoji }),
  };
}

/** The kind to show. Voice messages must have a format that clients can play inline; others become files. */
function shownAs(kind: MediaKind, file: FileRecord): MediaKind {
  if (kind !== "voice") return kind;
  return /^audio\/(?:ogg|opus|mpeg|mp3|mp4|m4a|x-m4a|aac)$/.test(file.mimeType) ||
    /\.(?:ogg|oga|opus|mp3|m4a)$/i.test(file.fileName)
    ? "voice"
    : "document";
}

function sendMedia(kind: MediaKind): Method {
  return async (call) => {
    const room = writableRoom(call);
    checkRights(call, room);
    const caption = kind === "sticker" || kind === "video_note" ? undefined : captionText(call, call.params);
    const file = await takeFile(call, kind, kind, call.params);
    return sendContent(call, room, () => ({
      ...mediaFields(shownAs(kind, file), file, call.params),
      ...(caption === undefined ? {} : { caption: caption.text }),
      ...(caption === undefined || caption.entities.length === 0 ? {} : { caption_entities: caption.entities }),
      ...(flagOf(call.params, "has_spoiler") ? { has_media_spoiler: true } : {}),
    }));
  };
}

/** Checks the destination and the quoted message before a file is read or downloaded. */
function checkRights(call: Call, room: Room): void {
  placeOf(room, call.params, answeredMessage(room, call.params).message);
}

const albumKinds: ReadonlySet<string> = new Set(["photo", "video", "audio", "document"]);

const sendMediaGroup: Method = async (call) => {
  const room = writableRoom(call);
  const items = jsonOf(call.params, "media", "media");
  if (!Array.isArray(items)) throw badRequest("can't parse media: expected an Array of InputMedia");
  if (items.length < 2 || items.length > 10) throw badRequest("media must include 2-10 items");
  const answered = answeredMessage(room, call.params);
  const place = placeOf(room, call.params, answered.message);
  const contents: Partial<Message>[] = [];
  for (const item of items) contents.push(await albumItem(call, item));
  const album = `album-${call.core.newId()}`;
  call.core.limiter.spend(call.bot.user.id, room.key, room.chat.type !== "private");
  return contents.map((content) =>
    post(call.core, room, {
      message_id: room.nextMessageId(),
      date: call.core.seconds(),
      chat: room.chat,
      from: call.bot.user,
      media_group_id: album,
      ...place,
      ...answered.fields,
      ...content,
    }),
  );
};

async function albumItem(call: Call, item: unknown): Promise<Partial<Message>> {
  if (!isRecord(item) || typeof item.type !== "string" || !albumKinds.has(item.type)) {
    throw badRequest("can't parse InputMedia: unsupported type specified");
  }
  const kind = item.type as MediaKind;
  const file = await takeFile(call, kind, "media", item);
  const caption = captionText(call, item);
  return {
    ...mediaFields(kind, file, item),
    ...(caption === undefined ? {} : { caption: caption.text, caption_entities: caption.entities }),
  };
}

const getFile: Method = (call) => {
  const file = call.core.files.find(textOf(call.params, "file_id") ?? "");
  if (file === undefined) throw badRequest("wrong file_id or the file is temporarily unavailable");
  if (file.bytes.length > maxFetchBytes) throw badRequest("file is too big");
  return { file_id: file.id, file_unique_id: `unique-${file.id}`, file_size: file.bytes.length, file_path: file.path };
};

export const mediaMethods = {
  sendPhoto: sendMedia("photo"),
  sendDocument: sendMedia("document"),
  sendVideo: sendMedia("video"),
  sendAudio: sendMedia("audio"),
  sendVoice: sendMedia("voice"),
  sendAnimation: sendMedia("animation"),
  sendVideoNote: sendMedia("video_note"),
  sendSticker: sendMedia("sticker"),
  sendMediaGroup,
  getFile,
};
