/** Recordings that wait for the next delivery, to save it as a file. */

import type { Json } from "../../contract/index.ts";
import { HttpProblem } from "../../http/index.ts";
import { trimSlashes } from "../mapping/address.ts";
import { deliveryOf, type Posted } from "../mapping/choose.ts";
import { fixtureOf } from "../mapping/fixture.ts";
import { type BodyKind, checkBodyType, parsePayload } from "../mapping/payload.ts";
import { scrubDelivery } from "../mapping/scrub.ts";
import type { HookDelivery } from "../mapping/webhook-delivery.ts";

/** Each one is an open connection. */
const maxWaiting = 32;

export interface Recordings {
  /** Called with each authenticated request. `kinds` are the body kinds accepted at its path. */
  offer(posted: Posted, kinds: readonly BodyKind[]): void;
  /**
   * Yields `{ "waiting": true }`, then `{ fixture, removed }` for the next delivery to the path, and ends. Throws
   * `HttpProblem` 429 if too many are waiting.
   */
  next(path: string): AsyncIterable<Json>;
}

type Listener = (delivery: HookDelivery) => void;

/** `secrets`: values that must not appear in a file, whatever field they came in. */
export function createRecordings({ secrets }: { readonly secrets: () => Iterable<string> }): Recordings {
  const listeners = new Map<Listener, string>();

  return {
    offer(posted, kinds) {
      if (listeners.size === 0) return;
      const waiting = [...listeners].filter(([, path]) => path === posted.path);
      const delivery = waiting.length === 0 ? undefined : readPosted(posted, kinds);
      if (delivery !== undefined) for (const [listener] of waiting) listener(delivery);
    },
    next(path) {
      if (listeners.size >= maxWaiting) {
        throw new HttpProblem("rate_limited", `${maxWaiting} recordings are already waiting.`, { "retry-after": "5" });
      }
      const { promise, resolve } = Promise.withResolvers<HookDelivery | undefined>();
      listeners.set(resolve, trimSlashes(path));
      const steps: (() => Promise<IteratorResult<Json, undefined>>)[] = [
        async () => ({ done: false, value: { waiting: true } }),
        async () => {
          const delivery = await promise;
          listeners.delete(resolve);
          if (delivery === undefined) return end;
          const { delivery: clean, removed } = scrubDelivery(delivery, secrets());
          return { done: false, value: { fixture: fixtureOf(clean) as unknown as Json, removed } };
        },
      ];
      // Written by hand, because a waiting generator would not notice that its reader has left.
      const iterator: AsyncIterator<Json, undefined> = {
        next: async () => (await steps.shift()?.()) ?? end,
        async return() {
          listeners.delete(resolve);
          resolve(undefined);
          return end;
        },
      };
      return { [Symbol.asyncIterator]: () => iterator };
    },
  };
}

const end: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** `undefined` if it cannot be parsed; its sender will get the error. */
function readPosted(posted: Posted, kinds: readonly BodyKind[]): HookDelivery | undefined {
  const kind = kinds.find((candidate) => checkBodyType(candidate, posted.type) === undefined) ?? "json";
  try {
    return deliveryOf(posted, posted.payload ?? parsePayload(posted.method === "GET" ? "form" : kind, posted.body));
  } catch {
    return undefined;
  }
}
