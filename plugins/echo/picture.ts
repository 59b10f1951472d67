/** Generates an image, so that media can be shown without network and files. */
import { crc32, deflateSync } from "node:zlib";

const width = 240;
const height = 160;

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([size, body, check]);
}

/**
 * A PNG of coloured squares with a disc, in base64; always the same bytes. `red` is the red component of the disc, 0 to
 * 255.
 */
export function picture(red = 255): string {
  const rows = Buffer.alloc((width * 3 + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const disc = (x - 120) ** 2 + (y - 80) ** 2 < 50 ** 2;
      const at = y * (width * 3 + 1) + 1 + x * 3;
      rows[at] = disc ? red : Math.floor(x / 20) * 16;
      rows[at + 1] = disc ? 220 : 90;
      rows[at + 2] = disc ? 80 : Math.floor(y / 20) * 24;
    }
  }
  const header = Buffer.from([0, 0, 0, width, 0, 0, 0, height, 8, 2, 0, 0, 0]);
  const png = Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
  return png.toString("base64");
}
