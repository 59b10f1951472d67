/** Notifies the owner once for each limit and period, and each person once an hour. Both survive a restart. */
import { type Json, reasonOf } from "../../contract/index.ts";
import type { PluginLog } from "../../sdk/contract.ts";
import type { Store } from "../../state/index.ts";
import type { Balance } from "./applied.ts";
import { budgetNamespace, scopeOf } from "./grants.ts";
import { noticeOf, tooLargeNotice } from "./wording.ts";

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
  /** Reports that a limit which is not used up has refused a call for its size. Never rejects. */
  tooLarge(balance: Balance, needed: number): Promise<void>;
  /**
   * Whether this is the first refusal of its kind in an hour, for these words. It stays so for the event, which may run
   * again.
   */
  isFirst(who: readonly string[], refused: { readonly event: string; readonly at: number }): Promise<boolean>;
}

const logged = {
  reached: "a budget is used up",
  warned: "a budget is nearly used up",
  "too large": "a budget has refused a large call",
} as const;

interface Notice {
  readonly kind: keyof typeof logged;
  readonly text: string;
  /** The person, where each has a limit. */
  readonly of?: readonly string[];
}

const hourMs = 60 * 60_000;
/** Longer than the longest period, so that a clock that is set back repeats nothing. */
const rememberedMs = 40 * 24 * 3_600_000;

export function createNotices({ store, notifyOwner, log }: NoticeOptions): Notices {
  /** Spares the store the question for what this process knows. */
  const notifiedKeys = new Set<string>();

  async function notify({ limit, used }: Balance, { kind, text, of = [] }: Notice): Promise<void> {
    // A limit that was raised may be reached again.
    const parts = [scopeOf(limit), limit.path, limit.total, limit.span.start, kind, ...of];
    const key = `told:${JSON.stringify(parts)}`;
    if (notifiedKeys.has(key)) return;
    if ((await store.get(budgetNamespace, key)) === null) {
      const fields = { path: limit.path, used, limit: limit.total, unit: limit.unit };
      log.warn(fields, logged[kind]);
      // First the notice, which its key keeps from being sent twice, so that a crash between the two loses nothing.
      await notifyOwner(text, key);
      await store.set(budgetNamespace, key, true, { expiresAt: limit.span.start + rememberedMs });
    }
    if (notifiedKeys.size > 10_000) notifiedKeys.clear();
    notifiedKeys.add(key);
  }

  function state(balance: Balance, isReached: boolean, sender: string | undefined): Promise<void> {
    const of = balance.limit.scope === "sender" ? { of: [sender ?? ""] } : {};
    return safely(
      notify(balance, { kind: isReached ? "reached" : "warned", text: noticeOf(balance, isReached), ...of }),
    );
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
        if (used >= limit.total) await state(balance, true, sender);
        // One notice for each person is enough.
        else if (used >= limit.warnAt * limit.total && limit.scope !== "sender") await state(balance, false, sender);
      }
    },
    reached: (balance, { sender }) => state(balance, true, sender),
    tooLarge: (balance, needed) =>
      safely(notify(balance, { kind: "too large", text: tooLargeNotice(balance, needed) })),
    async isFirst(who, { event, at }) {
      const key = `refused:${JSON.stringify(who)}`;
      const add = (value: Json | null) => (value === null ? event : undefined);
      return (await store.update(budgetNamespace, key, add, { expiresAt: at + hourMs })) === event;
    },
  };
}
