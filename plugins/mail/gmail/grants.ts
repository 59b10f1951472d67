/**
 * Permissions to read mailboxes that users granted to this gateway. They are in the plugin's store, whose file only its
 * owner can read. The setup command writes them; a running gateway uses a new one within ten seconds.
 */
import type { Json, PluginHost } from "service-gateway/sdk";

type Store = Pick<PluginHost["store"], "get" | "set" | "delete">;

export interface Grant {
  readonly refreshToken: string;
  /** The OAuth client it was granted to; with another one it is useless. */
  readonly clientId: string;
  /** When the user granted it, in epoch milliseconds. */
  readonly grantedAt: number;
  /** What the user allowed; absent if unknown. */
  readonly scopes?: readonly string[];
  /** The address that revokes it; if absent, Google's own. */
  readonly revokeUri?: string;
}

const placeOf = (address: string) => `gmail-grant:${address.toLowerCase()}`;

/** `address` is the mailbox's, as in `account` of the configuration. */
export async function readGrant(store: Store, address: string): Promise<Grant | undefined> {
  return ((await store.get(placeOf(address))) ?? undefined) as unknown as Grant | undefined;
}

/** Replaces the previous one. It survives a power cut. */
export async function writeGrant(store: Store, address: string, grant: Grant): Promise<void> {
  await store.set(placeOf(address), { ...grant } as Json, { durable: true });
}

/** `false` if there was none. */
export function deleteGrant(store: Store, address: string): Promise<boolean> {
  return store.delete(placeOf(address));
}
