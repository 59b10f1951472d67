/**
 * Permissions to read mailboxes that users gave to this gateway. They are kept in the store of the plugin, whose file only its owner may
 * read. The program that asks the user for the permission writes them; a running gateway uses the new one within ten seconds.
 */
import type { Json, PluginHost } from "service-gateway/sdk";

type Store = Pick<PluginHost["store"], "get" | "set" | "delete">;

export interface Grant {
  readonly refreshToken: string;
  /** The OAuth client that it was given to; with another one it is worth nothing. */
  readonly clientId: string;
  /** When the user gave it, epoch milliseconds. */
  readonly grantedAt: number;
  /** What the user allowed; absent: unknown. */
  readonly scopes?: readonly string[];
}

const placeOf = (address: string) => `gmail-grant:${address.toLowerCase()}`;

/** `address` is that of the mailbox, as in `account` of the configuration. */
export async function readGrant(store: Store, address: string): Promise<Grant | undefined> {
  return ((await store.get(placeOf(address))) ?? undefined) as unknown as Grant | undefined;
}

/** Replaces the one before; it survives a power cut. */
export async function writeGrant(store: Store, address: string, grant: Grant): Promise<void> {
  await store.set(placeOf(address), { ...grant } as Json, { durable: true });
}

/** `false`: there was none. */
export function deleteGrant(store: Store, address: string): Promise<boolean> {
  return store.delete(placeOf(address));
}
