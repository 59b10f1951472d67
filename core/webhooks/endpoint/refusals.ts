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
  /** The setting that decided and what to change, if they are not those of the code. */
  readonly path?: string;
  readonly hint?: string;
}

const kept = 50;
const windowMs = 1_000;
/** Single refusals are written at once: a user who asks why a request was refused asks right away. */
const atOnce = 10;
export const refusalsNamespace = "hooks";
export const refusalsKey = "refused";

export interface Refusals {
  add(refused: RefusedHook): void;
}

/**
 * Adds to the stored list, which earlier runs and other nodes wrote too. In a flood it is written once a second. It is not flushed: losing
 * the last ones in a power cut does no harm.
 */
export function createRefusals({ store }: { readonly store: Pick<Store, "update"> }): Refusals {
  let unwritten: readonly RefusedHook[] = [];
  let writes = 0;
  let busy: Promise<unknown> = Promise.resolve();
  const write = () => {
    const added = unwritten as unknown as readonly Json[];
    unwritten = [];
    writes += 1;
    if (writes === 1) setTimeout(endWindow, windowMs).unref();
    const change = (value: Json | null): Json => [...(Array.isArray(value) ? value : []), ...added].slice(-kept);
    busy = busy.then(() => store.update(refusalsNamespace, refusalsKey, change)).catch(() => {});
  };
  const endWindow = () => {
    writes = 0;
    if (unwritten.length > 0) write();
  };
  return {
    add(refused) {
      unwritten = [...unwritten.slice(-(kept - 1)), refused];
      if (writes < atOnce) write();
    },
  };
}
