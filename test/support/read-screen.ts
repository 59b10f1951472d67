/** Reads a QR code of a terminal, as a phone does, with the decoder of another author than the encoder's. */
import { decodeQR } from "qr/decode.js";

export function readScreen(lines: readonly string[]): string {
  const scale = 8;
  const [width, height] = [(lines[0]?.length ?? 0) * scale, lines.length * 2 * scale];
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const cell = lines[Math.floor(y / scale / 2)]?.[Math.floor(x / scale)] ?? " ";
      const isUpper = Math.floor(y / scale) % 2 === 0;
      const light = cell === "█" || cell === (isUpper ? "▀" : "▄") ? 255 : 0;
      data.fill(light, (y * width + x) * 3, (y * width + x) * 3 + 3);
    }
  return decodeQR({ width, height, data });
}
