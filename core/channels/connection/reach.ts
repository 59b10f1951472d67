/** Whether the bot may begin a conversation in a chat, or only answer there. */
import type { Address } from "../../contract/index.ts";
import type { ChannelReach } from "../../sdk/contract.ts";
import type { LiveAccount } from "../live-account.ts";

/**
 * Why the bot may not begin at an address now, as a sentence; `undefined`: it may, as far as the channel knows. A
 * channel that fails to say so leaves the decision to the platform.
 */
export async function closedWindow(
  { connection, channel }: Pick<LiveAccount, "channel" | "connection">,
  address: Address,
  now: number,
): Promise<string | undefined> {
  let reach: ChannelReach | undefined;
  try {
    reach = await connection.reaches?.(address);
  } catch {
    return undefined;
  }
  if (reach === "answer-only") return `In ${channel}, the bot may only answer a message there.`;
  if (typeof reach !== "object" || reach.untilMs > now) return undefined;
  const over = reach.untilMs > 0 ? ` until ${new Date(reach.untilMs).toISOString()}` : " after a person has written";
  return `In ${channel}, the bot may write there only${over}.`;
}
