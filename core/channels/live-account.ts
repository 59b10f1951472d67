/** A connected account, as the stations see it. */

import type { AccountAccess, IdentityRule } from "../access/index.ts";
import type { ChannelCapabilities, ChannelConnection, ChannelStatus } from "../sdk/contract.ts";

export interface LiveAccount {
  readonly channel: string;
  /** The plugin that brought the channel. */
  readonly plugin: string;
  readonly id: string;
  /** Configuration path, such as `channels.botchat` or `channels.botchat.accounts.work`. */
  readonly path: string;
  /** Guarded: a call ends within its deadline, and an error of it names the plugin. */
  readonly connection: ChannelConnection;
  readonly capabilities: ChannelCapabilities;
  readonly access: AccountAccess;
  readonly identity: IdentityRule;
  /** Options of the account with defaults, the channel's own and the host's. */
  readonly options: Readonly<Record<string, unknown>>;
  status(): ChannelStatus;
}
