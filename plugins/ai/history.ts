/** What was said before the current question, shortened for a model that cannot read all of it. The transcript keeps everything. */
import type { ModelCall } from "./library.ts";

/** The last of them leaves out the whole history. */
const maxShortenings = 4;

/** How much of the history one model of a turn is not sent; later steps of the turn begin with what an earlier step found out. */
export class History {
  #omitted = 0;
  #shortenings = 0;

  /** The call without what is left out. */
  apply(call: ModelCall): ModelCall {
    if (this.#omitted === 0) return call;
    const { begin } = historyOf(call);
    return { ...call, prompt: [...call.prompt.slice(0, begin), ...call.prompt.slice(begin + this.#omitted)] };
  }

  /** Leaves out the older half of what the model is still sent; `false`: there is no history left to leave out. */
  shorten(call: ModelCall): boolean {
    const { begin, end } = historyOf(call);
    const left = end - begin - this.#omitted;
    if (left <= 0) return false;
    this.#shortenings += 1;
    const half = this.#shortenings >= maxShortenings ? left : Math.ceil(left / 2);
    let first = begin + this.#omitted + half;
    // A conversation begins with a user: an answer without its question is left out too.
    while (first < end && call.prompt[first]?.role !== "user") first += 1;
    this.#omitted = first - begin;
    return true;
  }
}

/** The messages between the instructions and the current question; what tools returned since then belongs to the question. */
function historyOf({ prompt }: ModelCall): { readonly begin: number; readonly end: number } {
  const begin = prompt.findIndex(({ role }) => role !== "system");
  const asked = prompt.findLastIndex(({ role }) => role === "user");
  return begin === -1 ? { begin: 0, end: 0 } : { begin, end: Math.max(begin, asked) };
}
