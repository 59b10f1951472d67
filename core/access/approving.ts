/** Shared by the command line and the management route: decides whether an approved sender becomes an owner, and what the sender reads. */
import { channelAccounts, type GatewayConfig } from "../config/index.ts";

export const approvedText = "You are approved. Write to me whenever you like.";

/** Whether the configuration names an owner. If so, a paired sender becomes a guest unless the operator says otherwise. */
export function namesOwner(config: GatewayConfig, channel: string, account: string): boolean {
  // When set, this list is complete even if it is empty: pairing adds no owner.
  if (config.commands.ownerAllowFrom !== undefined) return true;
  const section = Object.hasOwn(config.channels, channel) ? config.channels[channel] : undefined;
  const allowed = (channelAccounts(section).find(({ id }) => id === account)?.raw ?? section)?.allowFrom;
  const entries: readonly unknown[] = Array.isArray(allowed) ? allowed : [];
  return entries.some((entry) => String(entry).trim() !== "*");
}
