/** The latest refused hook requests, for the operator's view. They are not events: a flood of them must cost next to nothing. */

import type { Json } from "../../contract/index.ts";
import type { ProblemCode } from "../../http/index.ts";
import type { Store } from "../../state/index.ts";

/** A refused request, for the operator's view. */
export interface RefusedHook {
  readonly at: number;
  readonly code: ProblemCode;
  readonly status: number;
  readonly detail: string;
  /** Below the base path, at most 200 characters; never the query. */
  readonly subPath: string;
  readonly client: string;
}

const kept = 50;
const writeEveryMs = 1_000;
export const refusalsNamespace = "hooks";
export const refusalsKey = "refused";

export interface Refusals {
  add(refused: RefusedHook): void;
}

/** Written at most once a second, without a flush: losing the last of them in a power cut does no harm. */
export function createRefusals({ store }: { readonly store: Store }): Refusals {
  let recent: readonly RefusedHook[] = [];
  let timer: NodeJS.Timeout | undefined;
  let unwritten = false;
  const write = () => {
    unwritten = false;
    store.set(refusalsNamespace, refusalsKey, recent as unknown as Json).catch(() => {});
  };
  return {
    add(refused) {
      recent = [...recent.slice(-(kept - 1)), refused];
      unwritten = true;
      if (timer !== undefined) return;
      // The first refusal is written at once, because a user who asks why a request was refused asks right away.
      write();
      timer = setTimeout(() => {
        timer = undefined;
        if (unwritten) write();
      }, writeEveryMs);
      timer.unref();
    },
  };
}
