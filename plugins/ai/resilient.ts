/**
 * Combines several models into one. Each step of a turn asks the first model, retries if that may help, and then tries
 * the next ones in the order of `order.ts`. An answer that breaks off is void: the step starts over, and so does the
 * preview. The SDK gets complete answers only, so tools run only for those, and a step never has text of two models.
 */
import { setTimeout as delay } from "node:timers/promises";
import { EngineError, type PluginLog } from "service-gateway/sdk";
import { livePart } from "./answer/live.ts";
import { type Finish, Reading } from "./answer/reading.ts";
import type { ThoughtsOptions } from "./answer/thoughts.ts";
import type { Patience } from "./attempt.ts";
import type { Cooldowns } from "./cooldowns.ts";
import { withUsageOf } from "./empty.ts";
import type { Failure } from "./failure.ts";
import type { Library, Model, ModelCall, ModelPart, ModelStream } from "./library.ts";
import type { Memories } from "./memory.ts";
import { type Answered, type Asking, type SkippedModel, Step } from "./order.ts";
import { type Candidate, type Learned, type PersistOptions, persist, type Tries, waitBefore } from "./persist.ts";
import type { RequestRoom } from "./room/request-room.ts";
import type { Accounted } from "./spending.ts";
import { withToolFiles } from "./tool-files.ts";

export interface ResilientOptions {
  readonly candidates: readonly [Candidate, ...Candidate[]];
  readonly patience: Patience;
  readonly cooldowns: Cooldowns;
  readonly memories: Memories;
  readonly log: Pick<PluginLog, "warn" | "error">;
  /** The call makes no sense without its files. */
  readonly needsFiles?: boolean;
  readonly accounted: Accounted;
  readonly room: RequestRoom;
  /** Called before each step's first chunk, with the candidate that answers and those before it. */
  readonly onModel: (name: string, skipped: readonly SkippedModel[]) => void;
  /** A tool that a model is asked without. */
  readonly onRefusedTool: (refused: { readonly model: string; readonly name: string; readonly reason: string }) => void;
}

/**
 * A model for the SDK to wrap; `doStream` takes its place in each call. Throws the error of the first one if none can
 * be opened.
 */
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

/** One step of a turn: the requests to models until one of them has answered completely. */
class SteppedAnswer {
  readonly #options: ResilientOptions;
  readonly #call: ModelCall;
  readonly #learned: readonly Learned[];
  readonly #step: Step;
  readonly #tries = new Map<number, Tries>();
  #mayRetry = true;

  constructor(options: ResilientOptions, call: ModelCall, learned: readonly Learned[]) {
    const { candidates, cooldowns, log } = options;
    this.#options = options;
    this.#call = call;
    this.#learned = learned;
    this.#step = new Step({
      contestants: candidates,
      call,
      cooldowns,
      log,
      ask: (index, asking) => this.#ask(index, asking),
    });
  }

  async stream(): Promise<ModelStream> {
    const answered = await this.#step.run();
    this.#report(answered);
    return { ...answered.answer, stream: ReadableStream.from(this.#parts(answered)) };
  }

  async *#parts(first: Answered): AsyncGenerator<ModelPart> {
    let answered = first;
    let empty: Finish | undefined;
    yield { type: "stream-start", warnings: [] };
    try {
      for (;;) {
        const { index, answer } = answered;
        const reading = new Reading(answer.stream, this.#readingOf(index));
        yield* reading.shown();
        let reason: string;
        if (reading.error !== undefined) {
          this.#call.abortSignal?.throwIfAborted();
          const error = asEngineError(reading.error);
          answered = await this.#afterBreak(answered, error);
          reason = error.reason;
        } else if (reading.isEmpty && empty === undefined && reading.finish !== undefined) {
          empty = reading.finish;
          answered = {
            ...answered,
            answer: await this.#ask(index, { isLast: true, mayShorten: true, mayRetry: true }),
          };
          reason = "model_empty";
        } else {
          if (empty !== undefined && reading.finish !== undefined) reading.finish = withUsageOf(empty, reading.finish);
          yield* reading.parts();
          return;
        }
        this.#report(answered);
        if (reading.hasShown) yield livePart({ type: "restart", reason });
      }
    } catch (error) {
      yield { type: "error", error };
    }
  }

  /** The same model again, then the next ones. Throws if none answers. */
  async #afterBreak(broken: Answered, error: EngineError): Promise<Answered> {
    const { candidates, cooldowns, log, patience } = this.#options;
    const { index } = broken;
    const candidate = candidates[index] as Candidate;
    const failure: Failure = { error, unreachable: false };
    const tries = this.#triesOf(index);
    const isLast = this.#step.isLast(index);
    const asking: Asking = { isLast, mayShorten: true, mayRetry: this.#mayRetry };
    // A stalled model would let people wait as long again, so it is asked again only if there is no other.
    const stalled =
      error.reason === "model_stalled" && isLast && tries.count === 0 && patience.retries > 0 ? 0 : undefined;
    const wait = waitBefore(failure, { patience, asking, tries }) ?? stalled;
    if (wait === undefined) {
      cooldowns.pause(candidate.target(), failure);
      return await this.#step.next(index, error);
    }
    tries.count += 1;
    log.warn(
      { model: candidate.name, reason: error.reason, detail: error.message },
      "the answer broke off; the request is repeated",
    );
    const { abortSignal } = this.#call;
    await delay(wait, undefined, abortSignal === undefined ? {} : { signal: abortSignal });
    try {
      return { ...broken, answer: await this.#ask(index, asking) };
    } catch (thrown) {
      abortSignal?.throwIfAborted();
      return await this.#step.next(index, asEngineError(thrown));
    }
  }

  #ask(index: number, asking: Asking): Promise<ModelStream> {
    const { candidates, needsFiles = false, memories, onRefusedTool, ...shared } = this.#options;
    const candidate = candidates[index] as Candidate;
    this.#mayRetry = asking.mayRetry;
    const options: PersistOptions = {
      ...shared,
      ...{ asking, needsFiles, learned: this.#learned[index] as Learned, tries: this.#triesOf(index) },
      memory: memories.of(candidate.target()),
      onRefusedTool: (name, reason) => onRefusedTool({ model: candidate.name, name, reason }),
    };
    return persist(candidate, this.#call, options);
  }

  #triesOf(index: number): Tries {
    const known = this.#tries.get(index);
    if (known !== undefined) return known;
    const tries = { count: 0 };
    this.#tries.set(index, tries);
    return tries;
  }

  #readingOf(index: number): ConstructorParameters<typeof Reading>[1] {
    const candidate = this.#options.candidates[index] as Candidate;
    const target = candidate.target();
    const memory = this.#options.memories.of(target);
    // The vendors' own servers send the reasoning separately, except what a prompt made the model write in marks.
    const isLocal = target.provider.api === "openai-compatible" || target.provider.baseUrl !== undefined;
    const thoughts: ThoughtsOptions = isLocal ? { assumed: memory.thinksAloud } : { lone: false };
    return {
      thoughts,
      onLone(lone) {
        memory.thinksAloud = lone;
      },
    };
  }

  #report({ index, skipped }: Answered): void {
    this.#options.onModel(this.#options.candidates[index]?.name ?? "", skipped);
  }
}

/** Throws anything that `explain` has not converted, because that is a fault of this program. */
function asEngineError(thrown: unknown): EngineError {
  if (thrown instanceof EngineError) return thrown;
  throw thrown;
}

export function createResilientModel(library: Pick<Library, "wrapLanguageModel">, options: ResilientOptions): Model {
  const learned = options.candidates.map(({ thinks }): Learned => ({ thinks }));
  return library.wrapLanguageModel({
    model: firstOpened(options.candidates),
    middleware: {
      specificationVersion: "v4",
      wrapStream: ({ params }) => new SteppedAnswer(options, withToolFiles(params), learned).stream(),
    },
  });
}
