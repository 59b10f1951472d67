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

test("a note that is made here has the length of its WAV", async ({ skip }) => {
  const made = madeHere("The quick brown fox jumps over the lazy dog.");
  if (made === undefined) return skip("espeak-ng or opusenc is not installed");
  const [wavSeconds = 0, seconds = 0] = [await soundSeconds(made.wav), await soundSeconds(made.note)];
  expect(wavSeconds).toBeGreaterThan(1);
  expect(seconds).toBeCloseTo(wavSeconds, 1);
});
