/** Duties that one node at a time fulfils. A gateway that has its store to itself has every duty. */
import type { Nodes } from "./nodes.ts";

/**
 * How often a duty of another node is tried again, in milliseconds. A node that ends without a word is replaced after
 * this and its lease.
 */
const againMs = 1_000;

export interface Duties {
  /** Whether this node has the duty, which it takes if it is free. */
  has(name: string): true | Promise<boolean>;
  /**
   * Resolves once this node has the duty, or with `false` once the signal aborts; `undefined`: it has every duty.
   * `onWait` is called once if another node has it, or if the store does not answer.
   */
  take(name: string, signal: AbortSignal, onWait: () => void): Promise<boolean> | undefined;
}

export function createDuties(nodes: Pick<Nodes, "takeDuty"> | undefined): Duties {
  if (nodes === undefined) return { has: () => true, take: () => undefined };

  const has = (name: string): Promise<boolean> => nodes.takeDuty(name).catch(() => false);

  async function take(name: string, signal: AbortSignal, onWait: () => void): Promise<boolean> {
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      if (await has(name)) return !signal.aborted;
      if (attempt === 1 && !signal.aborted) onWait();
      await pause(signal);
    }
    return false;
  }

  return { has, take };
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, againMs);
    signal.addEventListener("abort", end);
  });
}
