/** Streams over real HTTP, at their real rates, on the real clock: many chats at once with one gateway. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Chance } from "../../../../plugins/playground/platform/index.ts";
import { inWorkshop, type Workshop } from "../../../cases/processes.ts";
import { createRandom } from "../../random.ts";
import { type ChatCall, compare, distances, doubtfulSends, judge, type Outcome } from "../judge.ts";
import { charsOfToken, drawStream, type Stream } from "../stream.ts";
import { chatCallOf } from "./mishaps.ts";
import { openStage, type Stage } from "./stage.ts";
import { askFor, type LiveStream } from "./stream.ts";
import { saysAll } from "./words.ts";

export interface LiveRun {
  readonly seeds: readonly number[];
  /** Number of chats that are busy at the same time, each with one stream after the other. */
  readonly atOnce: number;
  readonly tell: (line: string) => void;
  /** Wrong channel options, whose violations must be reported. */
  readonly spoilt?: object;
}

export interface LiveFindings {
  readonly violations: readonly string[];
  readonly outcomes: readonly Outcome[];
}

/** Enough that one bot sometimes has more to show than it may. */
const atOnce = 100;
/** Longer streams run on the simulated clock. */
const longestMs = 60_000;
/** The reply in a group waits for its twenty messages a minute, and for each flood wait. */
const mostMsForOne = 600_000;
const lookEveryMs = 200;
const tellEveryMs = 15_000;

/** How long a stream is written, in milliseconds. */
export const writingMs = ({ text, tokensPerSecond }: Stream) =>
  (text.length * 1_000) / (tokensPerSecond * charsOfToken);

/** The first `count` seeds whose streams are not written for too long. */
export function liveSeeds(count: number, first: number): readonly number[] {
  const seeds: number[] = [];
  for (let seed = first; seeds.length < count; seed += 1)
    if (writingMs(drawStream(createRandom(seed))) <= longestMs) seeds.push(seed);
  return seeds;
}

/** Prints the result; resolves with the number of violated rules. */
export async function runLive({ count, first }: { readonly count: number; readonly first: number }): Promise<number> {
  const began = performance.now();
  const tell = (line: string) => console.log(line);
  tell(`soak: ${count} live streams, seeds from ${first}`);
  const { violations, outcomes } = await inWorkshop(async (workshop) => {
    const findings = await streamLive(workshop, { seeds: liveSeeds(count, first), atOnce, tell });
    if (findings.violations.length > 0) {
      workshop.keep();
      tell(`The state is kept in ${workshop.directory}.`);
    }
    return findings;
  });
  tell(`${Math.round((performance.now() - began) / 1_000)} s; ${sumOf(outcomes)}`);
  tell(violations.length === 0 ? "1 passed, 0 failed" : `0 passed, 1 failed: ${violations.length} violations`);
  return violations.length;
}

export async function streamLive(
  workshop: Workshop,
  { seeds, atOnce, tell, spoilt = {} }: LiveRun,
): Promise<LiveFindings> {
  const streams = new Map(seeds.map((seed) => [seed, drawStream(createRandom(seed))]));
  /** By chat. */
  const open = new Map<number, LiveStream>();
  const chance: Chance = (method, { chat_id: chat }) => open.get(Number(chat))?.mishap(method);
  const stage = await openStage(workshop, { people: atOnce, streams, chance, spoilt });
  const violations: string[] = [];
  const outcomes: Outcome[] = [];
  const complain = (violation: string) => {
    violations.push(violation);
    tell(`FAIL ${violation}`);
  };
  const waiting = [...seeds];
  const work = async (place: number) => {
    for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
      const stream = askFor(seed, { position: place, platform: stage.platform });
      open.set(stream.chat, stream);
      const outcome = await ended(stream, stage);
      open.delete(stream.chat);
      if (outcome !== undefined) outcomes.push(outcome);
      // Whatever the fault is, the other streams would wait just as long for it.
      else waiting.splice(0);
      for (const violation of faultsOf(stream, outcome)) complain(`${named(stream)}: ${violation}`);
    }
  };
  /** There may be no calls outside of the streams. */
  const strays = hear(stage, open);
  const progress = setInterval(
    () => tell(`${outcomes.length} of ${seeds.length} streams, ${open.size} under way`),
    tellEveryMs,
  );
  try {
    await Promise.all(Array.from({ length: Math.min(atOnce, seeds.length) }, (_, place) => work(place)));
    const how = await stage.stop();
    if (how !== 0) complain(`the gateway ended with ${how}`);
    if (strays.length > 0) complain(`${strays.length} calls came after the end of their stream`);
    return { violations, outcomes };
  } finally {
    clearInterval(progress);
    await stage.close();
  }
}

/** Passes to each stream what the platform saw of it; keeps the rest. */
function hear({ platform }: Stage, open: ReadonlyMap<number, LiveStream>): readonly ChatCall[] {
  const strays: ChatCall[] = [];
  platform.on((event) => {
    if (event.type !== "call") return;
    for (const call of platform.calls.list({ since: event.seq })) {
      const seen = chatCallOf(call);
      if (seen === undefined) continue;
      const stream = open.get(Number(call.params.chat_id));
      if (stream === undefined) strays.push(seen);
      else stream.note(seen);
    }
    platform.calls.clear();
  });
  return strays;
}

async function ended(stream: LiveStream, { ends, isUp }: Stage): Promise<Outcome | undefined> {
  while (isUp() && performance.now() - stream.began < mostMsForOne) {
    await sleep(lookEveryMs);
    const end = ends().get(stream.seed);
    if (end !== undefined) return stream.outcome(end);
  }
  return undefined;
}

function faultsOf({ stream, began }: LiveStream, outcome: Outcome | undefined): readonly string[] {
  if (outcome === undefined) return [`it had not ended after ${Math.round((performance.now() - began) / 1_000)} s`];
  const texts = outcome.wanted.map((message) => String((JSON.parse(message) as readonly unknown[])[0]));
  return [...judge(outcome), ...(saysAll(stream.text, texts) ? [] : ["the messages do not say what was written"])];
}

function named({ seed, stream: { text, tokensPerSecond, group, mode, messageLimit } }: LiveStream): string {
  const place = `${group ? "group" : "direct chat"}, ${mode}, messages of ${messageLimit}`;
  return `seed ${seed} (${text.length} characters, ${tokensPerSecond} tokens a second, ${place})`;
}

function sumOf(outcomes: readonly Outcome[]): string {
  const calls = outcomes.flatMap((outcome) => outcome.calls);
  const fates = [...Map.groupBy(calls, ({ fate }) => fate)].map(([fate, of]) => `${of.length} ${fate}`);
  const least = Math.min(...outcomes.flatMap((outcome) => distances(outcome.calls)));
  const differences = outcomes.map(compare);
  const total = (of: (difference: (typeof differences)[number]) => number) =>
    differences.reduce((sum, one) => sum + of(one), 0);
  return [
    `${outcomes.length} streams, ${calls.length} calls (${fates.join(", ")}), at least ${least} ms apart in a chat`,
    `ambiguous: ${doubtfulSends(calls)} messages of unknown fate, ${total(({ beyond }) => beyond)} that ` +
      `stayed, ${total(({ missing }) => missing)} given up`,
  ].join("; ");
}
