/**
 * Transcribes one sound file by the first listener that works. What may work in a moment is asked again; a listener
 * that refuses the file is not.
 */
import { setTimeout as delay } from "node:timers/promises";
import { EngineError, findCode, reasonOf } from "../../contract/index.ts";
import type { Asker } from "../spending/asker.ts";
import type { Listener } from "../turn/hearing-models.ts";
import { runProgram } from "./program.ts";
import { nameOf, timeoutMsOf } from "./settings.ts";
import type { Sound, SpeechEngines } from "./speech-engines.ts";
import { createTickets } from "./tickets.ts";
import { cleanTranscript } from "./transcript.ts";

/** Waits between the rounds in which every listener that is away is asked. */
const usualPausesMs = [1_000, 3_000, 9_000];
/** A program may use a whole processor. */
const programsAtOnce = 1;
const callsAtOnce = 4;

export interface Transcribed {
  /** Empty if nothing is said. */
  readonly text: string;
  /** What transcribed it, for the trace. */
  readonly by: string;
}

export interface TranscribeAt {
  readonly asker: Asker;
  readonly signal: AbortSignal;
  /** Waits for what may take long; meanwhile the attempt does not count. */
  readonly waitFor: <T>(waited: Promise<T>) => Promise<T>;
}

/** What one listener said about a file. */
interface Failure {
  readonly listener: Listener;
  readonly error: EngineError;
  /** It may work in a moment. */
  readonly isAway: boolean;
}

function failureOf(listener: Listener, thrown: unknown): Failure {
  const error =
    thrown instanceof EngineError
      ? thrown
      : new EngineError("speech_failed", { detail: reasonOf(thrown), cause: thrown });
  return { listener, error, isAway: error.retryable || findCode(error.reason)?.away === "provider" };
}

/** A budget concerns the person, whatever the other listeners said. */
const isOfBudget = ({ error }: Failure): boolean => error.reason === "budget_exceeded";

/** The one error for all listeners: what the person and the operator read. */
function combined(failures: readonly Failure[]): EngineError {
  const budget = failures.find(isOfBudget);
  if (budget !== undefined) return budget.error;
  const [first] = failures;
  const detail = failures.map(({ listener, error }) => `${nameOf(listener)}: ${reasonOf(error).replace(/\.$/, "")}`);
  return new EngineError(failures.some(({ isAway }) => isAway) ? "speech_unavailable" : "speech_failed", {
    detail: detail.join("; "),
    hint: first?.error.hint,
    cause: first?.error,
  });
}

export interface Transcribing {
  /** Throws `EngineError`: `speech_unavailable`, `speech_failed` or `budget_exceeded`; or the reason of the signal. */
  transcribe(sound: Sound, listeners: readonly Listener[], at: TranscribeAt): Promise<Transcribed>;
}

export function createTranscribing({
  pausesMs = usualPausesMs,
  ...options
}: {
  readonly engines: SpeechEngines;
  /** For tests. */
  readonly pausesMs?: readonly number[];
  /** A listener works, or is away: the owner is notified of a change. */
  readonly onWorks: (name: string) => void;
  readonly onAway: (name: string, detail: string) => void;
}): Transcribing {
  const program = createTickets(programsAtOnce);
  const call = createTickets(callsAtOnce);

  async function ask(listener: Listener, sound: Sound, { asker, signal }: TranscribeAt): Promise<string> {
    const { model, command, memoryMb } = listener;
    const timeoutMs = timeoutMsOf(listener);
    if (model === undefined) {
      const files = { file: sound.path };
      return await program(() => runProgram({ command: command ?? [], files, timeoutMs, memoryMb, signal }));
    }
    const late = AbortSignal.timeout(timeoutMs);
    const both = AbortSignal.any([signal, late]);
    return await call(() => options.engines.transcribe(sound, { ...listener, model }, { asker, signal: both })).catch(
      (thrown: unknown) => {
        if (!late.aborted || signal.aborted) throw thrown;
        const detail = `${model} did not answer within ${timeoutMs / 1_000} s`;
        throw new EngineError("model_stalled", { detail, hint: "Raise timeoutSeconds beside the model." });
      },
    );
  }

  /** Asks one after the other. `undefined`: none of them works. */
  async function round(
    sound: Sound,
    listeners: readonly Listener[],
    at: TranscribeAt,
  ): Promise<Transcribed | readonly Failure[]> {
    const failures: Failure[] = [];
    for (const listener of listeners) {
      try {
        const text = cleanTranscript(await ask(listener, sound, at));
        options.onWorks(nameOf(listener));
        return { text, by: nameOf(listener) };
      } catch (thrown) {
        if (at.signal.aborted) throw at.signal.reason;
        failures.push(failureOf(listener, thrown));
      }
    }
    return failures;
  }

  return {
    async transcribe(sound, listeners, at) {
      /** The last word of each listener. */
      const latest = new Map<Listener, Failure>();
      let asked = listeners;
      for (const pauseMs of [...pausesMs, undefined]) {
        const result = await round(sound, asked, at);
        if ("text" in result) return result;
        for (const failure of result) latest.set(failure.listener, failure);
        // A model that did not answer in time has been waited for already.
        asked = asked.filter(
          (one) => latest.get(one)?.isAway === true && latest.get(one)?.error.reason !== "model_stalled",
        );
        if (pauseMs === undefined || asked.length === 0) break;
        // It ends early if it is aborted.
        await at.waitFor(delay(pauseMs, undefined, { signal: at.signal }).catch(() => {}));
        at.signal.throwIfAborted();
      }
      const failures = [...latest.values()];
      for (const { listener, error, isAway } of failures) if (isAway) options.onAway(nameOf(listener), reasonOf(error));
      throw combined(failures);
    },
  };
}
