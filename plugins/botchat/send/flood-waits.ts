/** Keeps flood waits in the account's store, because a gateway that starts again must not send into them. */
import type { ChannelAccount } from "service-gateway/sdk/channel";
import type { AccountOptions } from "../options.ts";
import { createLimits, type Limits } from "./limits.ts";

/** A shorter wait has ended by the time another process sends. */
const shortestMs = 3_000;

interface StoredWait {
  /** Epoch milliseconds. */
  readonly until: number;
  readonly ms: number;
}

interface FloodWaits {
  /** `chat` is absent if the platform accepts nothing from the bot at all. */
  keep(chat: string | undefined, ms: number): void;
  /** Applies the waits that an earlier process kept. */
  apply(limits: Pick<Limits, "holdAgain">): Promise<void>;
}

/**
 * The account's limits. Their flood waits are stored. `applyWaits` applies those of an earlier process or of another
 * node.
 */
export function createStoredLimits(
  account: ChannelAccount<AccountOptions>,
  botId: string,
): { readonly limits: Limits; readonly applyWaits: () => Promise<void> } {
  const waits = createFloodWaits(account, botId);
  // Does not use the wall clock: if it were set back, a chat would be held for that long.
  const limits = createLimits({ now: () => performance.now(), limits: account.options.limits, onHold: waits.keep });
  return { limits, applyWaits: () => waits.apply(limits) };
}

function createFloodWaits(
  { store, now, log }: Pick<ChannelAccount<object>, "store" | "now" | "log">,
  botId: string,
): FloodWaits {
  const prefix = `flood-wait:${botId}:`;
  const failed = (error: unknown) =>
    log.debug({ error: String(error) }, "the platform's waits could not be stored or read");
  return {
    keep(chat = "", ms) {
      if (ms < shortestMs) return;
      const storedWait: StoredWait = { until: now() + ms, ms };
      store.set(`${prefix}${chat}`, { ...storedWait }, { ttlSeconds: Math.ceil(ms / 1_000) }).catch(failed);
    },
    async apply(limits) {
      const found = await store.list({ prefix }).catch(failed);
      for (const { key, value } of found ?? []) {
        if (!key.startsWith(prefix)) continue;
        const { until, ms } = value as unknown as StoredWait;
        // If the clock was set back meanwhile, the wait is not longer than it was.
        const left = Math.min(until - now(), ms);
        if (left > 0) limits.holdAgain(key.slice(prefix.length) || undefined, left);
      }
    },
  };
}
