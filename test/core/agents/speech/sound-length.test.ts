/** The length of sound files, which is reserved before the call. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { soundSeconds } from "../../../../core/agents/speech/sound-length.ts";
import { temporaryDirectory } from "../../../support/directory.ts";
import { madeHere, voiceNote } from "../../../support/voice-notes.ts";

function written(bytes: Buffer): string {
  const file = join(temporaryDirectory(), "sound");
  writeFileSync(file, bytes);
  return file;
}

/** One channel, 16 bits. */
function wav(seconds: number, rate = 8_000): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.write("data", 36);
  return Buffer.concat([head, Buffer.alloc(seconds * rate * 2)]);
}

test("a voice note and a WAV file say how long they are", async () => {
  expect(await soundSeconds(written(voiceNote("friday")))).toBeCloseTo(2.29, 1);
  expect(await soundSeconds(written(voiceNote("stop")))).toBeCloseTo(0.67, 1);
  expect(await soundSeconds(written(wav(3)))).toBeCloseTo(3, 5);
});

test.each([
  ["nothing", Buffer.alloc(0)],
  ["another format", Buffer.from("ID3\x04aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")],
  ["Ogg without an end", Buffer.from("OggS\0\x02aaaaaaaa")],
  ["Opus cut in its head", voiceNote("friday").subarray(0, 38)],
  ["RIFF without a format", Buffer.from(`RIFF\0\0\0\0WAVE${"a".repeat(60)}`)],
])("the length of %s is unknown", async (_name, bytes) => {
  expect(await soundSeconds(written(bytes))).toBeUndefined();
});

test("any beginning of a voice note is read without a fault", async () => {
  const whole = voiceNote("stop");
  for (let size = 0; size < whole.length; size += 97) {
    const seconds = await soundSeconds(written(whole.subarray(0, size)));
    expect(seconds === undefined || (seconds >= 0 && seconds < 2)).toBe(true);
  }
});

/** A second is this many bytes: 128,000 bits, 44,100 samples. */
const mp3Frame = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x44]), Buffer.alloc(413)]);

function box(type: string, ...content: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + Buffer.concat(content).length, 0);
  head.write(type, 4);
  return Buffer.concat([head, ...content]);
}

function mvhd(scale: number, duration: number): Buffer {
  const fields = Buffer.alloc(100);
  fields.writeUInt32BE(scale, 12);
  fields.writeUInt32BE(duration, 16);
  return box("mvhd", fields);
}

test("an MP3 file is measured by its rate or its number of frames, behind its tag", async () => {
  const frames = Buffer.concat(Array.from({ length: 383 }, () => mp3Frame));
  expect(await soundSeconds(written(frames))).toBeCloseTo(10, 1);
  const tag = Buffer.from("ID3\x04\0\0\0\0\x40\0", "latin1");
  expect(await soundSeconds(written(Buffer.concat([tag, Buffer.alloc(8_192), frames])))).toBeCloseTo(10, 1);
  const counted = Buffer.from(mp3Frame);
  counted.write("Xing\0\0\0\x01", 36, "latin1");
  counted.writeUInt32BE(3_830, 44);
  expect(await soundSeconds(written(counted))).toBeCloseTo(100, 0);
});

test("an M4A file is measured by its header, before or behind the sound", async () => {
  const type = box("ftyp", Buffer.from("M4A \0\0\0\0"));
  const moov = box("moov", mvhd(44_100, 44_100 * 12));
  const sound = box("mdat", Buffer.alloc(10_000));
  expect(await soundSeconds(written(Buffer.concat([type, moov, sound])))).toBe(12);
  expect(await soundSeconds(written(Buffer.concat([type, sound, moov])))).toBe(12);
  expect(await soundSeconds(written(Buffer.concat([type, sound])))).toBeUndefined();
  expect(await soundSeconds(written(Buffer.concat([type, Buffer.alloc(64)])))).toBeUndefined();
});

test("a FLAC file is measured by its header", async () => {
  const flac = Buffer.alloc(64);
  flac.write("fLaC");
  flac.writeBigUInt64BE((48_000n << 44n) | (48_000n * 7n), 18);
  expect(await soundSeconds(written(flac))).toBe(7);
});

test("a file that states a shorter time than its size allows is counted by its size", async () => {
  const note = voiceNote("friday");
  const padded = Buffer.concat([note.subarray(0, 200), Buffer.alloc(6_400_000), note.subarray(200)]);
  expect(await soundSeconds(written(padded))).toBeGreaterThan(99);
  const hasty = wav(300);
  hasty.writeUInt32LE(4_000_000_000, 28);
  expect(await soundSeconds(written(hasty))).toBeGreaterThan(24);
  const short = Buffer.alloc(4_800_000);
  short.write("fLaC");
  short.writeBigUInt64BE((48_000n << 44n) | 48n, 18);
  expect(await soundSeconds(written(short))).toBe(25);
});

test("a note that is made here has the length of its WAV", async ({ skip }) => {
  const made = madeHere("The quick brown fox jumps over the lazy dog.");
  if (made === undefined) return skip("espeak-ng or opusenc is not installed");
  const [wavSeconds = 0, seconds = 0] = [await soundSeconds(made.wav), await soundSeconds(made.note)];
  expect(wavSeconds).toBeGreaterThan(1);
  expect(seconds).toBeCloseTo(wavSeconds, 1);
});
