/** A connected account, as the stations see it. */

import type { AccountAccess, IdentityRule } from "../access/index.ts";
import type { CodeTable } from "../contract/index.ts";
import type { GuardedConnection } from "../host/index.ts";
import type { ChannelCapabilities, ChannelDefinition, ChannelStatus } from "../sdk/contract.ts";

export interface LiveAccount {
  readonly channel: string;
  /** The plugin that provides the channel. */
  readonly plugin: string;
  readonly id: string;
  /** Configuration path, such as `channels.botchat` or `channels.botchat.accounts.work`. */
  readonly path: string;
  /** Guarded: each call ends within its deadline, and its errors name the plugin. */
  readonly connection: GuardedConnection;
  /** The channel's own codes. */
  readonly codes: CodeTable;
  readonly capabilities: ChannelCapabilities;
  /** The schema of what a reply may contain of the platform's own; absent if there is none. */
  readonly platformFields?: ChannelDefinition["platformFields"];
  /** A text of the gateway, with its commands as people type them there; absent if that is `/`. */
  readonly writeCommands?: (text: string) => string;
  readonly access: AccountAccess;
  readonly identity: IdentityRule;
  /** The account's options with defaults: the channel's own and the host's. */
  readonly options: Readonly<Record<string, unknown>>;
  status(): ChannelStatus;
}
