/**
 * Runs questions that a caller waits for. Each has a time limit, a few run at once, and after the first timeout no
 * others are asked.
 */
import { reasonOf } from "../contract/index.ts";

/** The answer, or one sentence that says why there is none. */
export type Answer<T> = { readonly value: T } | { readonly why: string };

export interface Asking {
  ask<T>(question: () => Promise<T>): Promise<Answer<T>>;
}

const atOnce = 4;

/** If one question hangs, the next would hang too, and fifty of them would take minutes. */
export function createAsking(patienceMs: number): Asking {
  let lost = false;
  return {
    async ask(question) {
      if (lost) return { why: "it was not called, because an earlier call got no response" };
      try {
        return { value: await withPatience(question(), patienceMs) };
      } catch (error) {
        lost ||= error instanceof NoAnswer;
        return { why: reasonOf(error) };
      }
    },
  };
}

class NoAnswer extends Error {}

/** Resolves with the answer, or rejects when it takes too long. */
export async function withPatience<T>(asked: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswer(`there was no answer within ${ms / 1_000} s`)), ms);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}

export async function inTurns<A, B>(list: readonly A[], run: (one: A) => Promise<B>): Promise<readonly B[]> {
  const results: B[] = [];
  for (let at = 0; at < list.length; at += atOnce)
    results.push(...(await Promise.all(list.slice(at, at + atOnce).map(run))));
  return results;
}
