/** Notifies the owner once for each limit and period, and each person once a day. Both survive a restart. */
import { reasonOf } from "../../contract/index.ts";
import type { PluginLog } from "../../sdk/contract.ts";
import type { Store } from "../../state/index.ts";
import type { AppliedLimit, Balance } from "./applied.ts";
import { budgetNamespace, scopeOf } from "./grants.ts";
import { noticeOf } from "./wording.ts";

export interface NoticeOptions {
  readonly store: Pick<Store, "get" | "set" | "update">;
  /** Sends a text to the owner. The same key is sent once. Resolves with false if no owner is known. */
  readonly notifyOwner: (text: string, key: string) => Promise<boolean>;
  readonly log: Pick<PluginLog, "info" | "warn">;
}

export interface Notices {
  /** Reports limits whose calls have used `warnAt` of them, or all. Never rejects. */
  report(balances: readonly Balance[], of: { readonly sender?: string | undefined }): Promise<void>;
  /** Reports a limit that refused a call. Never rejects. */
  reached(balance: Balance, of: { readonly sender?: string | undefined }): Promise<void>;
  /** Whether a person is to read of the refusal: once for each period of the limit. */
  isFirst(limit: Pick<AppliedLimit, "span">, who: readonly string[]): Promise<boolean>;
}

/** Longer than the longest period, so that a clock that is set back repeats nothing. */
const rememberedMs = 40 * 24 * 3_600_000;

export function createNotices({ store, notifyOwner, log }: NoticeOptions): Notices {
  /** Spares the store the question for what this process knows. */
  const told = new Set<string>();

  async function notify(balance: Balance, isReached: boolean, sender: string | undefined): Promise<void> {
    const { limit, used } = balance;
    const person = limit.scope === "sender" ? [sender ?? ""] : [];
    // A limit that was raised may be reached again.
    const parts = [scopeOf(limit), limit.path, limit.total, limit.span.start, isReached ? "reached" : "warned", ...person];
    const key = `told:${JSON.stringify(parts)}`;
    if (told.has(key)) return;
    if ((await store.get(budgetNamespace, key)) === null) {
      const fields = { path: limit.path, used, limit: limit.total, unit: limit.unit };
      log.warn(fields, isReached ? "a budget is used up" : "a budget is nearly used up");
      // First the notice, which its key keeps from being sent twice, so that a crash between the two loses nothing.
      if (!(await notifyOwner(noticeOf(balance, isReached), key))) log.info(fields, "no owner is known who could be notified");
      await store.set(budgetNamespace, key, true, { expiresAt: limit.span.start + rememberedMs });
    }
    if (told.size > 10_000) told.clear();
    told.add(key);
  }

  async function safely(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      log.warn({ error: reasonOf(error) }, "the state of a budget could not be reported");
    }
  }

  return {
    async report(balances, { sender }) {
      for (const balance of balances) {
        const { limit, used } = balance;
        if (used >= limit.total) await safely(notify(balance, true, sender));
        // One notice for each person is enough.
        else if (used >= limit.warnAt * limit.total && limit.scope !== "sender") await safely(notify(balance, false, sender));
      }
    },
    reached: (balance, { sender }) => safely(notify(balance, true, sender)),
    async isFirst({ span }, who) {
      let first = false;
      const key = `refused:${JSON.stringify([...who, span.start])}`;
      await store.update(
        budgetNamespace,
        key,
        (value) => {
          first = value === null;
          return first ? true : undefined;
        },
        { expiresAt: span.end },
      );
      return first;
    },
  };
}
