/** Replies as voice messages: when they are spoken, and that the text always arrives. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/directory.ts";
import { voiceNote } from "../support/voice-notes.ts";
import { converseAloud, listening, type SpeakingPlace, type VoiceOptions } from "./voice-room.ts";

const speaking = { model: "ears/loud", voice: "ash" };

async function open(options: VoiceOptions & { readonly out?: object } = {}): Promise<SpeakingPlace> {
  const { out = speaking, ...others } = options;
  const place = await converseAloud({ settings: { ...listening, out }, ...others });
  await place.start();
  return place;
}

const spoken = ({ speech }: SpeakingPlace) => speech.requests.filter(({ path }) => path.endsWith("/speech"));
const calls = ({ platform }: SpeakingPlace) =>
  platform.calls
    .list()
    .flatMap(({ method }) => (method.startsWith("send") && method !== "sendChatAction" ? [method] : []));

test("a reply with the tag is shown as a voice message, with its text as the caption", async () => {
  const place = await open({ answer: () => "[[audio_as_voice]]It is **sunny**, see https://example.org/weather." });
  place.platform.act.say(place.ada, place.ada, "how is the weather? tell me by voice");
  expect(await place.ended(1)).toEqual(["answered answered"]);
  const [sent, ...more] = place.messages(place.ada);
  expect(more).toEqual([]);
  expect(calls(place)).toEqual(["sendVoice"]);
  expect(sent).toMatchObject({
    voice: { mime_type: "audio/ogg", file_size: voiceNote("friday").length },
    caption: "It is sunny, see https://example.org/weather.",
  });
  expect(spoken(place)).toMatchObject([
    {
      key: "Bearer sk-ears-0123456789",
      fields: { model: "loud", voice: "ash", input: "It is sunny, see", response_format: "opus" },
    },
  ]);
  expect(place.turns[0]?.instructions).toContain("Without attached audio, your reply is spoken.");
  expect(await place.codes()).toContain("speech_spoken");
});

test.each([
  ["asked", 0],
  ["inbound", 1],
  ["never", 0],
] as const)("a spoken message is answered as `when: %s` says", async (when, times) => {
  const place = await open({ out: { ...speaking, when } });
  place.speech.script({ text: "hello" });
  place.speak(place.ada, place.ada);
  await place.ended(1);
  place.platform.act.say(place.ada, place.ada, "and in writing");
  await place.ended(2);
  expect(spoken(place)).toHaveLength(times);
  expect(calls(place)).toEqual([times === 1 ? "sendVoice" : "sendMessage", "sendMessage"]);
});

test("the tag has no effect where nothing speaks, and a model does not read of it", async () => {
  const place = await open({ out: { ...speaking, when: "never" }, answer: () => "[[audio_as_voice]]sunny" });
  place.platform.act.say(place.ada, place.ada, "tell me by voice");
  await place.ended(1);
  expect(place.messages(place.ada).map(({ text }) => text)).toEqual(["sunny"]);
  expect(place.turns[0]?.instructions).not.toContain("your reply is spoken");
});

test("a text that is too long for a caption follows, and one of more than 4,000 characters is not spoken", async () => {
  const place = await open({
    answer: (_turn, count) => `[[audio_as_voice]]${"All is well. ".repeat(count === 1 ? 150 : 310)}`,
  });
  place.platform.act.say(place.ada, place.ada, "long");
  await place.ended(1);
  expect(calls(place)).toEqual(["sendVoice", "sendMessage"]);
  place.platform.act.say(place.ada, place.ada, "longer");
  await place.ended(2);
  expect(calls(place).filter((method) => method === "sendVoice")).toHaveLength(1);
  expect(spoken(place)).toHaveLength(1);
  const why = (await place.events())[1]?.decisions.find(({ code }) => code === "speech_not_spoken");
  expect(why?.detail).toBe("it has more than 4000 characters");
});

test.each([
  ["fails", { status: 500 }, /out of order$/],
  ["returns no sound", { bytes: Buffer.from("<html>sorry</html>") }, /returned a file of the type text\/plain$/],
  ["returns nothing", { bytes: Buffer.alloc(0) }, /returned an empty file$/],
])("the text is sent alone if the server %s", async (_name, answer, detail) => {
  const place = await open({ answer: () => "[[audio_as_voice]]sunny" });
  place.speech.script(answer);
  place.platform.act.say(place.ada, place.ada, "tell me");
  expect(await place.ended(1)).toEqual(["answered answered"]);
  expect(place.messages(place.ada).map(({ text }) => text)).toEqual(["sunny"]);
  const why = (await place.events())[0]?.decisions.find(({ code }) => code === "speech_not_spoken");
  expect(why?.detail).toMatch(detail);
});

test("a person sees that something happens while a reply is spoken", async () => {
  const place = await open({ out: { ...speaking, timeoutSeconds: 2 }, answer: () => "[[audio_as_voice]]sunny" });
  place.speech.script({ hang: true });
  place.platform.act.say(place.ada, place.ada, "tell me");
  await expect.poll(() => spoken(place).length).toBe(1);
  await expect.poll(() => place.platform.calls.list({ method: "sendChatAction" }).length).toBeGreaterThan(0);
  expect(calls(place)).toEqual([]);
  await place.ended(1);
  expect(calls(place)).toEqual(["sendMessage"]);
});

test("a spoken reply that a message replies to is read by its caption, and not transcribed", async () => {
  const place = await open({ answer: (_turn, count) => (count === 1 ? "[[audio_as_voice]]It is sunny." : "yes") });
  place.platform.act.say(place.ada, place.ada, "tell me");
  await place.ended(1);
  place.platform.act.say(place.ada, place.ada, "really?", { replyTo: place.messages(place.ada)[0]?.message_id });
  await place.ended(2);
  expect(place.lastAsked()).toContain("It is sunny.");
  expect(place.speech.requests).toHaveLength(1);
});

test("a used-up budget leaves the text", async () => {
  const place = await open({
    answer: () => "[[audio_as_voice]]sunny",
    prices: { "ears/loud": { minute: 100 } },
    config: { budget: { perDayUsd: 1 } },
  });
  place.platform.act.say(place.ada, place.ada, "tell me");
  expect(await place.ended(1)).toEqual(["answered answered"]);
  expect(place.messages(place.ada).map(({ text }) => text)).toEqual(["sunny"]);
  expect(spoken(place)).toEqual([]);
});

test("a program speaks, and is handed the text as a file only", async () => {
  const directory = temporaryDirectory();
  const file = join(directory, "speak.mjs");
  const note = join(directory, "note.ogg");
  writeFileSync(note, voiceNote("friday"));
  writeFileSync(
    file,
    `import { copyFileSync, readFileSync } from "node:fs";
     const [text, output, ...more] = process.argv.slice(2);
     if (more.length > 0 || readFileSync(text, "utf8") !== "$(reboot); 'sunny'") process.exit(3);
     copyFileSync(${JSON.stringify(note)}, output);`,
  );
  const place = await open({
    out: { command: [process.execPath, file, "{text}", "{output}"] },
    answer: () => "[[audio_as_voice]]$(reboot); 'sunny'",
  });
  place.platform.act.say(place.ada, place.ada, "tell me");
  await place.ended(1);
  expect(calls(place)).toEqual(["sendVoice"]);
  expect(place.messages(place.ada)[0]?.caption).toBe("$(reboot); 'sunny'");
});

test("what is spoken and transcribed is in the report of costs", async () => {
  const place = await open({ out: { ...speaking, when: "inbound" }, prices: { "ears/*": { minute: 0.06 } } });
  place.speech.script({ text: "hello" });
  place.speak(place.ada, place.ada);
  await place.ended(1);
  expect(await place.usage()).toEqual([
    { purpose: "speak", model: "ears/loud", calls: 1, usd: expect.closeTo(0.001, 6) },
    { purpose: "transcribe", model: "ears/small", calls: 1, usd: expect.closeTo(0.0021, 3) },
  ]);
});
