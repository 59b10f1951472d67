/** Stores the last state of each account, because `why` may run when no gateway does. */
import { type Json, reasonOf } from "../contract/index.ts";
import type { Log } from "../log/index.ts";
import type { ChannelStatus } from "../sdk/contract.ts";
import type { Store } from "../state/index.ts";

export const accountsNamespace = "accounts";

export interface AccountChange extends Pick<ChannelStatus, "state" | "code" | "detail" | "hint"> {
  readonly channel: string;
  readonly account: string;
  /** Configuration path of the account. */
  readonly path: string;
  /** Epoch milliseconds. */
  readonly since: number;
  /** The platform's id of the bot, once it is known. */
  readonly identity?: string;
}

/** The key of an account's stored state. */
export const accountKey = (channel: string, account: string): string => `${channel}:${account}`;

export interface AccountStates {
  note(account: { readonly channel: string; readonly id: string; readonly path: string }, status: ChannelStatus): void;
  /** The account is on standby, and listens if it has to. The node that serves it stores its state. */
  noteStandby(account: { readonly channel: string; readonly id: string }): void;
  /** Whether the account has connected, failed or begun to stand by since the gateway started. */
  wasTried(key: string): boolean;
  /** Removes accounts that are no longer configured. */
  keepOnly(isKnown: (key: string) => boolean): Promise<void>;
}

export function createAccountStates({
  store,
  log,
  now,
}: {
  readonly store: Store;
  readonly log: Log;
  readonly now: () => number;
}): AccountStates {
  const tried = new Set<string>();
  return {
    note({ channel, id, path }, { state, code, detail, hint, identity }) {
      if (state !== "connecting") tried.add(accountKey(channel, id));
      const reason = { code, detail, hint };
      const known = identity === undefined ? {} : { identity: identity.id };
      const change: AccountChange = { channel, account: id, path, state, ...reason, ...known, since: now() };
      store.set(accountsNamespace, accountKey(channel, id), change as unknown as Json).catch((error: unknown) => {
        log.debug({ channel, account: id, error: reasonOf(error) }, "the account's state could not be stored");
      });
    },
    noteStandby: ({ channel, id }) => void tried.add(accountKey(channel, id)),
    wasTried: (key) => tried.has(key),
    async keepOnly(isKnown) {
      for (const { key } of await store.list(accountsNamespace)) {
        if (!isKnown(key)) await store.delete(accountsNamespace, key);
      }
    },
  };
}
