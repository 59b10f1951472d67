/**
 * The accounts of a plugin's channels while the plugin is replaced: opened before anything changes, then put in the
 * place of the old ones.
 */
import { PluginError, reasonOf } from "../contract/index.ts";
import type { Owned } from "../host/index.ts";
import type { ChannelDefinition } from "../sdk/contract.ts";
import type { AccountLife } from "./account-life.ts";
import type { AccountSettings } from "./account-settings.ts";
import type { Configured } from "./following.ts";
import type { OpenAccount } from "./open-account.ts";
import type { OpenAccounts } from "./open-accounts.ts";
import { wantedAccounts } from "./wanted-accounts.ts";

type Channels = ReadonlyMap<string, Owned<ChannelDefinition>>;

/** Accounts that may take the place of those that are open. */
export interface RenewedAccounts {
  /**
   * Once the channels are registered; takes effect before it returns. The old ones let their calls end, and close; then
   * the new ones connect. Resolves when accounts that are no longer wanted have begun to close.
   */
  commit(): Promise<void>;
  discard(): Promise<void>;
}

export async function renewAccounts(
  channels: Channels,
  parts: {
    readonly options: Parameters<typeof wantedAccounts>[1];
    readonly open: OpenAccounts;
    readonly life: AccountLife;
    readonly configured: Configured;
    readonly openOne: (settings: AccountSettings) => OpenAccount;
    /** Brings the accounts in line with the configuration and the channels that are registered. */
    readonly follow: () => Promise<void>;
  },
): Promise<RenewedAccounts> {
  const { open, life } = parts;
  const opened = new Map<string, OpenAccount>();

  async function discard(): Promise<void> {
    for (const [name, account] of opened) life.shut(name, account);
    await life.ended();
  }

  const { config, disabled } = parts.configured;
  if (config !== undefined) {
    const { accounts, failed } = await wantedAccounts({ config, disabled }, { ...parts.options, channels });
    const wrong = failed.find(({ channel, account }) => open.find(channel, account) !== undefined);
    if (wrong !== undefined)
      throw cannotOpen(channels, { id: wrong.account, channel: wrong.channel, reason: wrong.detail });
    for (const [name, settings] of accounts) {
      try {
        opened.set(name, parts.openOne(settings));
      } catch (thrown) {
        void discard();
        throw cannotOpen(channels, {
          id: settings.id,
          channel: settings.definition.id,
          reason: reasonOf(thrown),
          thrown,
        });
      }
    }
  }
  return {
    commit() {
      for (const [name, account] of opened) {
        const existing = open.named(name);
        open.hold(name, account);
        if (existing !== undefined) life.retire(name, existing);
      }
      return parts.follow();
    },
    discard,
  };
}

function cannotOpen(
  channels: Channels,
  {
    channel,
    id,
    reason,
    thrown,
  }: { readonly channel: string; readonly id: string; readonly reason: string; readonly thrown?: unknown },
): PluginError {
  const plugin = channels.get(channel)?.plugin ?? channel;
  return new PluginError("plugin_tap_failed", { plugin, hook: `open of ${channel}:${id}`, reason }, { cause: thrown });
}
