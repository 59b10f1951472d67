/** What the headers of MP3, M4A and FLAC files say about their length. */

/** Reads a part of the file, at most to its end. */
export type ReadPart = (position: number, length: number) => Promise<Buffer>;

/** Number of samples and their rate: 20 bits of the rate, 8 of something else, 36 of the number. */
export function flacSeconds(head: Buffer): number | undefined {
  const at = 18;
  if (head.length < at + 8) return undefined;
  const fields = head.readBigUInt64BE(at);
  const samples = Number(fields & 0xf_ffff_ffffn);
  // The encoder of a stream does not know how long it will be.
  return samples === 0 ? undefined : samples / Number(fields >> 44n);
}

const mostBoxes = 64;

/** Where a box of this type has its content; `undefined` if there is none. */
async function findBox(
  type: string,
  { from, to, read }: { readonly from: number; readonly to: number; readonly read: ReadPart },
): Promise<{ readonly from: number; readonly to: number } | undefined> {
  for (let at = from, seen = 0; at + 8 <= to && seen < mostBoxes; seen += 1) {
    const head = await read(at, 16);
    if (head.length < 8) return undefined;
    const short = head.readUInt32BE(0);
    const isLong = short === 1 && head.length === 16;
    const size = isLong ? Number(head.readBigUInt64BE(8)) : short === 0 ? to - at : short;
    if (size < 8) return undefined;
    if (head.toString("latin1", 4, 8) === type) return { from: at + (isLong ? 16 : 8), to: Math.min(to, at + size) };
    at += size;
  }
  return undefined;
}

/** Duration and time scale of the whole file. */
export async function mp4Seconds(size: number, read: ReadPart): Promise<number | undefined> {
  const movie = await findBox("moov", { from: 0, to: size, read });
  const header = movie && (await findBox("mvhd", { ...movie, read }));
  if (header === undefined) return undefined;
  const fields = await read(header.from, 32);
  if (fields.length < 32) return undefined;
  const isLong = fields[0] === 1;
  const scale = fields.readUInt32BE(isLong ? 20 : 12);
  const duration = isLong ? Number(fields.readBigUInt64BE(24)) : fields.readUInt32BE(16);
  // One that is written in fragments does not know it.
  return duration === 0 ? undefined : duration / scale;
}

const rates = [44_100, 48_000, 32_000];
/** Thousands of bits a second, of MPEG 1 and of the others. */
const mpeg1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const mpeg2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

/** By the number of frames where that is stated, else by the rate of the first one. */
export async function mp3Seconds(head: Buffer, size: number, read: ReadPart): Promise<number | undefined> {
  const begins = head.toString("latin1", 0, 3) === "ID3" && head.length >= 10 ? 10 + tagSize(head) : 0;
  const frame = begins === 0 ? head : await read(begins, 256);
  if (frame.length < 4 || (frame.readUInt16BE(0) & 0xffe6) !== 0xffe2) return undefined;
  const version = ((frame[1] ?? 0) >> 3) & 3;
  const isFirst = version === 3;
  const kilobits = (isFirst ? mpeg1 : mpeg2)[(frame[2] ?? 0) >> 4];
  const rate = rates[((frame[2] ?? 0) >> 2) & 3];
  if (version === 1 || kilobits === undefined || kilobits === 0 || rate === undefined) return undefined;
  const isMono = (frame[3] ?? 0) >> 6 === 3;
  const table = 4 + (isFirst ? (isMono ? 17 : 32) : isMono ? 9 : 17);
  const isCounted = ["Xing", "Info"].includes(frame.toString("latin1", table, table + 4));
  if (isCounted && frame.length >= table + 12 && ((frame[table + 7] ?? 0) & 1) === 1) {
    const samples = isFirst ? 1_152 : 576;
    const slower = isFirst ? 1 : version === 2 ? 2 : 4;
    return (frame.readUInt32BE(table + 8) * samples * slower) / rate;
  }
  return ((size - begins) * 8) / (kilobits * 1_000);
}

/** Seven bits of each byte. */
const tagSize = (head: Buffer): number => head.subarray(6, 10).reduce((sum, byte) => sum * 128 + (byte & 127), 0);
