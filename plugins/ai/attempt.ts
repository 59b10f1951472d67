/** One request to a model: from the call until the end of its output. Silence that lasts too long ends it. */
import { EngineError } from "service-gateway/sdk";
import { Gathering } from "./answer/gathering.ts";
import { explain } from "./failure.ts";
import type { Model, ModelCall, ModelPart, ModelStream } from "./library.ts";
import { shownUrl, type Target } from "./provider.ts";

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

export interface Opened {
  readonly target: Target;
  readonly model: Model;
}

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
  readonly parts: Gathering;
  readonly controller: AbortController;
  readonly chunkMs: number;
}

/** What servers name as the reason for the end of an answer that their model did not finish. */
const brokenOff: ReadonlySet<string | undefined> = new Set([
  "error",
  "abort",
  "aborted",
  "network_error",
  "insufficient_system_resource",
]);

/** The end of an answer that the server calls broken off is an error, although its stream ends in order. */
function checked(part: ModelPart, target: Target): ModelPart {
  if (part.type !== "finish" || !brokenOff.has(part.finishReason.raw)) return part;
  const error = new EngineError("model_cut_off", {
    detail: `${target.providerId} at ${shownUrl(target.baseUrl)} ended its reply early (${part.finishReason.raw})`,
    hint: "Try again, and look at that server.",
    retryable: true,
  });
  return { type: "error", error };
}

/** The model's output from its first chunk. A later failure becomes an error part. */
async function* rest(
  first: readonly ModelPart[],
  { target, parts, controller, chunkMs }: Attempt,
): AsyncGenerator<ModelPart> {
  try {
    yield* first;
    for (;;) {
      const silence = watch(chunkMs, controller, target);
      const batch = await parts.batch().finally(silence.stop);
      if (batch.length === 0) return;
      for (const part of batch.map((one) => checked(one, target)))
        yield part.type === "error" ? { type: "error", error: explain(part.error, target).error } : part;
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
export async function begin({ target, model }: Opened, call: ModelCall, patience: Patience): Promise<ModelStream> {
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
      const part = checked(value, target);
      first.push(part);
      if (part.type === "error") throw part.error;
      if (!preludes.has(part.type)) break;
    }
    const stream = rest(first, { target, parts: new Gathering(reader), controller, chunkMs: patience.chunkMs });
    return { ...result, stream: ReadableStream.from(stream) };
  } catch (thrown) {
    const reason: unknown = controller.signal.aborted ? controller.signal.reason : thrown;
    controller.abort();
    throw reason;
  } finally {
    silence.stop();
  }
}
