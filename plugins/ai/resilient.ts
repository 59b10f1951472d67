/**
 * Combines several models into one. Each step of a turn asks the first model, retries if that may help, and then tries the next ones. Once
 * a step has produced text it stays with its model, because users must not see two beginnings.
 */
import { setTimeout as delay } from "node:timers/promises";
import { EngineError, type PluginLog } from "service-gateway/sdk";
import { hasFiles, withoutFiles } from "./attachments.ts";
import { askedAgainIfEmpty } from "./empty.ts";
import { explain, mayMeanFiles, refusesThinking, retryDelay } from "./failure.ts";
import { History } from "./history.ts";
import type { Library, Model, ModelCall, ModelPart, ModelStream } from "./library.ts";
import { shownUrl, type Target } from "./provider.ts";
import { withToolFiles } from "./tool-files.ts";

export interface Patience {
  /** Time limit for the first chunk, in milliseconds. A local model may have to be loaded first. */
  readonly firstChunkMs: number;
  /** Time limit between later chunks, in milliseconds. */
  readonly chunkMs: number;
  /** How often the same model is retried. */
  readonly retries: number;
  /** Delay before the first retry, in milliseconds; doubled for each further one. */
  readonly retryDelayMs: number;
}

export interface Candidate {
  readonly name: string;
  /** Throws `EngineError` if the name is invalid. `thinks`: whether the model is asked to think, if the turn asks for that. */
  open(how: { readonly thinks: boolean }): { readonly target: Target; readonly model: Model };
  /** Whether the turn asks the model to think. */
  readonly thinks: boolean;
}

type Opened = ReturnType<Candidate["open"]>;

/** Failures of one model, provider or account, such as a model that its provider has withdrawn. Another model may succeed. */
const otherModelMayHelp: ReadonlySet<string> = new Set([
  "model_unauthorized",
  "model_quota",
  "model_context_full",
  "model_unknown",
  "model_provider_invalid",
]);

/** Parts that precede a model's output. */
const preludes: ReadonlySet<ModelPart["type"]> = new Set(["stream-start", "response-metadata", "raw"]);

/** Aborts a call that sends nothing for too long. `stop` ends the timer. */
function watch(limitMs: number, attempt: AbortController, target: Target): { stop(): void } {
  const timer = setTimeout(() => {
    const detail = `${target.providerId} at ${shownUrl(target.baseUrl)} sent nothing for ${limitMs / 1_000} s`;
    const hint = "Look at that server; a slow one may need plugins.entries.ai.options.firstChunkMs or chunkMs.";
    attempt.abort(new EngineError("model_stalled", { detail, hint, retryable: true }));
  }, limitMs);
  return { stop: () => clearTimeout(timer) };
}

interface Attempt {
  readonly target: Target;
  readonly reader: ReadableStreamDefaultReader<ModelPart>;
  readonly controller: AbortController;
  readonly chunkMs: number;
}

/** The model's output from its first chunk. A later failure becomes an error part. */
async function* rest(first: readonly ModelPart[], { target, reader, controller, chunkMs }: Attempt): AsyncGenerator<ModelPart> {
  try {
    yield* first;
    for (;;) {
      const silence = watch(chunkMs, controller, target);
      const { done, value } = await reader.read().finally(silence.stop);
      if (done) return;
      yield value.type === "error" ? { type: "error", error: explain(value.error, target).error } : value;
    }
  } catch (thrown) {
    const cause = controller.signal.aborted ? controller.signal.reason : thrown;
    const reset = new EngineError("model_cut_off", {
      detail: `${target.providerId} at ${shownUrl(target.baseUrl)} cut the connection in the middle of its answer`,
      hint: "Try again, and look at that server.",
      retryable: true,
      cause,
    });
    yield { type: "error", error: cause instanceof EngineError ? cause : reset };
  } finally {
    // Closes the socket when the reader stops.
    controller.abort();
  }
}

/** Asks one model once. Resolves when its output has begun. */
async function begin({ target, model }: Opened, call: ModelCall, patience: Patience): Promise<ModelStream> {
  const controller = new AbortController();
  const signals = call.abortSignal === undefined ? [controller.signal] : [call.abortSignal, controller.signal];
  const silence = watch(patience.firstChunkMs, controller, target);
  try {
    const result = await model.doStream({ ...call, abortSignal: AbortSignal.any(signals) });
    const reader = result.stream.getReader();
    const first: ModelPart[] = [];
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      first.push(value);
      if (value.type === "error") throw value.error;
      if (!preludes.has(value.type)) break;
    }
    return { ...result, stream: ReadableStream.from(rest(first, { target, reader, controller, chunkMs: patience.chunkMs })) };
  } catch (thrown) {
    const reason: unknown = controller.signal.aborted ? controller.signal.reason : thrown;
    controller.abort();
    throw reason;
  } finally {
    silence.stop();
  }
}

function noFiles({ providerId, modelId }: Target, cause: EngineError): EngineError {
  const hint = "Choose a model that sees images.";
  return new EngineError("model_takes_no_files", { detail: `${modelId} at ${providerId} accepts no files`, hint, cause });
}

/** What one model of a turn has refused. Later steps of the turn do not ask for it again. */
interface Learned {
  readonly history: History;
  thinks: boolean;
}

/** Asks one model until its output begins, or until another retry is not worthwhile. */
async function persist(
  candidate: Candidate,
  call: ModelCall,
  options: {
    readonly patience: Patience;
    readonly isLast: boolean;
    readonly needsFiles: boolean;
    readonly learned: Learned;
    readonly log: Pick<PluginLog, "warn">;
  },
): Promise<ModelStream> {
  const { learned, log } = options;
  const { history } = learned;
  let asked = call;
  for (let attempt = 0; ; attempt += 1) {
    const opened = candidate.open(learned);
    try {
      return await begin(opened, history.apply(asked), options.patience);
    } catch (thrown) {
      call.abortSignal?.throwIfAborted();
      const failure = explain(thrown, opened.target);
      if (learned.thinks && refusesThinking(failure.error)) {
        learned.thinks = false;
        log.warn({ model: opened.target.modelId, detail: failure.error.message }, "the model cannot think; it is asked without that");
        continue;
      }
      if (failure.error.reason === "model_context_full" && history.shorten(asked)) {
        log.warn(
          { model: opened.target.modelId, detail: failure.error.message },
          "the conversation is too long for the model; the older half of its history is left out",
        );
        continue;
      }
      if (mayMeanFiles(failure.error) && hasFiles(asked)) {
        if (options.needsFiles) throw noFiles(opened.target, failure.error);
        // The text deserves an answer even if the model cannot see the file.
        asked = withoutFiles(asked);
        continue;
      }
      const wait = retryDelay(failure, attempt, options.patience.retryDelayMs);
      const worthIt = attempt < options.patience.retries && !(failure.unreachable && !options.isLast);
      if (wait === undefined || !worthIt) throw failure.error;
      await delay(wait, undefined, call.abortSignal === undefined ? {} : { signal: call.abortSignal });
    }
  }
}

/** A model for the SDK to wrap; `doStream` takes its place in each call. Throws the error of the first one if none can be opened. */
function firstOpened(candidates: readonly Candidate[]): Model {
  const errors: unknown[] = [];
  for (const candidate of candidates) {
    try {
      return candidate.open(candidate).model;
    } catch (error) {
      errors.push(error);
    }
  }
  throw errors[0];
}

/** Creates the combined model. `onModel` is called before each step's first chunk, with the candidate that answers. */
export function createResilientModel(
  library: Pick<Library, "wrapLanguageModel">,
  options: {
    readonly candidates: readonly [Candidate, ...Candidate[]];
    readonly patience: Patience;
    readonly log: Pick<PluginLog, "warn">;
    /** The call makes no sense without its files. */
    readonly needsFiles?: boolean;
    readonly onModel: (name: string) => void;
  },
): Model {
  const { candidates, patience, log, needsFiles = false, onModel } = options;
  const learned = candidates.map(({ thinks }): Learned => ({ history: new History(), thinks }));

  async function doStream(given: ModelCall): Promise<ModelStream> {
    const call = withToolFiles(given);
    for (const [index, candidate] of candidates.entries()) {
      const next = candidates[index + 1];
      try {
        const options = { patience, isLast: next === undefined, needsFiles, learned: learned[index] as Learned, log };
        const ask = () => persist(candidate, call, options);
        const answer = await ask();
        onModel(candidate.name);
        return askedAgainIfEmpty(answer, ask);
      } catch (thrown) {
        call.abortSignal?.throwIfAborted();
        if (next === undefined || !(thrown instanceof EngineError)) throw thrown;
        if (!thrown.retryable && !otherModelMayHelp.has(thrown.reason)) throw thrown;
        log.warn(
          { model: candidate.name, next: next.name, reason: thrown.reason, detail: thrown.message },
          "the model is not available; the next one is used",
        );
      }
    }
    throw new EngineError("model_missing", { detail: "No model is configured", hint: "Set agents.defaults.model." });
  }

  return library.wrapLanguageModel({
    model: firstOpened(candidates),
    middleware: { specificationVersion: "v4", wrapStream: ({ params }) => doStream(params) },
  });
}
