/** A connected account, as the stations see it. */

import type { IdentityRule } from "../access/allowlist.ts";
import type { AccountAccess } from "../access/policy.ts";
import type { ChannelCapabilities, ChannelConnection, ChannelStatus } from "../sdk.ts";

export interface LiveAccount {
  readonly channel: string;
  readonly id: string;
  /** Configuration path, such as `channels.botchat` or `channels.botchat.accounts.work`. */
  readonly path: string;
  readonly connection: ChannelConnection;
  readonly capabilities: ChannelCapabilities;
  readonly access: AccountAccess;
  readonly identity: IdentityRule;
  /** Options of the account with defaults, the channel's own and the host's. */
  readonly options: Readonly<Record<string, unknown>>;
  status(): ChannelStatus;
}
