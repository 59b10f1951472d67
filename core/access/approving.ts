/**
 * Shared by the command line and the management route: decides whether an approved sender becomes an owner, and answers
 * what the sender wrote before the approval.
 */
import { channelAccounts, type GatewayConfig } from "../config/index.ts";
import type { Store } from "../state/index.ts";
import type { PairingRequest } from "./pairing.ts";

const approvedText = "You are approved.";

/**
 * Greets an approved sender, then runs the newest message that the sender wrote while waiting. Resolves with whether
 * there is one. A message that is still being refused is not run: its sender only reads the greeting.
 */
export async function welcome(
  { newest }: Pick<PairingRequest, "newest">,
  {
    store,
    now,
    say,
  }: {
    readonly store: Pick<Store, "event" | "replay">;
    readonly now: () => number;
    readonly say: (text: string) => Promise<unknown>;
  },
): Promise<boolean> {
  const runs = newest !== undefined && (await store.event(newest))?.state === "settled";
  await say(`${approvedText} ${runs ? "I answer your last message now." : "Write to me whenever you like."}`);
  return runs && (await store.replay(newest, now()));
}

/**
 * Whether the configuration names an owner. If so, a paired sender becomes a guest unless the operator says otherwise.
 */
export function namesOwner(config: GatewayConfig, channel: string, account: string): boolean {
  // When set, this list is complete even if it is empty: pairing adds no owner.
  if (config.commands.ownerAllowFrom !== undefined) return true;
  const section = Object.hasOwn(config.channels, channel) ? config.channels[channel] : undefined;
  const allowed = (channelAccounts(section).find(({ id }) => id === account)?.raw ?? section)?.allowFrom;
  const entries: readonly unknown[] = Array.isArray(allowed) ? allowed : [];
  return entries.some((entry) => String(entry).trim() !== "*");
}
