/**
 * The model calls that this gateway has announced and that have not ended. They have set room aside, and give back most
 * of it, so what a budget has used is known without them. Calls that broke off, and those of servers that report no
 * usage, count by their estimate.
 */
import type { ModelCall, Store } from "../../state/index.ts";
import { type AppliedLimit, type Balance, balancesOf, usedOf } from "./applied.ts";

/** No call takes longer. One that is older belongs to an engine that did not say how it ended. */
const longestMs = 3_600_000;

export interface RunningCalls {
  add(call: ModelCall): void;
  end(id: string): void;
  /** What the limits have used without the calls that run. */
  settled(limits: readonly AppliedLimit[]): Promise<readonly Balance[]>;
}

function isOf({ since, agentId, sender }: AppliedLimit["asked"], call: ModelCall): boolean {
  if (call.at < since || (agentId !== undefined && call.agentId !== agentId)) return false;
  return sender === undefined || (call.channel === sender.channel && call.sender === sender.id);
}

export function createRunningCalls({
  store,
  now,
}: {
  readonly store: Pick<Store, "spent">;
  readonly now: () => number;
}): RunningCalls {
  const running = new Map<string, ModelCall>();

  const heldOf = (limit: AppliedLimit, calls: Iterable<ModelCall>): number => {
    let held = 0;
    for (const call of calls) {
      if (isOf(limit.asked, call))
        held += usedOf(limit, { tokens: call.inputTokens + call.outputTokens, usd: call.usd ?? 0 });
    }
    return held;
  };

  return {
    add(call) {
      for (const { id, at } of running.values()) {
        if (now() - at <= longestMs) break;
        running.delete(id);
      }
      running.set(call.id, call);
    },
    end: (id) => void running.delete(id),
    async settled(limits) {
      // A call that begins or ends while the store is asked may be in its sums or not. Rather too little is reported:
      // its end asks again.
      const before = new Map(running);
      const balances = await balancesOf(store, limits);
      const calls = new Map([...before, ...running]);
      return balances.map(({ limit, used }) => ({ limit, used: Math.max(0, used - heldOf(limit, calls.values())) }));
    },
  };
}
