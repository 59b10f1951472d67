/**
 * Chooses which model answers a step of a turn: the first one that is suitable and not paused. What is passed over is
 * listed with the reason, for the trace.
 */
import { EngineError, type EngineProvider, type PluginLog, type TurnEvent } from "service-gateway/sdk";
import { missesFiles } from "./attachments.ts";
import type { Cooldowns } from "./cooldowns.ts";
import type { ModelCall, ModelStream } from "./library.ts";
import type { Target } from "./provider.ts";

export type SkippedModel = Extract<TurnEvent, { readonly type: "model" }>["skipped"][number];

/** What the configuration says about a model. */
export type ModelFacts = NonNullable<EngineProvider["models"]>[string];

/** One model of a turn. */
export interface Contestant {
  readonly name: string;
  readonly facts: ModelFacts;
  /** Throws `EngineError` if the name or the provider's settings are invalid. */
  target(): Target;
  /** Whether its server has refused every tool. */
  takesNoTools?(): boolean;
}

/** How a model is asked. */
export interface Asking {
  /** No other model can be asked after this one, so an unreachable server is worth another attempt. */
  readonly isLast: boolean;
  /** False: a model with a larger context follows, so the conversation is not shortened for this one. */
  readonly mayShorten: boolean;
  /** False: one request only. */
  readonly mayRetry: boolean;
}

/**
 * Failures of one model, provider or account, such as a model that its provider has withdrawn. Another model may
 * succeed.
 */
const otherModelMayHelp: ReadonlySet<string> = new Set([
  "model_unauthorized",
  "model_quota",
  "model_context_full",
  "message_too_long",
  "model_unknown",
  "model_provider_invalid",
  "model_takes_no_files",
  "model_takes_no_tools",
]);

/** Failures that last until the operator corrects the configuration or the account. */
const operatorMustAct: ReadonlySet<string> = new Set(["model_unauthorized", "model_unknown", "model_provider_invalid"]);

/** What the call needs and the model does not have. */
function lackOf(
  { facts, name, takesNoTools }: Contestant,
  call: ModelCall,
): Pick<SkippedModel, "reason" | "detail"> | undefined {
  if (missesFiles(call, facts)) return { reason: "model_takes_no_files", detail: `${name} accepts no images` };
  const hasTools = (call.tools?.length ?? 0) > 0;
  return hasTools && (facts.tools === false || takesNoTools?.() === true)
    ? { reason: "model_takes_no_tools", detail: `${name} calls no tools` }
    : undefined;
}

/** Whether the second model is known to have a larger context. */
function hasMoreRoom(one: ModelFacts, other: ModelFacts): boolean {
  return (
    one.contextTokens !== undefined && other.contextTokens !== undefined && other.contextTokens > one.contextTokens
  );
}

function hasNoMoreRoom(one: ModelFacts, other: ModelFacts): boolean {
  return (
    one.contextTokens !== undefined && other.contextTokens !== undefined && other.contextTokens <= one.contextTokens
  );
}

/** Whether another model may succeed where one has failed. */
const mayHelp = ({ retryable, reason }: EngineError): boolean => retryable || otherModelMayHelp.has(reason);

export interface Answered {
  readonly index: number;
  readonly answer: ModelStream;
  /** Those before it in the configured order. */
  readonly skipped: readonly SkippedModel[];
}

/** One step of a turn, until one of the models answers. */
export class Step {
  readonly #options: StepOptions;
  readonly #skipped = new Map<number, SkippedModel>();
  readonly #last: { index: number; error: EngineError }[] = [];
  /** Those whose answer has broken off. They are not asked again. */
  readonly #broken = new Set<number>();

  constructor(options: StepOptions) {
    this.#options = options;
  }

  /** Asks the models of a turn for one step. Throws the last failure if none answers. */
  async run(): Promise<Answered> {
    const { contestants, call } = this.#options;
    const all = [...contestants.keys()].filter((index) => !this.#broken.has(index));
    const lacks = new Map(all.map((index) => [index, lackOf(this.#at(index), call)]));
    const suitable = all.filter((index) => lacks.get(index) === undefined);
    // A model that lacks something is better than no answer, so it comes last.
    const queue = [...suitable, ...all.filter((index) => lacks.get(index) !== undefined)];
    if (suitable.length > 0) for (const [index, lack] of lacks) if (lack !== undefined) this.#skip(index, lack);
    return (await this.#inOrder(queue)) ?? (await this.#soonest(queue)) ?? this.#fail();
  }

  /** The answer of a model broke off: the next one is asked. Throws its failure if there is none. */
  async next(index: number, error: EngineError): Promise<Answered> {
    if (!mayHelp(error)) throw error;
    this.#broken.add(index);
    this.#failed(index, error);
    return await this.run();
  }

  /** Whether another model is left after this one. */
  isLast(index: number): boolean {
    return [...this.#options.contestants.keys()].every(
      (other) => other === index || this.#broken.has(other) || this.#isPaused(other),
    );
  }

  /**
   * Asks those that are not paused. A model whose context is full, while a larger one follows, is asked again after
   * that one.
   */
  async #inOrder(queue: readonly number[]): Promise<Answered | undefined> {
    const deferred: number[] = [];
    for (const [place, index] of queue.entries()) {
      if (this.#isTooSmall(index)) continue;
      const later = queue.slice(place + 1).filter((other) => !this.#isPaused(other));
      const larger = later.some((other) => hasMoreRoom(this.#at(index).facts, this.#at(other).facts));
      const found = await this.#ask(index, { isLast: later.length === 0, mayShorten: !larger, mayRetry: true });
      if (found !== undefined) return found;
      const last = this.#last.at(-1);
      const reason = last?.index === index ? last.error.reason : undefined;
      // A reply to a part of the conversation, or without tools, is better than none.
      if ((larger && reason === "model_context_full") || reason === "model_takes_no_tools") deferred.push(index);
    }
    for (const index of deferred.filter((one) => !this.#isTooSmall(one))) {
      const found = await this.#ask(index, { isLast: false, mayShorten: true, mayRetry: true });
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Where every model failed or is paused, the one whose pause ends first is asked once. */
  async #soonest(queue: readonly number[]): Promise<Answered | undefined> {
    const failed = new Set(this.#last.map(({ index }) => index));
    const [soonest] = queue
      .filter((index) => !failed.has(index) && !this.#isTooSmall(index))
      .toSorted((one, other) => (this.#skipped.get(one)?.until ?? 0) - (this.#skipped.get(other)?.until ?? 0));
    return soonest === undefined
      ? undefined
      : this.#ask(soonest, { isLast: true, mayShorten: true, mayRetry: false }, { anyway: true });
  }

  async #ask(
    index: number,
    asking: Asking,
    { anyway = this.#options.contestants.length === 1 } = {},
  ): Promise<Answered | undefined> {
    const { cooldowns, call } = this.#options;
    try {
      const target = this.#at(index).target();
      const permit = cooldowns.enter(target, { anyway });
      if (permit === undefined) {
        this.#skip(
          index,
          cooldowns.pauseOf(target) ?? { reason: "model_busy", detail: `${this.#at(index).name} is being tried` },
        );
        return undefined;
      }
      try {
        const answer = await this.#options.ask(index, asking);
        permit.answered();
        const skipped = [...this.#skipped].filter(([other]) => other < index).toSorted(([one], [other]) => one - other);
        return { index, answer, skipped: skipped.map(([, one]) => one) };
      } finally {
        permit.release();
      }
    } catch (thrown) {
      call.abortSignal?.throwIfAborted();
      if (!(thrown instanceof EngineError) || !mayHelp(thrown)) throw thrown;
      this.#failed(index, thrown);
      return undefined;
    }
  }

  #failed(index: number, error: EngineError): void {
    const { contestants, cooldowns, log } = this.#options;
    const { name } = this.#at(index);
    const { reason, message: detail } = error;
    this.#last.push({ index, error });
    this.#skip(index, { reason, detail, ...this.#pause(index, cooldowns) });
    const others = contestants.filter(
      (_, other) => other !== index && !this.#last.some((failed) => failed.index === other),
    );
    if (others.length === 0) return;
    const level = operatorMustAct.has(reason) ? "error" : "warn";
    log[level](
      { model: name, next: others[0]?.name, reason, detail },
      "the model is not available; the next one is used",
    );
  }

  #pause(index: number, cooldowns: Cooldowns): { readonly until?: number } {
    try {
      const pause = cooldowns.pauseOf(this.#at(index).target());
      return pause === undefined ? {} : { until: pause.until };
    } catch {
      return {};
    }
  }

  #isPaused(index: number): boolean {
    try {
      return this.#options.cooldowns.pauseOf(this.#at(index).target()) !== undefined;
    } catch {
      return true;
    }
  }

  /** The conversation did not fit into a model that has at least as much room. */
  #isTooSmall(index: number): boolean {
    return this.#last.some(
      ({ index: other, error }) =>
        other !== index &&
        error.reason === "model_context_full" &&
        hasNoMoreRoom(this.#at(other).facts, this.#at(index).facts),
    );
  }

  #skip(index: number, { reason, detail, until }: Omit<SkippedModel, "model">): void {
    this.#skipped.set(index, { model: this.#at(index).name, reason, detail, until });
  }

  #at(index: number): Contestant {
    return this.#options.contestants[index] as Contestant;
  }

  /** The last failure, with what was tried before it. */
  #fail(): never {
    const last = this.#last.at(-1);
    if (last === undefined)
      throw new EngineError("model_missing", { detail: "No model is configured", hint: "Set agents.defaults.model." });
    const others = [...this.#skipped]
      .filter(([index]) => index !== last.index)
      .map(([, { model, reason }]) => `${model} (${reason})`);
    if (others.length === 0) throw last.error;
    const { reason, message, hint, retryable, numbers } = last.error;
    throw new EngineError(reason, {
      numbers,
      detail: `${message}; passed over before: ${others.join(", ")}`,
      hint,
      retryable,
      cause: last.error,
    });
  }
}

export interface StepOptions {
  readonly contestants: readonly Contestant[];
  readonly call: ModelCall;
  readonly cooldowns: Cooldowns;
  readonly log: Pick<PluginLog, "warn" | "error">;
  /** Asks one model until its output begins. Throws `EngineError` if it does not. */
  ask(index: number, asking: Asking): Promise<ModelStream>;
}
