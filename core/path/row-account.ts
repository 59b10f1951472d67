/** The account that sends a row of the outbox. */
import type { AwayAccount } from "../channels/index.ts";
import type { Address } from "../contract/index.ts";
import type { OutboxRow, Store } from "../state/index.ts";
import { waitFor } from "./patience.ts";

/**
 * Throws `Postponed` while the account of a row is away. The row is not begun, so that no process that dies meanwhile
 * leaves a doubt about it. `isMarked`: it is recorded as being sent already.
 */
export async function requireAccount(
  { id, address }: OutboxRow,
  {
    away,
    store,
    isMarked,
  }: {
    readonly away: (address: Address) => AwayAccount | undefined;
    readonly store: Pick<Store, "notSent">;
    readonly isMarked: boolean;
  },
): Promise<void> {
  if (away(address) === undefined) return;
  if (isMarked) await store.notSent(id);
  waitFor(() => away(address));
}
