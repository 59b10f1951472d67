/** How long a sound file is, from its own numbers: what a minute costs is reserved before the call. */
import { open } from "node:fs/promises";

/** The last page of an Ogg file begins within its last 64 kB. */
const tailBytes = 65_536 + 512;
const headBytes = 4_096;
/** Opus counts 48,000 samples a second, whatever the rate of the recording. */
const opusRate = 48_000;

/**
 * Seconds of an Ogg/Opus, Ogg/Vorbis or WAV file; `undefined` for other formats and for files that contradict
 * themselves.
 */
export async function soundSeconds(path: string): Promise<number | undefined> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const read = async (position: number, length: number) => {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
      return buffer.subarray(0, bytesRead);
    };
    const head = await read(0, Math.min(headBytes, size));
    if (head.subarray(0, 4).toString("latin1") === "OggS")
      return oggSeconds(head, await read(Math.max(0, size - tailBytes), Math.min(tailBytes, size)));
    return head.subarray(0, 4).toString("latin1") === "RIFF" ? wavSeconds(head, size) : undefined;
  } finally {
    await file.close();
  }
}

function oggSeconds(head: Buffer, tail: Buffer): number | undefined {
  const opus = head.indexOf("OpusHead");
  const vorbis = head.indexOf("\x01vorbis", 0, "latin1");
  const last = tail.lastIndexOf("OggS");
  if (last < 0 || last + 14 > tail.length || (opus < 0 && vorbis < 0)) return undefined;
  const samples = Number(tail.readBigInt64LE(last + 6));
  if (opus >= 0) {
    if (opus + 12 > head.length) return undefined;
    return plausible((samples - head.readUInt16LE(opus + 10)) / opusRate);
  }
  return vorbis + 16 > head.length ? undefined : plausible(samples / head.readUInt32LE(vorbis + 12));
}

function wavSeconds(head: Buffer, size: number): number | undefined {
  const format = head.indexOf("fmt ");
  const data = head.indexOf("data");
  if (format < 0 || format + 20 > head.length || data < 0) return undefined;
  // The size in the header of a stream is not known when it begins.
  return plausible((size - data - 8) / head.readUInt32LE(format + 16));
}

const plausible = (seconds: number): number | undefined =>
  Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;

/** Bytes of a second of compressed sound at a low rate: rather too long a time is reserved than too short a one. */
const lowRate = 4_000;

/** An estimate for formats whose length is not known. */
export const estimatedSeconds = (bytes: number): number => Math.ceil(bytes / lowRate);
