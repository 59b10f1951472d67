/** A turn of an engine: its stream, its end, and what it leaves. */
import { getEventListeners } from "node:events";
import { EngineError } from "../../../contract/index.ts";
import type { TurnEvent } from "../../../sdk/contract.ts";
import { frozen } from "../../channel/junk.ts";
import { untilNothingIsLeft, watchLeftovers } from "../../channel/leftovers.ts";
import { realWait } from "../../host/played-clock.ts";
import type { EngineBench, Run } from "../bench.ts";
import type { EngineRule } from "../rule.ts";

/** A turn that has to succeed. */
async function answered(bench: EngineBench, text: string): Promise<Run> {
  const run = await bench.run(bench.turn(text));
  if (run.error !== undefined) throw new Error(`A turn fails: ${String(run.error)}.`, { cause: run.error });
  return run;
}

async function endsOnce({ run, turn }: EngineBench): Promise<void> {
  const { events, error } = await run(turn("Hello, how are you?"));
  const ends = events.filter(({ type }) => type === "done").length;
  if (error !== undefined) throw new Error(`A turn fails: ${String(error)}.`, { cause: error });
  if (ends !== 1 || events.at(-1)?.type !== "done")
    throw new Error(
      `A turn has ${ends} done events, and its last event is ${events.at(-1)?.type}. End with one done event.`,
    );
}

async function says(bench: EngineBench): Promise<void> {
  const { text, events } = await answered(bench, "Hello, how are you?");
  if (text.trim() === "")
    throw new Error(
      `A turn has no text, only ${events.map(({ type }) => type).join(", ")}. Throw an EngineError if it failed.`,
    );
}

async function changesNothing(bench: EngineBench): Promise<void> {
  const { error } = await bench.run(frozen(bench.turn("Hello")));
  if (error instanceof TypeError) throw new Error(`The engine modifies its input: ${error.message}.`, { cause: error });
}

async function keepsApart(bench: EngineBench): Promise<void> {
  const texts = Array.from({ length: 5 }, (_, index) => `question number ${index} of several`);
  const alone = await answered(bench, texts[0] as string);
  const runs = await Promise.all(texts.map((text) => answered(bench, text)));
  if (runs[0]?.text !== alone.text)
    throw new Error("A turn replies differently while others run. Several turns run at once.");
  if (new Set(runs.map(({ text }) => text)).size === 1 && alone.text.includes("number 0"))
    throw new Error("Simultaneous turns have the same reply. Keep the state of a turn inside the turn.");
}

async function takesAnyText(bench: EngineBench): Promise<void> {
  for (const text of ["", " ", "\u0000", "\ud83d", "x".repeat(100_000), "<b>&amp;", "{{ template }}"]) {
    const { error } = await bench.run(bench.turn(text));
    if (error !== undefined && !(error instanceof EngineError))
      throw new Error(
        `For a text of ${text.length} characters, the engine throws an error that is not an EngineError: ` +
          `${String(error)}.`,
        {
          cause: error,
        },
      );
  }
}

async function stopsBefore(bench: EngineBench): Promise<void> {
  const { events } = await bench.run(bench.turn("Hello"), { signal: AbortSignal.abort() });
  if (events.some(({ type }) => type === "done"))
    throw new Error("The signal was aborted before the turn, but the turn runs to done. It must stop.");
}

/** Aborts at the first event. */
async function stopsWithin(bench: EngineBench): Promise<void> {
  const stop = new AbortController();
  const text = Array.from({ length: 500 }, (_, index) => `word${index}`).join(" ");
  let later = 0;
  await bench.run(bench.turn(text), {
    signal: stop.signal,
    onEvent() {
      if (stop.signal.aborted) later += 1;
      stop.abort();
    },
  });
  if (later > 50) throw new Error(`The turn yielded ${later} more events after it was aborted. Stop at once.`);
}

async function leavesNothing(bench: EngineBench): Promise<void> {
  // What an engine loads once stays.
  await bench.engine.prepare?.();
  await answered(bench, "Hello");
  const left = watchLeftovers(bench);
  await answered(bench, "Hello again");
  await untilNothingIsLeft(
    bench,
    left,
    (words) => `After a turn, ${words} remain. Close every connection, and stop every timer.`,
  );
}

/** The reader leaves in the middle, as at `/stop`. */
async function leavesNothingBehindReader(bench: EngineBench): Promise<void> {
  await answered(bench, "Hello");
  const left = watchLeftovers(bench);
  const stream: AsyncIterator<TurnEvent> = bench.engine
    .run(bench.turn("Hello ".repeat(50)), new AbortController().signal)
    [Symbol.asyncIterator]();
  await stream.next();
  await Promise.race([stream.return?.(), realWait(2_000)]);
  await untilNothingIsLeft(
    bench,
    left,
    (words) => `The reader left a turn early, and ${words} remain. Clean up in finally.`,
  );
}

async function keepsNoListener(bench: EngineBench): Promise<void> {
  const { signal } = new AbortController();
  const turns = 12;
  for (let count = 0; count < turns; count += 1) await bench.run(bench.turn("Hello"), { signal });
  await bench.until(
    () => getEventListeners(signal, "abort").length < turns,
    () =>
      `After ${turns} turns, their signal has ${getEventListeners(signal, "abort").length} listeners. ` +
      "Remove each when its turn ends.",
  );
}

export const turnRules: readonly EngineRule[] = [
  { title: "turn > ends with done, once", run: endsOnce },
  { title: "turn > produces a reply", run: says },
  { title: "turn > does not modify its input", run: changesNothing },
  { title: "turn > several run at once", run: keepsApart },
  { title: "turn > accepts every text", run: takesAnyText },
  { title: "abort > a turn aborted before its start produces no reply", run: stopsBefore },
  { title: "abort > a running turn stops soon", run: stopsWithin },
  { title: "leftovers > none after a turn", run: leavesNothing },
  { title: "leftovers > none when the reader leaves", run: leavesNothingBehindReader },
  { title: "leftovers > no listener on the signal", run: keepsNoListener },
];
