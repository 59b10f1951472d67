/**
 * Shortens the conversation before the current question for a model with a small context. The stored transcript is
 * unchanged.
 */
import type { ModelCall } from "./library.ts";

/** The last shortening omits the whole history. */
const maxShortenings = 4;

/**
 * How much of the history is omitted for one model of a turn. Later steps of the turn start with the result of earlier
 * ones.
 */
export class History {
  #omitted = 0;
  #shortenings = 0;

  /** The call without the omitted messages. */
  apply(call: ModelCall): ModelCall {
    if (this.#omitted === 0) return call;
    const { begin } = historyOf(call);
    return { ...call, prompt: [...call.prompt.slice(0, begin), ...call.prompt.slice(begin + this.#omitted)] };
  }

  /** Omits the older half of the remaining history. Returns `false` if none is left. */
  shorten(call: ModelCall): boolean {
    const { begin, end } = historyOf(call);
    const left = end - begin - this.#omitted;
    if (left <= 0) return false;
    this.#shortenings += 1;
    const half = this.#shortenings >= maxShortenings ? left : Math.ceil(left / 2);
    let first = begin + this.#omitted + half;
    // A conversation begins with a user, so an answer without its question is omitted, too.
    while (first < end && call.prompt[first]?.role !== "user") first += 1;
    this.#omitted = first - begin;
    return true;
  }
}

/**
 * The range of messages between the instructions and the current question. Tool results after the question belong to
 * it.
 */
function historyOf({ prompt }: ModelCall): { readonly begin: number; readonly end: number } {
  const begin = prompt.findIndex(({ role }) => role !== "system");
  const asked = prompt.findLastIndex(({ role }, index) => role === "user" && prompt[index - 1]?.role !== "tool");
  return begin === -1 ? { begin: 0, end: 0 } : { begin, end: Math.max(begin, asked) };
}
