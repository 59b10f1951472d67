/** Processes that are killed while a message is transcribed, while a reply is spoken, and while it is sent. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { EventReport } from "../../core/state/report.ts";
import type { Platform } from "../../plugins/playground/platform/index.ts";
import { run } from "../core/cli/command-runner.ts";
import { answers, kill, type Running, restart, startGatewayProcess, stop } from "./room.ts";
import { openVoicePlace } from "./voice-processes.ts";

const kills = 20;

/** The words of this round, and no others. */
const wordsOf = (round: number): string => `Word number ${round}.`;

async function rows({
  state,
  home,
}: Running): Promise<readonly { readonly purpose: string; readonly calls: number }[]> {
  const { out } = await run(["usage", "--by", "purpose", "--json", "--state", state], { home });
  return (JSON.parse(out) as { readonly usage: readonly { readonly purpose: string; readonly calls: number }[] }).usage;
}

async function events({ state, home }: Running): Promise<readonly EventReport[]> {
  const { out } = await run(["events", "list", "--json", "--limit", "100", "--state", state], { home });
  return (JSON.parse(out) as { readonly events: readonly EventReport[] }).events;
}

async function why({ state, home }: Running, id: string): Promise<string> {
  return (await run(["why", id, "--json", "--state", state], { home })).out;
}

test(`${kills} kills in a transcription: each message is answered once, each call is in the ledger`, async () => {
  const { platform, speech, ada, config, speak } = await openVoicePlace();
  let gateway = await startGatewayProcess(config);
  for (let round = 1; round <= kills; round += 1) {
    speech.script({ hang: true }, { text: wordsOf(round) });
    speak(Buffer.from(`OggS round ${round}`));
    await expect.poll(() => speech.requests.length).toBe(2 * round - 1);
    await kill(gateway);
    gateway = await restart(gateway);
    await expect.poll(() => answers(platform, ada).length).toBe(round);
    expect(answers(platform, ada).at(-1)).toContain(wordsOf(round));
  }
  expect(speech.requests).toHaveLength(2 * kills);
  const found = Object.fromEntries((await rows(gateway)).map(({ purpose, calls }) => [purpose, calls]));
  expect(found).toEqual({ transcribe: 2 * kills, turn: kills });
  await stop(gateway);
}, 600_000);

function voicesIn({ world }: Platform, chatId: number, round: number) {
  const room = [...world.rooms.values()].find(({ chat }) => chat.id === chatId);
  return [...(room?.messages.values() ?? [])].filter(
    ({ caption = "", voice }: { readonly caption?: string; readonly voice?: object }) =>
      voice !== undefined && caption.includes(wordsOf(round)),
  );
}

test(`${kills} kills while a reply is spoken: it arrives once, each call is in the ledger`, async () => {
  const out = { model: "ears/loud", when: "inbound" };
  const { platform, speech, ada, config, speak } = await openVoicePlace({ speech: { out } });
  let gateway = await startGatewayProcess(config);
  const sent = (round: number) => voicesIn(platform, ada, round);
  const spoken = () => speech.requests.filter(({ path }) => path.endsWith("/speech"));
  for (let round = 1; round <= kills; round += 1) {
    speech.script({ text: wordsOf(round) }, { hang: true });
    speak(Buffer.from(`OggS round ${round}`));
    await expect.poll(() => spoken().length).toBe(2 * round - 1);
    await kill(gateway);
    gateway = await restart(gateway);
    await expect.poll(() => sent(round).length).toBe(1);
  }
  expect(platform.calls.list({ method: "sendVoice" })).toHaveLength(kills);
  expect(platform.calls.list({ method: "sendMessage" })).toEqual([]);
  const found = Object.fromEntries((await rows(gateway)).map(({ purpose, calls }) => [purpose, calls]));
  expect(found).toEqual({ speak: 2 * kills, transcribe: kills, turn: 2 * kills });
  await stop(gateway);
}, 600_000);

test(`${kills} kills around the sending: a voice message is there once, or twice with a note`, async () => {
  const out = { model: "ears/loud", when: "inbound" };
  const { platform, speech, ada, config, speak } = await openVoicePlace({ speech: { out } });
  let gateway = await startGatewayProcess(config);
  const sent = (round: number) => voicesIn(platform, ada, round);
  for (let round = 1; round <= kills; round += 1) {
    speech.script({ text: wordsOf(round) });
    speak(Buffer.from(`OggS round ${round}`));
    const before = speech.requests.length;
    await expect.poll(() => speech.requests.length, { interval: 1 }).toBeGreaterThanOrEqual(before + 2);
    await delay(2 * (round - 1));
    await kill(gateway);
    gateway = await restart(gateway);
    await expect.poll(() => sent(round).length).toBeGreaterThanOrEqual(1);
  }
  await expect
    .poll(async () => (await events(gateway)).map(({ outcome }) => outcome))
    .toEqual(Array.from({ length: kills }, () => "answered"));
  const all = (await events(gateway)).toReversed();
  const twice = all.filter((_, index) => sent(index + 1).length > 1);
  for (const { id } of twice) expect(await why(gateway, id)).toContain("possibly_repeated");
  for (let round = 1; round <= kills; round += 1) expect(sent(round).length).toBeLessThanOrEqual(2);
  await stop(gateway);
}, 600_000);
