/** References to the files of a message, which are fetched after the gate, or never. */
import type { InboundMedia, Json } from "service-gateway/sdk";
import { type Fields, list, number, record, text } from "./fields.ts";

function reference(kind: InboundMedia["kind"], file: Fields | undefined): InboundMedia[] {
  const ref = text(file?.file_id);
  if (file === undefined || ref === undefined) return [];
  const uniqueId = text(file.file_unique_id);
  const mimeType = text(file.mime_type);
  const fileName = text(file.file_name);
  const size = number(file.file_size);
  return [
    {
      kind,
      ref,
      ...(uniqueId && { uniqueId }),
      ...(mimeType && { mimeType }),
      ...(fileName && { fileName }),
      size,
    },
  ];
}

/** The size of a photo with the largest area. */
function photo(sizes: Json | undefined): InboundMedia[] {
  if (sizes === undefined) return [];
  const area = (size: Fields) => (number(size.width) ?? 0) * (number(size.height) ?? 0);
  const known = list(sizes)
    .map(record)
    .filter((size) => size !== undefined);
  return reference(
    "image",
    known.reduce<Fields | undefined>(
      (best, size) => (best === undefined || area(size) >= area(best) ? size : best),
      undefined,
    ),
  );
}

function sticker(fields: Fields | undefined): InboundMedia[] {
  const emoji = text(fields?.emoji);
  const setName = text(fields?.set_name);
  const animated = fields?.is_animated === true || fields?.is_video === true;
  return reference("sticker", fields).map((found) => ({
    ...found,
    sticker: { ...(emoji && { emoji }), ...(setName && { setName }), animated },
  }));
}

/** A live photo consists of its still and a few seconds of video; older servers send the still separately. */
function livePhoto(holder: Fields): InboundMedia[] {
  const live = record(holder.live_photo);
  if (live === undefined) return [];
  const still = photo(live.photo ?? holder.photo);
  return [...still, ...reference("video", live)];
}

/** Bought media have their content; for others only the kind is known. */
function paidMedia(info: Fields | undefined): InboundMedia[] {
  return list(info?.paid_media).flatMap((each) => {
    const item = record(each) ?? {};
    if (item.type === "live_photo") return livePhoto(item);
    return item.type === "video"
      ? reference("video", record(item.video))
      : item.type === "photo"
        ? photo(item.photo)
        : [];
  });
}

/** The files shown with a poll or with one of its options. Polls do not nest. */
export function filesOfPollMedia(media: Fields | undefined): InboundMedia[] {
  return media === undefined ? [] : filesOf({ ...media, poll: null });
}

function poll(fields: Fields | undefined): InboundMedia[] {
  return [fields, ...list(fields?.options).map(record)].flatMap((each) => filesOfPollMedia(record(each?.media)));
}

/** An animation also comes as a document, and a live photo as a photo, so the first kind that matches applies. */
const kinds: readonly ((message: Fields) => InboundMedia[])[] = [
  livePhoto,
  (message) => photo(message.photo),
  (message) => reference("video", record(message.animation)),
  (message) => reference("video", record(message.video)),
  (message) => reference("video", record(message.video_note)),
  (message) => reference("audio", record(message.audio)),
  (message) => reference("voice", record(message.voice ?? message.voice_note)),
  (message) => sticker(record(message.sticker)),
  (message) => reference("document", record(message.document)),
  (message) => paidMedia(record(message.paid_media)),
  (message) => poll(record(message.poll)),
];

export function filesOf(message: Fields): InboundMedia[] {
  for (const read of kinds) {
    const found = read(message);
    if (found.length > 0) return found;
  }
  return [];
}

const placeholders: Readonly<Record<InboundMedia["kind"], string>> = {
  image: "<media:image>",
  video: "<media:video>",
  audio: "<media:audio>",
  voice: "<media:audio>",
  document: "<media:document>",
  sticker: "<media:sticker>",
};

/** The placeholder of a file in the text. */
export function placeholderOf(media: InboundMedia): string {
  const emoji = media.sticker?.emoji;
  return `${placeholders[media.kind]}${emoji === undefined ? "" : ` ${emoji}`}`;
}
