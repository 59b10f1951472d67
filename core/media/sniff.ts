/** Detects the type of a file from its first bytes, because its declared name and type may be wrong. */

/** A media type and the matching file extension, without the dot. */
export interface Sniffed {
  readonly mimeType: string;
  readonly extension: string;
}

const at = (head: Buffer, offset: number, text: string) =>
  head.subarray(offset, offset + text.length).toString("latin1") === text;
const starts = (text: string) => (head: Buffer) => at(head, 0, text);
const brand = (pattern: RegExp) => (head: Buffer) =>
  at(head, 4, "ftyp") && pattern.test(head.subarray(8, 12).toString("latin1"));

/** The first match wins. */
const signatures: readonly (readonly [string, string, (head: Buffer) => boolean])[] = [
  ["image/png", "png", starts("\x89PNG\r\n\x1a\n")],
  ["image/jpeg", "jpg", starts("\xff\xd8\xff")],
  ["image/gif", "gif", (head) => at(head, 0, "GIF87a") || at(head, 0, "GIF89a")],
  ["image/webp", "webp", (head) => at(head, 0, "RIFF") && at(head, 8, "WEBP")],
  ["image/bmp", "bmp", (head) => at(head, 0, "BM") && head.length > 26 && head.readUInt32LE(14) <= 124],
  ["image/tiff", "tif", (head) => at(head, 0, "II*\0") || at(head, 0, "MM\0*")],
  ["image/heic", "heic", brand(/^(?:hei[cxms]|hev[cmsx]|mif1|msf1)$/)],
  ["image/avif", "avif", brand(/^avi[fs]$/)],
  ["audio/mp4", "m4a", brand(/^M4[AB] $/)],
  ["video/quicktime", "mov", brand(/^qt {2}$/)],
  ["video/mp4", "mp4", (head) => at(head, 4, "ftyp")],
  ["video/webm", "webm", (head) => at(head, 0, "\x1a\x45\xdf\xa3") && head.subarray(0, 64).includes("webm")],
  ["video/x-matroska", "mkv", starts("\x1a\x45\xdf\xa3")],
  ["video/x-msvideo", "avi", (head) => at(head, 0, "RIFF") && at(head, 8, "AVI ")],
  ["audio/wav", "wav", (head) => at(head, 0, "RIFF") && at(head, 8, "WAVE")],
  ["audio/ogg", "ogg", starts("OggS")],
  ["audio/flac", "flac", starts("fLaC")],
  [
    "audio/mpeg",
    "mp3",
    (head) => at(head, 0, "ID3") || (head[0] === 0xff && [0xe2, 0xe3, 0xf2, 0xf3, 0xfa, 0xfb].includes(head[1] ?? 0)),
  ],
  ["audio/aac", "aac", (head) => head[0] === 0xff && [0xf1, 0xf9].includes(head[1] ?? 0)],
  ["audio/amr", "amr", starts("#!AMR")],
  ["application/pdf", "pdf", starts("%PDF-")],
  ["application/zip", "zip", (head) => at(head, 0, "PK\x03\x04") || at(head, 0, "PK\x05\x06")],
  ["application/gzip", "gz", starts("\x1f\x8b")],
  ["application/x-7z-compressed", "7z", starts("7z\xbc\xaf\x27\x1c")],
  ["application/vnd.rar", "rar", starts("Rar!\x1a\x07")],
];

/** Formats stored in a known container. The declared type may select one of these, but nothing else. */
const refinements: readonly (readonly [string, RegExp, string])[] = [
  ["application/zip", /^application\/vnd\.openxmlformats-officedocument\.wordprocessingml\.document$/, "docx"],
  ["application/zip", /^application\/vnd\.openxmlformats-officedocument\.spreadsheetml\.sheet$/, "xlsx"],
  ["application/zip", /^application\/vnd\.openxmlformats-officedocument\.presentationml\.presentation$/, "pptx"],
  ["application/zip", /^application\/vnd\.oasis\.opendocument\.text$/, "odt"],
  ["application/zip", /^application\/epub\+zip$/, "epub"],
  ["application/gzip", /^application\/x-tgsticker$/, "tgs"],
  ["text/plain", /^text\/html$/, "html"],
  ["text/plain", /^text\/csv$/, "csv"],
  ["text/plain", /^text\/markdown$/, "md"],
  ["text/plain", /^application\/json$/, "json"],
  ["text/plain", /^(?:text|application)\/xml$/, "xml"],
];

/** Whether the bytes are UTF-8 without control characters. A character cut off at the end is accepted. */
function isText(head: Buffer): boolean {
  const text = new TextDecoder("utf-8").decode(head.subarray(0, 4_096), { stream: true });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters distinguish binary data from text
  return !/[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]/.test(text);
}

/**
 * Detects the type of a file from its beginning (4,100 bytes are enough). `declared` is the sender's declared type; it
 * only refines the type of a container or a text. Unknown files are `application/octet-stream`. Never throws.
 *
 * @example
 * const { mimeType, extension } = sniff(head, "image/png");
 */
export function sniff(head: Buffer, declared?: string): Sniffed {
  const known = signatures.find(([, , fits]) => fits(head));
  const [mimeType, extension] = known ?? (isText(head) ? ["text/plain", "txt"] : ["application/octet-stream", "bin"]);
  const declaredType = declared?.toLowerCase() ?? "";
  const finer = refinements.find(([of, pattern]) => of === mimeType && pattern.test(declaredType));
  return finer === undefined ? { mimeType, extension } : { mimeType: declaredType, extension: finer[2] };
}
