/** How long a sound file is, from its own numbers: what a minute costs is reserved before the call. */
import { open } from "node:fs/promises";
import { flacSeconds, mp3Seconds, mp4Seconds, type ReadPart } from "./sound-headers.ts";

/** The last page of an Ogg file begins within its last 64 kB. */
const tailBytes = 65_536 + 512;
const headBytes = 4_096;
/** Opus counts 48,000 samples a second, whatever the rate of the recording. */
const opusRate = 48_000;

/** Highest usual rates. A file that states a shorter time than its size allows at that rate is not believed. */
const mostBytesPerSecond = {
  /** Opus, Vorbis, MP3 and AAC. */
  lossy: 64_000,
  /** Two channels of 16 bits, 48,000 times a second. Finer recordings count as longer than they are. */
  exact: 192_000,
} as const;

/**
 * Seconds of an Ogg/Opus, Ogg/Vorbis, MP3, M4A, FLAC or WAV file; `undefined` for other formats and for files that
 * contradict themselves.
 */
export async function soundSeconds(path: string): Promise<number | undefined> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const read: ReadPart = async (position, length) => {
      const wanted = Math.max(0, Math.min(length, size - position));
      const { bytesRead, buffer } = await file.read(Buffer.alloc(wanted), 0, wanted, position);
      return buffer.subarray(0, bytesRead);
    };
    return await measured(await read(0, headBytes), size, read);
  } finally {
    await file.close();
  }
}

async function measured(head: Buffer, size: number, read: ReadPart): Promise<number | undefined> {
  const begins = (text: string, at = 0) => head.subarray(at, at + text.length).toString("latin1") === text;
  const atLeast = (seconds: number | undefined, rate: number) =>
    seconds === undefined || !Number.isFinite(seconds) || seconds < 0 ? undefined : Math.max(seconds, size / rate);
  if (begins("RIFF")) return atLeast(wavSeconds(head, size), mostBytesPerSecond.exact);
  if (begins("fLaC")) return atLeast(flacSeconds(head), mostBytesPerSecond.exact);
  const stated = begins("OggS")
    ? oggSeconds(head, await read(Math.max(0, size - tailBytes), tailBytes))
    : begins("ftyp", 4)
      ? await mp4Seconds(size, read)
      : await mp3Seconds(head, size, read);
  return atLeast(stated, mostBytesPerSecond.lossy);
}

function oggSeconds(head: Buffer, tail: Buffer): number | undefined {
  const opus = head.indexOf("OpusHead");
  const vorbis = head.indexOf("\x01vorbis", 0, "latin1");
  const last = tail.lastIndexOf("OggS");
  if (last < 0 || last + 14 > tail.length || (opus < 0 && vorbis < 0)) return undefined;
  const samples = Number(tail.readBigInt64LE(last + 6));
  if (opus >= 0) {
    if (opus + 12 > head.length) return undefined;
    return (samples - head.readUInt16LE(opus + 10)) / opusRate;
  }
  return vorbis + 16 > head.length ? undefined : samples / head.readUInt32LE(vorbis + 12);
}

function wavSeconds(head: Buffer, size: number): number | undefined {
  const format = head.indexOf("fmt ");
  const data = head.indexOf("data");
  if (format < 0 || format + 20 > head.length || data < 0) return undefined;
  // The size in the header of a stream is not known when it begins.
  return (size - data - 8) / head.readUInt32LE(format + 16);
}

/** Bytes of a second of compressed sound at a low rate: rather too long a time is reserved than too short a one. */
const lowRate = 4_000;

/** An estimate for formats whose length is not known. */
export const estimatedSeconds = (bytes: number): number => Math.ceil(bytes / lowRate);
