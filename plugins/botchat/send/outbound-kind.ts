/** Selects how a file is sent: by its type, within the platform's limits for each kind. Pure. */
import type { OutboundMedia } from "service-gateway/sdk/channel";

export interface Kind {
  /** For readers of the trace. */
  readonly kind: "animation" | "photo" | "video" | "audio" | "voice" | "round-video" | "sticker" | "document";
  readonly method: string;
  readonly field: string;
  /** Adjacent files of the same album class are shown as one album. */
  readonly album?: "pictures" | "audio" | "documents";
  /** It takes no text, which is sent in a separate message below. */
  readonly bare?: true;
}

const animation: Kind = { kind: "animation", method: "sendAnimation", field: "animation" };
const photo: Kind = { kind: "photo", method: "sendPhoto", field: "photo", album: "pictures" };
const video: Kind = { kind: "video", method: "sendVideo", field: "video", album: "pictures" };
const audio: Kind = { kind: "audio", method: "sendAudio", field: "audio", album: "audio" };
const voice: Kind = { kind: "voice", method: "sendVoice", field: "voice" };
const note: Kind = { kind: "round-video", method: "sendVideoNote", field: "video_note", bare: true };
const sticker: Kind = { kind: "sticker", method: "sendSticker", field: "sticker", bare: true };
const document: Kind = { kind: "document", method: "sendDocument", field: "document", album: "documents" };

const kinds: readonly { readonly is: Kind; readonly type: RegExp; readonly name: RegExp }[] = [
  { is: animation, type: /^image\/gif$/, name: /\.gif$/i },
  { is: photo, type: /^image\/(?:jpeg|png|webp|bmp)$/, name: /\.(?:jpe?g|png|webp|bmp)$/i },
  { is: video, type: /^video\/(?:mp4|quicktime|webm)$/, name: /\.(?:mp4|mov|webm)$/i },
  { is: audio, type: /^audio\//, name: /\.(?:mp3|m4a|ogg|oga|opus|wav|flac)$/i },
];

/** Files that can be played as a note, by type, or by name if the type is unknown. */
const asked = {
  voice: {
    is: voice,
    type: /^audio\/(?:mpeg|mp4|ogg(?:; codecs=opus)?|opus)$/,
    name: /\.(?:ogg|oga|opus|mp3|m4a)$/i,
    needs: "OGG with Opus, MP3 or M4A",
  },
  "round-video": { is: note, type: /^video\/mp4$/, name: /\.mp4$/i, needs: "MP4" },
  sticker: {
    is: sticker,
    type: /^(?:image\/webp|video\/webm|application\/x-tgsticker)$/,
    name: /\.(?:webp|webm|tgs)$/i,
    needs: "WEBP, WEBM or TGS",
  },
} as const;

const photoBytes = 10 * 1_048_576;
const photoSides = 10_000;
const photoRatio = 20;

/** An image that the platform would reject as a photo, or degrade, is sent as a document. */
function isPhoto({ size, width, height }: OutboundMedia): boolean {
  if (size === undefined) return true;
  if (size > photoBytes || width === undefined || height === undefined) return false;
  return width + height <= photoSides && width <= height * photoRatio && height <= width * photoRatio;
}

function nameOf({ fileName, path, url }: OutboundMedia): string {
  return fileName ?? (path ?? url ?? "").split(/[?#]/)[0] ?? "";
}

/** `omitted`: a request that cannot be fulfilled, for the trace. */
export function kindOf(media: OutboundMedia): { readonly kind: Kind; readonly omitted?: string } {
  const name = nameOf(media);
  const type = media.mimeType?.toLowerCase().replace(/\s*;\s*/g, "; ");
  const bare = type?.split(";")[0]?.trim();
  const wish = media.as === undefined ? undefined : asked[media.as];
  // A platform file id does not show its kind, so the caller's statement applies.
  const granted =
    wish !== undefined && (type === undefined ? media.ref !== undefined || wish.name.test(name) : wish.type.test(type));
  if (granted) return { kind: wish.is };
  const found = kinds.find((each) => (bare ? each.type.test(bare) : each.name.test(name)))?.is ?? document;
  const kind = found === photo && !isPhoto(media) ? document : found;
  if (wish === undefined) return { kind };
  return {
    kind,
    omitted:
      `sent as ${kind.kind}, not as ${wish.is.kind}: that requires ${wish.needs}, this is ` +
      `${type ?? "of no known type"}`,
  };
}
