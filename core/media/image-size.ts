/** Width and height of a picture, without decoding it: PNG, GIF, BMP, WEBP, JPEG. */

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Bytes of the file from a position on; fewer where it ends. */
export type ReadAt = (position: number, length: number) => Promise<Buffer>;

/** Between two of them lie a picture's own notes and its preview; more are not looked through. */
const mostSegments = 200;

/** Start-of-frame markers, without the tables that share their range. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

async function jpegSize(read: ReadAt): Promise<ImageSize | undefined> {
  let at = 2;
  for (let segment = 0; segment < mostSegments; segment += 1) {
    const head = await read(at, 9);
    if (head.length < 9 || head[0] !== 0xff) return undefined;
    const marker = head[1] ?? 0;
    if (isFrame(marker)) return { width: head.readUInt16BE(7), height: head.readUInt16BE(5) };
    // A marker may be filled up with bytes like its first.
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

/** `undefined`: it is no such picture, or a broken one. */
export async function imageSize(mimeType: string, read: ReadAt): Promise<ImageSize | undefined> {
  if (mimeType === "image/jpeg") return jpegSize(read);
  const head = await read(0, 30);
  if (head.length < 26) return undefined;
  if (mimeType === "image/png") return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
  if (mimeType === "image/gif") return { width: head.readUInt16LE(6), height: head.readUInt16LE(8) };
  // A negative height means that the rows begin at the top.
  if (mimeType === "image/bmp") return { width: Math.abs(head.readInt32LE(18)), height: Math.abs(head.readInt32LE(22)) };
  return mimeType === "image/webp" && head.length === 30 ? webpSize(head) : undefined;
}
