/**
 * Combines several models into one. Each step of a turn asks the first model, retries if that may help, and then tries the next ones in
 * the order of `order.ts`. Once a step has produced text it stays with its model, because users must not see two beginnings.
 */
import { setTimeout as delay } from "node:timers/promises";
import { EngineError, type PluginLog } from "service-gateway/sdk";
import { hasFiles, withoutFiles } from "./attachments.ts";
import type { Cooldowns } from "./cooldowns.ts";
import { askedAgainIfEmpty } from "./empty.ts";
import { explain, type Failure, mayMeanFiles, refusesThinking, retryDelay } from "./failure.ts";
import { History } from "./history.ts";
import type { Library, Model, ModelCall, ModelPart, ModelStream } from "./library.ts";
import { type Asking, askInOrder, type Contestant, type SkippedModel } from "./order.ts";
import { shownUrl, type Target } from "./provider.ts";
import type { Accounted } from "./spending.ts";
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

export interface Candidate extends Contestant {
  /** Throws `EngineError` if the name is invalid. `thinks`: whether the model is asked to think, if the turn asks for that. */
  open(how: { readonly thinks: boolean }): { readonly target: Target; readonly model: Model };
  /** Whether the turn asks the model to think. */
  readonly thinks: boolean;
}

type Opened = ReturnType<Candidate["open"]>;

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
  /** Called if the model falls silent in the middle of its output. */
  readonly onStall: (error: EngineError) => void;
}

/** The model's output from its first chunk. A later failure becomes an error part. */
async function* rest(first: readonly ModelPart[], { target, reader, controller, chunkMs, onStall }: Attempt): AsyncGenerator<ModelPart> {
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
    if (cause instanceof EngineError && cause.reason === "model_stalled") onStall(cause);
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
async function begin({ target, model }: Opened, call: ModelCall, { patience, cooldowns }: PersistOptions): Promise<ModelStream> {
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
    const onStall = (error: EngineError) => cooldowns.pause(target, { error, unreachable: false });
    const stream = rest(first, { target, reader, controller, chunkMs: patience.chunkMs, onStall });
    return { ...result, stream: ReadableStream.from(stream) };
  } catch (thrown) {
    const reason: unknown = controller.signal.aborted ? controller.signal.reason : thrown;
    controller.abort();
    throw reason;
  } finally {
    silence.stop();
  }
}

function noFiles({ providerId, modelId }: Target, cause?: EngineError): EngineError {
  const hint = "Choose a model that sees images.";
  return new EngineError("model_takes_no_files", {
    detail: `${modelId} at ${providerId} accepts no files`,
    hint,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** What one model of a turn has refused. Later steps of the turn do not ask for it again. */
interface Learned {
  readonly history: History;
  thinks: boolean;
}

interface PersistOptions {
  readonly patience: Patience;
  readonly cooldowns: Cooldowns;
  readonly asking: Asking;
  readonly needsFiles: boolean;
  readonly learned: Learned;
  readonly accounted: Accounted;
  readonly log: Pick<PluginLog, "warn">;
}

/** The call without what the model is known not to accept. Throws if it makes no sense without that. */
function adapted(call: ModelCall, candidate: Candidate, { needsFiles }: PersistOptions): ModelCall {
  const { images, tools } = candidate.facts;
  const seen = images === false && hasFiles(call) ? withoutFiles(call) : call;
  if (seen !== call && needsFiles) throw noFiles(candidate.target());
  if (tools !== false || seen.tools === undefined) return seen;
  const { tools: _, toolChoice: __, ...without } = seen;
  return without;
}

/** Asks one model until its output begins, or until another retry is not worthwhile. */
async function persist(candidate: Candidate, call: ModelCall, options: PersistOptions): Promise<ModelStream> {
  const { learned, log, asking, cooldowns } = options;
  const { history } = learned;
  let asked = adapted(call, candidate, options);
  if (asking.isTooLong === true) history.shorten(asked);
  for (let attempt = 0; ; attempt += 1) {
    const opened = candidate.open(learned);
    try {
      return await options.accounted(candidate.name, history.apply(asked), (call) => begin(opened, call, options));
    } catch (thrown) {
      call.abortSignal?.throwIfAborted();
      const failure = explain(thrown, opened.target);
      if (learned.thinks && refusesThinking(failure.error)) {
        learned.thinks = false;
        log.warn({ model: opened.target.modelId, detail: failure.error.message }, "the model cannot think; it is asked without that");
        continue;
      }
      if (failure.error.reason === "model_context_full" && asking.mayShorten && history.shorten(asked)) {
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
      const wait = waitBefore(failure, attempt, options);
      if (wait === undefined) {
        cooldowns.pause(opened.target, failure);
        throw failure.error;
      }
      await delay(wait, undefined, call.abortSignal === undefined ? {} : { signal: call.abortSignal });
    }
  }
}

/** How long to wait before another attempt, in milliseconds; `undefined`: there is none. */
function waitBefore(failure: Failure, attempt: number, { patience, asking }: PersistOptions): number | undefined {
  const worthIt = asking.mayRetry && attempt < patience.retries && !(failure.unreachable && !asking.isLast);
  return worthIt ? retryDelay(failure, attempt, patience.retryDelayMs) : undefined;
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

/** Creates the combined model. `onModel` is called before each step's first chunk, with the candidate that answers and those before it. */
export function createResilientModel(
  library: Pick<Library, "wrapLanguageModel">,
  options: {
    readonly candidates: readonly [Candidate, ...Candidate[]];
    readonly patience: Patience;
    readonly cooldowns: Cooldowns;
    readonly log: Pick<PluginLog, "warn" | "error">;
    /** The call makes no sense without its files. */
    readonly needsFiles?: boolean;
    readonly accounted: Accounted;
    readonly onModel: (name: string, skipped: readonly SkippedModel[]) => void;
  },
): Model {
  const { candidates, patience, cooldowns, log, needsFiles = false, accounted, onModel } = options;
  const learned = candidates.map(({ thinks }): Learned => ({ history: new History(), thinks }));

  async function doStream(given: ModelCall): Promise<ModelStream> {
    const call = withToolFiles(given);
    const ask = (index: number, asking: Asking) => {
      const candidate = candidates[index] as Candidate;
      return persist(candidate, call, { patience, cooldowns, asking, needsFiles, learned: learned[index] as Learned, accounted, log });
    };
    const { index, answer, skipped } = await askInOrder({ contestants: candidates, call, cooldowns, log, ask });
    onModel(candidates[index]?.name ?? "", skipped);
    return askedAgainIfEmpty(answer, () => ask(index, { isLast: true, mayShorten: true, mayRetry: true }));
  }

  return library.wrapLanguageModel({
    model: firstOpened(candidates),
    middleware: { specificationVersion: "v4", wrapStream: ({ params }) => doStream(params) },
  });
}
