/** Under which address each person was seen last, for platforms whose ids are not addresses. */
import type { ChannelAccount } from "./contract.ts";

export interface AddressBook {
  /** Remembers the address of a person, also after a restart. */
  keep(id: string, address: string): void;
  /** Everyone known under the first address has the second one now. */
  rename(from: string, to: string): void;
  /** The address may belong to another from now on: those whom this process knows under it have none. */
  forget(address: string): void;
  /** `undefined` if the person was never seen, or not within 30 days. */
  find(id: string): Promise<string | undefined>;
}

const daySeconds = 86_400;
/** Persons whose address is known without asking the store. */
const recentPersons = 5_000;

/** `fold` is the form in which ids and addresses compare. */
export function createAddressBook(
  { store, now }: Pick<ChannelAccount, "store" | "now">,
  fold: (text: string) => string,
): AddressBook {
  const recent = new Map<string, { readonly address: string; readonly at: number }>();

  function keep(person: string, address: string): void {
    const id = fold(person);
    const known = recent.get(id);
    // Once a day is enough to keep the entry of a person who writes often.
    if (known?.address === address && now() - known.at < daySeconds * 1_000) return;
    recent.delete(id);
    recent.set(id, { address, at: now() });
    if (recent.size > recentPersons) recent.delete(recent.keys().next().value ?? id);
    // A message that cannot be stored either is reported by its own call.
    store.set(`address:${id}`, address, { ttlSeconds: 30 * daySeconds }).catch(() => {});
  }

  return {
    keep,
    rename(from, to) {
      for (const [id, { address }] of [...recent]) if (fold(address) === fold(from)) keep(id, to);
    },
    forget(gone) {
      for (const [id, { address }] of [...recent]) {
        if (fold(address) !== fold(gone)) continue;
        recent.delete(id);
        store.delete(`address:${id}`).catch(() => {});
      }
    },
    async find(person) {
      const id = fold(person);
      const address = recent.get(id)?.address ?? (await store.get(`address:${id}`));
      return typeof address === "string" ? address : undefined;
    },
  };
}
