/** Reads width and height of a PNG, GIF, BMP, WEBP or JPEG image without decoding it. */

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Reads bytes of the file at a position; returns fewer at its end. */
export type ReadAt = (position: number, length: number) => Promise<Buffer>;

/** Maximum number of JPEG segments before the frame header, such as metadata and previews. */
const mostSegments = 200;

/** Recognizes start-of-frame markers; the excluded codes are tables in the same range. */
const isFrame = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

async function jpegSize(read: ReadAt): Promise<ImageSize | undefined> {
  let at = 2;
  for (let segment = 0; segment < mostSegments; segment += 1) {
    const head = await read(at, 9);
    if (head.length < 9 || head[0] !== 0xff) return undefined;
    const marker = head[1] ?? 0;
    if (isFrame(marker)) return { width: head.readUInt16BE(7), height: head.readUInt16BE(5) };
    // A marker may be preceded by fill bytes (0xff).
    at += marker === 0xff ? 1 : 2 + head.readUInt16BE(2);
  }
  return undefined;
}

function webpSize(head: Buffer): ImageSize | undefined {
  const form = head.toString("latin1", 12, 16);
  if (form === "VP8X") return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 };
  if (form === "VP8 ") return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
  const bits = head.readUInt32LE(21);
  return form === "VP8L" ? { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 } : undefined;
}

/** The size of an image; `undefined` for other types and broken files. */
export async function imageSize(mimeType: string, read: ReadAt): Promise<ImageSize | undefined> {
  if (mimeType === "image/jpeg") return jpegSize(read);
  const head = await read(0, 30);
  if (head.length < 26) return undefined;
  if (mimeType === "image/png") return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
  if (mimeType === "image/gif") return { width: head.readUInt16LE(6), height: head.readUInt16LE(8) };
  // A negative height means that the rows are stored from top to bottom.
  if (mimeType === "image/bmp")
    return { width: Math.abs(head.readInt32LE(18)), height: Math.abs(head.readInt32LE(22)) };
  return mimeType === "image/webp" && head.length === 30 ? webpSize(head) : undefined;
}
