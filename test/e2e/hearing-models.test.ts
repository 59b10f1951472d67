/** Agents whose models listen to voice messages themselves. */
import { expect, test } from "vitest";
import ai from "../../plugins/ai/index.ts";
import { hang, refuse, say } from "../openai-server/answers.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { onTestFinished } from "../support/own-test.ts";
import { voiceNote } from "../support/voice-notes.ts";
import { kitchen } from "./conversation.ts";
import { converseAloud, type VoiceOptions } from "./voice-room.ts";

async function open({ channel, in: listener }: Pick<VoiceOptions, "channel"> & { readonly in?: object } = {}) {
  const model = await createOpenAiServer();
  onTestFinished(() => model.close());
  const place = await converseAloud({
    plugins: [ai],
    settings: listener === undefined ? {} : { in: listener },
    providers: {
      local: { api: "openai-compatible", baseUrl: model.url, models: { small: { audio: true } } },
    },
    config: { agents: { list: [{ id: "mark", name: "Mark", engine: "ai", model: "local/small" }] } },
    ...(channel && { channel }),
  });
  await place.start();
  const contents = () => model.requests.map(({ body }) => body.messages.at(-1)?.content);
  return { ...place, model, contents };
}

const heard = { type: "input_audio", input_audio: { format: "ogg", data: voiceNote("friday").toString("base64") } };
const textOf = (text: RegExp) => ({ type: "text", text: expect.stringMatching(text) });

test("where nothing else transcribes, the model writes the words down, and then listens to the file", async () => {
  const place = await open();
  place.model.script(say("What is on the list?"), say("Milk."));
  place.speak(place.ada, place.ada);
  expect(await place.ended(1)).toEqual(["answered answered"]);
  expect(place.contents()).toEqual([
    [textOf(/^Write down what is said in this recording\.$/), heard],
    [textOf(/transcribed by a machine\] What is on the list\?\n\[attached voice audio\/ogg/), heard],
  ]);
  expect(place.messages(place.ada).map(({ text }) => text)).toEqual(["Milk."]);
  expect((await place.usage()).map(({ purpose }) => purpose)).toEqual(["transcribe", "turn"]);
});

test("what is set for that is asked for the words, and the model listens, too", async () => {
  const place = await open({ in: { model: "ears/small" } });
  place.speech.script({ text: "What is on the list?" });
  place.speak(place.ada, place.ada);
  await place.ended(1);
  expect(place.speech.requests).toHaveLength(1);
  expect(place.contents()).toEqual([[textOf(/machine\] What is on the list\?/), heard]]);
});

test("if nothing transcribes at the moment, the model answers what it hears", async () => {
  const place = await open({ in: { model: "ears/small" } });
  place.speech.script({ status: 401 });
  place.model.script(refuse(400, "no"), say("You said: milk."));
  place.speak(place.ada, place.ada);
  expect(await place.ended(1)).toEqual(["answered answered"]);
  expect(place.contents().at(-1)).toEqual([textOf(/UTC\] <media:audio>\n/), heard]);
  expect(await place.codes()).toContain("speech_failed");
});

test("a spoken stop stops, and a spoken name in a group is a mention", async () => {
  const place = await open({ channel: { groups: { "*": { requireMention: true } } } });
  place.model.script(hang(), say("Stop."));
  place.platform.act.say(place.ada, place.ada, "Write a novel.");
  await expect.poll(() => place.model.requests.length).toBe(1);
  place.speak(place.ada, place.ada, { bytes: voiceNote("stop") });
  expect(await place.ended(2)).toEqual(["silent stopped", "answered answered"]);
  expect(place.messages(place.ada).map(({ text }) => text)).toEqual(["Stopped."]);
  place.model.script(say("Nobody likes Mondays."), say("Mark, are you there?"), say("Yes."));
  place.speak(place.ada, kitchen);
  expect((await place.ended(3)).at(-1)).toBe("silent mention_required");
  place.speak(place.bela, kitchen);
  expect((await place.ended(4)).at(-1)).toBe("answered answered");
  expect(place.messages(kitchen).map(({ text }) => text)).toEqual(["Yes."]);
});
