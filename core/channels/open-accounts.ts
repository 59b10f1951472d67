/** The open accounts, in the order of the configuration. */
import type { OpenAccount } from "./open-account.ts";

export interface OpenAccounts {
  find(channel: string, account: string): OpenAccount | undefined;
  named(name: string): OpenAccount | undefined;
  /** With their names. */
  entries(): readonly (readonly [name: string, account: OpenAccount])[];
  all(): readonly OpenAccount[];
  /** Replaces an account with the same name. */
  hold(name: string, account: OpenAccount): void;
  drop(name: string): void;
}

export function createOpenAccounts(): OpenAccounts {
  const open = new Map<string, OpenAccount>();
  /**
   * The same accounts by channel and id. Each message looks its account up a dozen times, so building a combined key
   * would be wasteful.
   */
  const index = new Map<string, Map<string, OpenAccount>>();
  return {
    find: (channel, account) => index.get(channel)?.get(account),
    named: (name) => open.get(name),
    entries: () => [...open],
    all: () => [...open.values()],
    hold(name, account) {
      open.set(name, account);
      const { channel, id } = account.live;
      const accounts = index.get(channel) ?? new Map<string, OpenAccount>();
      index.set(channel, accounts.set(id, account));
    },
    drop(name) {
      const live = open.get(name)?.live;
      if (live !== undefined) index.get(live.channel)?.delete(live.id);
      open.delete(name);
    },
  };
}
