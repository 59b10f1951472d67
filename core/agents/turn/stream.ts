/**
 * Wraps an engine's stream for the path: it obeys the signal and the size limit, always ends with `done`, and names its
 * failures.
 */
import { EngineError, type SkippedModel, type TurnEvent } from "../../contract/index.ts";
import { isStream, turnEventProblem } from "../../host/index.ts";

/** Longer than any real reply; keeps a model that never ends from filling the memory. */
const maxCharacters = 1_000_000;

export interface TurnStreamOptions {
  /** The plugin that owns the stream. */
  readonly plugin: string;
  /** When aborted, ends the stream at once with the signal's reason, even if the engine ignores the signal. */
  readonly signal: AbortSignal;
  /** Whether reasoning is streamed to the preview. */
  readonly previewReasoning: boolean;
  /** What a call of a model used. */
  reported(usage: Extract<TurnEvent, { readonly type: "usage" }>): void;
  /** Sees what concerns the tools that models refuse: `model`, `tool-refused` and `done`. */
  observe?(event: TurnEvent): void;
  /** A model has answered; without a name, the first of the turn. */
  answered?(model: string | undefined): void;
  /** Models that the engine was not handed. They are added to those that it reports. */
  readonly skipped: readonly SkippedModel[];
  /** Starts the engine; called at the first pull. */
  begin(): AsyncIterable<TurnEvent>;
  /** Converts what the engine threw to the error that is reported. */
  failure(thrown: unknown): Error;
  /** Called once when a stream that has begun ends, for whatever reason. */
  end(): void;
}

const over: IteratorResult<TurnEvent, undefined> = { done: true, value: undefined };

/**
 * An iterator rather than a generator, because each generator around the engine's own costs several microtasks for each
 * event.
 */
export class TurnStream implements AsyncIterableIterator<TurnEvent> {
  /** The plugin that owns the stream, for the trace. */
  readonly plugin: string;
  readonly #options: TurnStreamOptions;
  #source: AsyncIterator<TurnEvent> | undefined;
  /** Rejects the pull in progress. */
  #reject: ((error: unknown) => void) | undefined;
  #characters = 0;
  #sourceEnded = false;
  #begun = false;
  #speaking: string | undefined;
  #ended = false;
  readonly #onAbort = () => this.#reject?.(this.#fail(this.#options.signal.reason));

  constructor(options: TurnStreamOptions) {
    this.plugin = options.plugin;
    this.#options = options;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<TurnEvent, undefined>> {
    if (this.#ended) return Promise.resolve(over);
    return new Promise((resolve, reject) => {
      const failed = (thrown: unknown) => reject(this.#fail(thrown));
      this.#reject = reject;
      try {
        this.#source ??= this.#begin();
        if (this.#options.signal.aborted) return failed(undefined);
        Promise.resolve(this.#source.next()).then((next) => {
          try {
            resolve({ done: false, value: this.#pass(next) });
          } catch (thrown) {
            failed(thrown);
          }
        }, failed);
      } catch (thrown) {
        failed(thrown);
      }
    });
  }

  return(): Promise<IteratorResult<TurnEvent, undefined>> {
    this.#end();
    return Promise.resolve(over);
  }

  #begin(): AsyncIterator<TurnEvent> {
    this.#begun = true;
    const stream = this.#options.begin();
    if (!isStream(stream)) {
      // The value may be a promise. Without a handler, its rejection would end the process.
      void Promise.resolve(stream).catch(() => {});
      throw new Error("it returned no stream");
    }
    const source = stream[Symbol.asyncIterator]();
    this.#options.signal.addEventListener("abort", this.#onAbort, { once: true });
    return source;
  }

  #pass(next: IteratorResult<TurnEvent, unknown>): TurnEvent {
    const { signal, previewReasoning, skipped } = this.#options;
    if (signal.aborted) throw signal.reason;
    const problem = next.done === true ? undefined : turnEventProblem(next.value);
    if (problem !== undefined) throw new Error(problem);
    if (next.done === true || next.value.type === "done") {
      this.#options.answered?.(this.#speaking);
      this.#sourceEnded = next.done === true;
      this.#end();
      this.#options.observe?.({ type: "done" });
      return { type: "done" };
    }
    const event = next.value;
    if (event.type === "model") this.#speaking = event.model;
    if (event.type === "usage") this.#options.reported(event);
    if (event.type === "model" || event.type === "tool-refused") this.#options.observe?.(event);
    // What is void is not kept either.
    if (event.type === "restart") this.#characters = 0;
    if (event.type === "usage") this.#options.answered?.(this.#speaking);
    if (event.type === "text" || event.type === "reasoning") this.#characters += event.delta.length;
    if (this.#characters > maxCharacters)
      throw new EngineError("answer_too_long", { detail: "The answer does not end", hint: "Ask for less at once." });
    if (event.type === "model" && skipped.length > 0) return { ...event, skipped: [...skipped, ...event.skipped] };
    return event.type === "reasoning" && previewReasoning ? { ...event, preview: true } : event;
  }

  #fail(thrown: unknown): unknown {
    const { signal, failure } = this.#options;
    this.#end();
    return signal.aborted ? signal.reason : failure(thrown);
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (!this.#begun) return;
    this.#options.signal.removeEventListener("abort", this.#onAbort);
    this.#options.end();
    // Not awaited: an engine that hangs would otherwise block its caller.
    if (!this.#sourceEnded) void Promise.resolve(this.#source?.return?.()).catch(() => undefined);
  }
}
