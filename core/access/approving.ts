/** What an approval means, for the command line and the management route alike: who becomes an owner, and what the sender reads. */
import { channelAccounts, type GatewayConfig } from "../config/index.ts";

export const approvedText = "You are approved. Write to me whenever you like.";

/** Whether the configuration names an owner: a sender who is paired then is a guest, unless the operator says otherwise. */
export function namesOwner(config: GatewayConfig, channel: string, account: string): boolean {
  // The whole list of owners, even if it is empty: pairing adds no one to it.
  if (config.commands.ownerAllowFrom !== undefined) return true;
  const section = Object.hasOwn(config.channels, channel) ? config.channels[channel] : undefined;
  const allowed = (channelAccounts(section).find(({ id }) => id === account)?.raw ?? section)?.allowFrom;
  const entries: readonly unknown[] = Array.isArray(allowed) ? allowed : [];
  return entries.some((entry) => String(entry).trim() !== "*");
}
