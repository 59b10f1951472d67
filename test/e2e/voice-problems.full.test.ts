/** Voice messages that cannot be transcribed, or that say nothing: what the person and the operator read. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import ai from "../../plugins/ai/index.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { temporaryDirectory } from "../support/directory.ts";
import { onTestFinished } from "../support/own-test.ts";
import { voiceNote } from "../support/voice-notes.ts";
import { converse } from "./conversation.ts";
import { converseAloud, listening, type SpeakingPlace } from "./voice-room.ts";

/** A program that transcribes: it checks its file as a decoder would, and prints as whisper.cpp does. */
function program(text: string): readonly string[] {
  const file = join(temporaryDirectory(), "listen.mjs");
  writeFileSync(
    file,
    `import { readFileSync } from "node:fs";
     const [path, ...more] = process.argv.slice(2);
     if (more.length > 0 || readFileSync(path).subarray(0, 4).toString() !== "OggS") process.exit(3);
     console.error("loading the model");
     console.log("[00:00:00.000 --> 00:00:02.000]  " + ${JSON.stringify(text)});`,
  );
  return [process.execPath, file, "{file}"];
}

const lastText = (place: SpeakingPlace) => place.messages(place.ada).at(-1)?.text;
async function lastDecision(place: SpeakingPlace, code: string) {
  return (await place.events()).at(-1)?.decisions.find((decision) => decision.code === code);
}

describe("a program", () => {
  test("transcribes where no server is set", async () => {
    const place = await converseAloud({ settings: { in: { command: program("Buy milk, please.") } } });
    await place.start();
    place.speak(place.ada, place.ada);
    await place.asked(1);
    expect(place.lastAsked()).toContain("machine] Buy milk, please.\n");
    await place.ended(1);
    expect((await lastDecision(place, "speech_heard"))?.detail).toMatch(/^17 characters by the program node/);
  });

  test("takes over from a server that does not work", async () => {
    const place = await converseAloud({
      settings: { in: [{ model: "ears/small" }, { command: program("Buy milk.") }] },
    });
    place.speech.script({ status: 503 });
    await place.start();
    place.speak(place.ada, place.ada);
    await place.asked(1);
    expect(place.lastAsked()).toContain("machine] Buy milk.\n");
    expect(place.speech.requests).toHaveLength(1);
  });

  test.each([
    ["is missing", ["/no/such/program", "{file}"], /did not start: there is no such program/],
    ["fails", [process.execPath, "-e", "console.error('no model'); process.exit(2)", "{file}"], /code 2: no model$/],
  ])("that %s is reported to the operator, and the person is asked to write", async (_name, command, detail) => {
    const place = await converseAloud({ settings: { in: { command } } });
    await place.start();
    place.speak(place.ada, place.ada);
    expect(await place.ended(1)).toEqual(["failed speech_failed"]);
    expect(lastText(place)).toBe("Sorry, I could not understand this voice message. Please write to me instead.");
    expect((await lastDecision(place, "speech_failed"))?.detail).toMatch(detail);
  });
});

describe("a voice message", () => {
  test.each(["", " \n", "[BLANK_AUDIO]", "(wind blowing) ♪ la la la ♪", "Transcribe the audio."])(
    "in which nothing is said (%j) is answered without a model, and is no command",
    async (text) => {
      const place = await converseAloud();
      place.speech.script({ text });
      await place.start();
      place.speak(place.ada, place.ada);
      expect(await place.ended(1)).toEqual(["answered answered"]);
      expect(lastText(place)).toMatch(/^I could not make out any words in your voice message\./);
      expect(place.turns).toEqual([]);
      expect(await place.codes()).toContain("speech_empty");
    },
  );

  test("with a caption is answered by the caption if nothing is said in it", async () => {
    const place = await converseAloud();
    await place.start();
    place.speak(place.ada, place.ada, { caption: "who sings this?" });
    await place.asked(1);
    expect(place.lastAsked()).toMatch(/UTC\] <media:audio>\nwho sings this\?/);
  });

  test("that is no sound is not sent to a server", async () => {
    const place = await converseAloud();
    await place.start();
    place.speak(place.ada, place.ada, { bytes: Buffer.from("<html>this is not a sound</html>".repeat(20)) });
    expect(await place.ended(1)).toEqual(["failed speech_failed"]);
    expect((await lastDecision(place, "speech_failed"))?.detail).toBe(
      "the file is of the type text/plain, which is not sound",
    );
    expect(place.speech.requests).toEqual([]);
  });

  test("of more than ten minutes is not transcribed, and the person reads the limit", async () => {
    const bytes = voiceNote("friday");
    bytes.writeBigInt64LE(BigInt(48_000 * 601), bytes.lastIndexOf("OggS") + 6);
    const place = await converseAloud();
    await place.start();
    place.speak(place.ada, place.ada, { bytes });
    expect(await place.ended(1)).toEqual(["failed speech_too_long"]);
    expect(lastText(place)).toContain("voice messages of at most 10 minutes and 25 MB");
    expect(place.speech.requests).toEqual([]);
  });

  test.each([
    ["rejects the key", { status: 401 }, /^ears\/small: ears at http:.* rejects the key \(401\): out of order$/],
    [
      "answers with a web page",
      { bytes: Buffer.from("<html>") },
      /answered with something that is not a transcription$/,
    ],
    ["refuses the file", { status: 400, body: '{"error":{"message":"Invalid file format."}}' }, /Invalid file format$/],
  ])(
    "fails for good if the server %s",
    async (_name, answer, detail) => {
      const place = await converseAloud();
      place.speech.script(answer);
      await place.start();
      place.speak(place.ada, place.ada);
      const [end] = await place.ended(1);
      expect(end).toMatch(/^failed speech_/);
      expect((await lastDecision(place, end?.split(" ")[1] ?? ""))?.detail).toMatch(detail);
      expect(JSON.stringify(await place.events())).not.toContain("sk-ears");
    },
    20_000,
  );

  test("is not waited for longer than timeoutSeconds", async () => {
    const place = await converseAloud({ settings: { in: { model: "ears/small", timeoutSeconds: 1 } } });
    place.speech.script({ hang: true });
    await place.start();
    place.speak(place.ada, place.ada);
    expect(await place.ended(1)).toEqual(["failed speech_unavailable"]);
    expect((await lastDecision(place, "speech_unavailable"))?.detail).toBe(
      "ears/small: ears/small did not answer within 1 s",
    );
  });

  test("is paid by the minute, and refused where the budget has no room for it", async () => {
    const place = await converseAloud({
      prices: { "ears/small": { minute: 0.6 } },
      config: { budget: { perDayUsd: 0.03 } },
    });
    place.speech.script({ text: "one" }, { text: "two" });
    await place.start();
    place.speak(place.ada, place.ada);
    await place.asked(1);
    place.speak(place.ada, place.ada, { bytes: voiceNote("friday") });
    expect(await place.ended(2)).toEqual(["answered answered", "refused budget_exceeded"]);
    expect(lastText(place)).toMatch(/used up what I may spend today/);
    expect(place.speech.requests).toHaveLength(1);
    expect((await lastDecision(place, "budget_exceeded"))?.path).toBe("budget.perDayUsd");
  });
});

test("a person whose voice messages nothing transcribes reads that once", async () => {
  const model = await createOpenAiServer();
  onTestFinished(() => model.close());
  const place = await converse({
    plugins: [ai],
    config: {
      models: { providers: { small: { api: "openai-compatible", baseUrl: model.url } } },
      agents: { defaults: { model: "small/small", engine: "ai" } },
    },
  });
  await place.start();
  const say = () =>
    place.platform.act.say(place.ada, place.ada, "", {
      media: { kind: "voice", bytes: voiceNote("friday"), fileName: "v.ogg", mimeType: "audio/ogg" },
    });
  say();
  await place.ended(1);
  expect(place.messages(place.ada).map(({ text }) => text)).toEqual([
    "I cannot listen to voice messages yet. Please write to me.",
  ]);
  expect(model.requests).toEqual([]);
  const why = (await place.events())[0]?.decisions.find(({ code }) => code === "speech_not_configured");
  expect(why).toBeDefined();
  say();
  await place.ended(2);
  expect(model.requests).toHaveLength(1);
  expect(place.messages(place.ada)).toHaveLength(2);
});

test("no one is notified of missing settings in a group in which nobody spoke to the bot", async () => {
  const place = await converseAloud({ settings: { ...listening, in: undefined }, channel: { groups: { "*": {} } } });
  await place.start();
  place.speak(place.ada, -1_001_000_000_001);
  await place.ended(1);
  expect(await place.codes()).not.toContain("speech_not_configured");
});
