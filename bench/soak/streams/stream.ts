/** One reply that is written at some speed, shown while it grows, and sent, in a chat with random faults. */
import { createRandom, type Random } from "../random.ts";
import type { Clock } from "./clock.ts";
import type { Fault } from "./fake-chat.ts";
import type { Outcome } from "./judge.ts";
import { answer, messagesOf, openPreview, openRoom } from "./room.ts";

/** The properties that a seed determines. */
export interface Stream {
  readonly text: string;
  readonly tokensPerSecond: number;
  readonly group: boolean;
  readonly mode: "partial" | "block";
  readonly messageLimit: number;
  /** Share of calls with a fault. */
  readonly faulty: number;
}

export const charsOfToken = 4;
const mostChars = 50_000;
const mostTokens = 500;
/** A faster stream comes in pieces of several tokens. */
const shortestTickMs = 20;
const faults: readonly Fault[] = ["flood", "refuse", "reset-before", "reset-after"];
const pieces = [
  "word ",
  "another one, ",
  "**bold words** ",
  "`code` ",
  "a sentence ends. ",
  "\n\n",
  "\n- a point\n",
  "_slanted_ ",
  "~~no~~ ",
  "😀 ",
];

/** Evenly spread over the orders of magnitude. */
const upTo = (most: number, random: Random) => Math.round(most ** random.next());

export function drawStream(random: Random): Stream {
  const length = upTo(mostChars, random);
  const tokensPerSecond = upTo(mostTokens, random);
  let text = "";
  while (text.length < length) text += random.pick(pieces);
  return {
    text: text.slice(0, length),
    tokensPerSecond,
    group: random.chance(0.3),
    mode: random.chance(0.2) ? "block" : "partial",
    messageLimit: random.chance(0.2) ? 1_000 : 4_000,
    faulty: random.chance(0.5) ? random.between(0, 0.3) : 0,
  };
}

/** Advances the clock until the work is done. */
async function finished<Result>(work: Promise<Result>, clock: Clock): Promise<Result> {
  let ended = false;
  const settled = work.finally(() => {
    ended = true;
  });
  settled.catch(() => {});
  while (!ended) await clock.pass(100);
  return settled;
}

export async function runStream(
  seed: number,
  clock: Clock,
): Promise<{ readonly stream: Stream; readonly outcome: Outcome }> {
  const random = createRandom(seed);
  const stream = drawStream(random);
  const { text, tokensPerSecond, group, mode, messageLimit, faulty } = stream;
  const room = openRoom({
    chat: group ? "-1001" : "1001",
    settings: { streamMode: mode, textChunkLimit: messageLimit },
    latency: () => random.between(5, 205),
  });
  room.chat.fault = () => (random.chance(faulty) ? random.pick(faults) : undefined);
  const began = Date.now();
  const preview = openPreview(room);
  const charsPerSecond = tokensPerSecond * charsOfToken;
  const tickMs = Math.max(shortestTickMs, 1_000 / charsPerSecond);
  for (let shown = 0; shown < text.length; ) {
    shown = Math.min(text.length, shown + Math.ceil((charsPerSecond * tickMs) / 1_000));
    preview.update(text.slice(0, shown));
    await clock.pass(tickMs);
  }
  const previews = await finished(preview.close(), clock);
  const { failure } = await finished(answer(room, text, previews), clock);
  const outcome = {
    calls: room.chat.calls,
    shown: [...room.chat.messages.values()].map(({ html }) => html),
    wanted: messagesOf(text, room),
    failure,
    tookMs: Date.now() - began,
  };
  return { stream, outcome };
}
