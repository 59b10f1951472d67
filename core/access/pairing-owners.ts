/** The owners that pairing made, for each account. */
import type { Store } from "../state/index.ts";
import { pairingNamespace } from "./pairing-namespace.ts";

const ownersKey = (account: string) => `owners:${account}`;

export interface PairingOwners {
  of(channel: string, account: string): Promise<readonly string[]>;
  /** `always`: in any case; `first`: if the account has none. Returns whether the sender became one. */
  make(
    channel: string,
    sender: { readonly account: string; readonly senderId: string },
    when: { readonly always: boolean; readonly first: boolean },
  ): Promise<boolean>;
  dismiss(channel: string, account: string, senderId: string): Promise<void>;
}

export function createPairingOwners(store: Store): PairingOwners {
  return {
    async of(channel, account) {
      return ((await store.get(pairingNamespace(channel), ownersKey(account))) as readonly string[] | null) ?? [];
    },
    async make(channel, { account, senderId }, { always, first }) {
      let made = false;
      await store.update(pairingNamespace(channel), ownersKey(account), (value) => {
        const owners = (value as readonly string[] | null) ?? [];
        made = (always || (first && owners.length === 0)) && !owners.includes(senderId);
        return made ? [...owners, senderId] : undefined;
      });
      return made;
    },
    async dismiss(channel, account, senderId) {
      await store.update(pairingNamespace(channel), ownersKey(account), (value) => {
        const owners = (value as readonly string[] | null) ?? [];
        const rest = owners.filter((owner) => owner !== senderId);
        return rest.length === owners.length ? undefined : rest.length === 0 ? null : rest;
      });
    },
  };
}
