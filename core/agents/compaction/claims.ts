/** Of several nodes that share a store, one at a time summarizes a conversation. */
import { randomUUID } from "node:crypto";
import type { Json } from "../../contract/index.ts";
import type { Nodes, Store } from "../../state/index.ts";

/** By session: the node that summarizes it. */
const namespace = "compactions";
/** Longer than one piece takes; a claim is renewed before each. */
const claimMs = 15 * 60_000;

interface Claimed {
  readonly node: string;
  readonly id: string;
}

/** The right of this node to summarize a conversation. */
export interface Claim {
  /** Resolves with `false` if another node has taken it. */
  renew(): Promise<boolean>;
}

/** Runs the work unless another node has the conversation; then it resolves with `undefined`. */
export type WithClaim = <Result>(
  sessionKey: string,
  work: (claim: Claim) => Promise<Result>,
) => Promise<Result | undefined>;

export type ClaimStore = Pick<Store, "get" | "update" | "nodes">;

export function createClaims(store: ClaimStore): WithClaim {
  return async (sessionKey, work) => {
    const { nodes } = store;
    if (nodes === undefined) return await work({ renew: async () => true });
    const mine = { node: nodes.name, id: randomUUID() };
    const expiry = () => ({ expiresAt: nodes.time() + claimMs });
    /** Another node may have it by now. */
    const change = (next: Json | null, options?: { readonly expiresAt: number }) =>
      store.update(namespace, sessionKey, (value) => (claimIn(value)?.id === mine.id ? next : undefined), options);
    const holder = claimIn(await store.get(namespace, sessionKey));
    const abandoned = holder !== null && (await isAbandoned(holder, nodes)) ? holder.id : undefined;
    const isFree = (claim: Claimed | null) => claim === null || claim.id === abandoned;
    const taken = await store.update(
      namespace,
      sessionKey,
      (value) => (isFree(claimIn(value)) ? mine : undefined),
      expiry(),
    );
    if (claimIn(taken)?.id !== mine.id) return undefined;
    try {
      return await work({ renew: async () => claimIn(await change(mine, expiry()))?.id === mine.id });
    } finally {
      await change(null);
    }
  };
}

const claimIn = (value: Json | null) => value as unknown as Claimed | null;

/** A node that was killed releases nothing. What an earlier process of this node claimed is free, too. */
async function isAbandoned({ node }: Claimed, nodes: Pick<Nodes, "name" | "reports">): Promise<boolean> {
  return node === nodes.name || !(await nodes.reports()).some(({ name, alive }) => name === node && alive);
}
