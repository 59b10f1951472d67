/**
 * Values that platforms sent when they tested a URL, and that a person has to copy. Such a value is a secret of the
 * sender: it is in no log, no event and no answer of `why`, only here, for an hour, for who may read the state of the
 * gateway.
 */
import type { Json } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";

export interface ShownChallenge {
  readonly at: number;
  /** The mapping's id. */
  readonly hook: string;
  readonly client: string;
  /** Whether the request had a valid signature. Without one, anyone may have sent it. */
  readonly verified: boolean;
  readonly value: string;
}

const most = 10;
const retentionMs = 3_600_000;
const place = ["hooks", "challenges"] as const;

export async function addShownChallenge(store: Pick<Store, "update">, shown: ShownChallenge): Promise<void> {
  const change = (value: Json | null): Json => [...recent(value, shown.at), shown].slice(-most) as unknown as Json;
  await store.update(...place, change, { expiresAt: shown.at + retentionMs });
}

/** Oldest first. */
export async function readShownChallenges(store: Pick<Store, "get">, now: number): Promise<readonly ShownChallenge[]> {
  return recent(await store.get(...place), now);
}

function recent(value: Json | null, now: number): readonly ShownChallenge[] {
  const all = (Array.isArray(value) ? value : []) as unknown as readonly ShownChallenge[];
  return all.filter(({ at }) => at > now - retentionMs);
}
