/**
 * The latest refused hook requests, for the operator's view. They are not events: a flood of them must cost next to
 * nothing.
 */

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

/**
 * The newest ones lie apart, so that a single refusal writes little. The older ones are written each time that many
 * have come.
 */
const newest = 50;
const maxRefusals = 1_000;
const windowMs = 1_000;
/** Single refusals are written at once: a user who asks why a request was refused asks right away. */
const atOnce = 10;
const namespace = "hooks";
const newestKey = "refused";
const olderKey = "refused-before";

export interface Refusals {
  add(refused: RefusedHook): void;
}

type List = readonly RefusedHook[];

const listOf = (value: Json | null): List => (Array.isArray(value) ? (value as unknown as List) : []);

/** Both lists, each request once, oldest first. */
function merged(older: List, newer: List): List {
  const known = new Map([...older, ...newer].map((one) => [JSON.stringify(one), one]));
  return [...known.values()].sort((one, other) => one.at - other.at).slice(-maxRefusals);
}

/** The newest refused requests, at most 1,000, oldest first. */
export async function readRefusals(store: Pick<Store, "get">): Promise<List> {
  const [older, newer] = await Promise.all([store.get(namespace, olderKey), store.get(namespace, newestKey)]);
  return merged(listOf(older), listOf(newer));
}

/** The newest refused request. */
export async function newestRefusal(store: Pick<Store, "get">): Promise<RefusedHook | undefined> {
  return listOf(await store.get(namespace, newestKey)).at(-1);
}

/**
 * Adds to the stored lists, which earlier runs and other nodes wrote too. In a flood they are written once a second,
 * and of each second only the newest are kept. They are not flushed: losing the last ones in a power cut does no harm.
 */
export function createRefusals({ store }: { readonly store: Pick<Store, "get" | "update"> }): Refusals {
  let unwritten: List = [];
  let writes = 0;
  let busy: Promise<unknown> = Promise.resolve();
  /** How many were added since the older ones were written; an earlier run may have left some. */
  let sinceOlder = newest;

  async function add(added: List): Promise<void> {
    sinceOlder += added.length;
    if (sinceOlder > newest) {
      sinceOlder = added.length;
      const before = listOf(await store.get(namespace, newestKey));
      if (before.length > 0)
        await store.update(namespace, olderKey, (value) => merged(listOf(value), before) as unknown as Json);
    }
    await store.update(namespace, newestKey, (value) => [...listOf(value), ...added].slice(-newest) as unknown as Json);
  }

  const write = () => {
    const added = unwritten;
    unwritten = [];
    writes += 1;
    if (writes === 1) setTimeout(endWindow, windowMs).unref();
    busy = busy.then(() => add(added)).catch(() => {});
  };
  const endWindow = () => {
    writes = 0;
    if (unwritten.length > 0) write();
  };
  return {
    add(refused) {
      unwritten = [...unwritten.slice(-(newest - 1)), refused];
      if (writes < atOnce) write();
    },
  };
}
