/**
 * Has one node of a store do a piece of work, while the others wait for its result: in webhook mode a node may listen
 * ahead to a message whose turn another one runs.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Json } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";

const namespace = "transcribing";
/** A process that was killed does not renew its claim. */
const claimMs = 15_000;
const renewMs = 5_000;
const lookMs = 250;

type Claim = { readonly node: string; readonly by: string; readonly until: number };

export type OnceOnNodes = <Result>(
  key: string,
  signal: AbortSignal,
  how: {
    /** What another node has stored meanwhile. */
    readonly stored: () => Promise<Result | undefined>;
    readonly work: () => Promise<Result>;
  },
) => Promise<Result>;

export function createOnceOnNodes(store: Pick<Store, "update" | "nodes">): OnceOnNodes {
  const by = randomUUID();

  return async (key, signal, { stored, work }) => {
    const { nodes } = store;
    // One process: callers share the work, see `hearing.ts`.
    if (nodes === undefined) return await work();
    const node = nodes.name;
    const mine = async () => {
      const now = nodes.time();
      const change = (before: Json | undefined | null) => {
        const held = (before ?? undefined) as Claim | undefined;
        // An earlier process of this node has ended.
        const isOfOther = held !== undefined && held.node !== node && held.until > now;
        return isOfOther ? held : ({ node, by, until: now + claimMs } satisfies Claim);
      };
      const claim = (await store.update(namespace, key, change, { expiresAt: now + claimMs })) as Claim | null;
      return claim?.by === by;
    };
    while (!(await mine())) {
      await delay(lookMs, undefined, { signal }).catch(() => {});
      signal.throwIfAborted();
      const result = await stored();
      if (result !== undefined) return result;
    }
    // A store that is away now is noticed by the work.
    const renewing = setInterval(() => void mine().catch(() => {}), renewMs);
    try {
      // It may have been stored just before the claim was free.
      return (await stored()) ?? (await work());
    } finally {
      clearInterval(renewing);
      const release = (before: Json | undefined | null) =>
        (before as Claim | null)?.by === by ? null : (before ?? null);
      await store.update(namespace, key, release).catch(() => {});
    }
  };
}
