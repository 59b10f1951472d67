/**
 * Voice messages over kills, with an engine in a worker, and while what transcribes is away. The notes are made here,
 * by espeak-ng and opusenc, where they are installed.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSqliteStore } from "../../core/state/sqlite/index.ts";
import { ownFlags, start, temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { hang } from "../openai-server/answers.ts";
import { listsIn, probe } from "../support/loaded-files.ts";
import { madeHere, voiceNote } from "../support/voice-notes.ts";
import { answered, answers, configure, kill, restart, startGatewayProcess, stop } from "./room.ts";
import { openVoicePlace } from "./voice-processes.ts";
import { converseAloud } from "./voice-room.ts";

test("a process that is killed after a transcription does not pay for it again", async () => {
  const { platform, model, speech, ada, config, speak } = await openVoicePlace();
  speech.script({ text: "Buy milk, please." });
  model.script(hang());
  const gateway = await startGatewayProcess(config);
  const made = madeHere("Buy milk, please.");
  speak(made && readFileSync(made.note));
  await expect.poll(() => model.requests.length, { timeout: 15_000 }).toBe(1);
  await kill(gateway);
  const again = await restart(gateway);
  await answered(platform, ada, "Buy milk, please.");
  expect(speech.requests).toHaveLength(1);
  const { out } = await run(["usage", "--by", "purpose", "--json", "--state", again.state], { home: again.home });
  expect(out).toContain('"transcribe"');
  await stop(again);
}, 60_000);

test("one that is killed while it transcribes transcribes again, and answers once", async () => {
  const { platform, speech, ada, config, speak } = await openVoicePlace();
  speech.script({ hang: true }, { text: "Buy milk, please." });
  const gateway = await startGatewayProcess(config);
  speak();
  await expect.poll(() => speech.requests.length, { timeout: 15_000 }).toBe(1);
  await kill(gateway);
  const again = await restart(gateway);
  await answered(platform, ada, "Buy milk, please.");
  expect(speech.requests).toHaveLength(2);
  expect(answers(platform, ada)).toHaveLength(1);
  await stop(again);
}, 60_000);

test("an engine in a worker transcribes and speaks", async () => {
  const { platform, speech, ada, config, speak } = await openVoicePlace({
    isolation: "worker",
    speech: { out: { model: "ears/loud", when: "inbound" } },
  });
  speech.script({ text: "Buy milk, please." });
  const gateway = await startGatewayProcess(config);
  speak();
  await expect.poll(() => platform.calls.list({ method: "sendVoice" }).length, { timeout: 15_000 }).toBe(1);
  expect(speech.requests.map(({ path }) => path)).toEqual(["/v1/audio/transcriptions", "/v1/audio/speech"]);
  const room = [...platform.world.rooms.values()].find(({ chat }) => chat.id === ada);
  const spoken = [...(room?.messages.values() ?? [])].find(({ from }) => from?.is_bot === true);
  expect(spoken?.voice?.file_size).toBe(voiceNote("friday").length);
  const { out } = await run(["usage", "--by", "purpose", "--json", "--state", gateway.state], {
    home: gateway.home,
  });
  expect(out).toMatch(/"speak"[\s\S]*"transcribe"|"transcribe"[\s\S]*"speak"/);
  await stop(gateway);
}, 60_000);

test.each([
  ["without", { in: undefined }, false],
  ["with", {}, true],
])(
  "a gateway %s models.speech.in that is sent a voice message loads nothing that transcribes or speaks, or does",
  async (_name, settings, loads) => {
    const { platform, ada, config, speech, speak } = await openVoicePlace({ speech: settings });
    speech.script({ text: "Buy milk, please." });
    const home = temporaryHome();
    const options = { home, nodeArgs: ["--import", probe, ...ownFlags] };
    const gateway = start(["gateway", "--config", configure(home, config)], options);
    await gateway.until(/ready at/);
    speak();
    await answered(platform, ada, loads ? "Buy milk, please." : "I cannot listen to voice messages yet.");
    gateway.child.kill("SIGTERM");
    const files = listsIn((await gateway.finished).err).flat();
    expect(files.length).toBeGreaterThan(200);
    expect(files.some((file) => /\/(?:agents|ai)\/speech\//.test(file))).toBe(loads);
  },
  60_000,
);

test("in an outage people are asked to write, and an owner reads two notices", async () => {
  const there = await converseAloud({
    config: { commands: { ownerAllowFrom: [1001] } },
    channel: { allowFrom: [1001, "*"] },
  });
  const { speech, ada, bela, messages } = there;
  const failures = Array.from({ length: 8 }, () => ({ status: 503 }));
  speech.script(...failures);
  await there.start();
  there.platform.act.say(ada, ada, "/whoami");
  await there.ended(1);
  there.speak(bela, bela);
  await expect.poll(() => messages(bela).length, { timeout: 30_000 }).toBe(1);
  there.speak(bela, bela, { bytes: voiceNote("stop") });
  await expect.poll(() => messages(bela).length, { timeout: 30_000 }).toBe(2);
  for (const { text } of messages(bela))
    expect(text).toBe(
      "Sorry, I cannot listen to voice messages at the moment. Please send it again later, or write to me.",
    );
  expect(speech.requests).toHaveLength(8);
  const notices = () => messages(ada).flatMap(({ text = "" }) => (text.startsWith("Voice messages:") ? [text] : []));
  await expect
    .poll(notices)
    .toEqual([expect.stringMatching(/^Voice messages: ears at http:\S+ failed \(503\): out of order\. People whose/)]);
  speech.script({ text: "Buy milk." });
  there.speak(bela, bela);
  await there.asked(1);
  await expect.poll(() => notices().at(-1)).toBe("Voice messages: ears/small works again.");
  expect(notices()).toHaveLength(2);
}, 90_000);

test("a made voice note is transcribed in a group where it names the bot", async ({ skip }) => {
  const made = madeHere("Mark, are you there?");
  if (made === undefined) return skip("espeak-ng or opusenc is not installed");
  const note = readFileSync(made.note);
  const there = await converseAloud({ channel: { groups: { "*": { requireMention: true } } } });
  there.speech.script({ text: "Mark, are you there?" });
  await there.start();
  there.speak(there.ada, -1_001_000_000_001, { bytes: note });
  await there.asked(1);
  expect(there.speech.requests[0]?.file?.bytes.equals(note)).toBe(true);
});

test("what was said is exported, and goes with the person, also the sound of both", async () => {
  const speaking = { out: { model: "ears/voice", when: "inbound" } };
  const { speech, ada, config, speak } = await openVoicePlace({ speech: speaking });
  speech.script({ text: "My secret is strawberries." });
  const gateway = await startGatewayProcess(config);
  speak();
  await expect.poll(() => speech.requests.length, { timeout: 15_000 }).toBe(2);
  const command = (...args: readonly string[]) => run([...args, "--state", gateway.state], { home: gateway.home });
  const rows = async () => {
    const store = await openSqliteStore({ directory: gateway.state, now: Date.now });
    return await store.list("transcripts").finally(() => store.close());
  };
  await expect.poll(async () => (await command("status")).out, { timeout: 15_000 }).toContain("0 waiting, 0 running");
  expect(await rows()).toHaveLength(1);
  const sounds = () => readdirSync(join(gateway.state, "botchat", "default", "media"));
  expect(sounds()).toHaveLength(2);
  expect((await command("privacy", "export", `botchat:${ada}`)).out).toContain("transcripts");
  expect((await command("privacy", "erase", `botchat:${ada}`)).code).toBe(0);
  expect(await rows()).toEqual([]);
  expect(sounds()).toEqual([]);
  await stop(gateway);
}, 60_000);
