/** Accounts for model calls: the ledger, the budgets, and who is notified of them. */
import type { AgentsView } from "../../config/index.ts";
import { type Inbound, type Route, reasonOf } from "../../contract/index.ts";
import type { PluginLog } from "../../sdk/contract.ts";
import type { ModelCalls, Store } from "../../state/index.ts";
import { type AppliedLimit, type Balance, balancesOf, createApplied, usedOf } from "./applied.ts";
import { type Asker, askerOf, isOfPerson } from "./asker.ts";
import { createGrants } from "./grants.ts";
import { createLimits, type Unit } from "./limits.ts";
import { createMeter, type Meter } from "./meter.ts";
import { createNotices, type NoticeOptions } from "./notices.ts";
import { createPeriods, type Period } from "./periods.ts";
import { createPrices } from "./prices.ts";
import { exceeded, refusal } from "./wording.ts";

export interface Spending {
  /** Counts the calls of one turn, or of one description of an image. */
  meter(asker: Asker): Meter;
  /** Throws `budget_exceeded` if a limit is used up, so that nothing is begun for it. `undefined` if there is no limit. */
  admit(asker: Asker): Promise<void> | undefined;
  /**
   * From when on an agent may run whose budget is used up, or has no room for a call, epoch milliseconds; resolves with `undefined` if it may now. `undefined` without
   * a promise if there is no limit.
   */
  usedUpUntil(asker: Asker): Promise<{ readonly until: number } | undefined> | undefined;
  /** What a person reads whose message was refused, once a day; `undefined` otherwise. */
  tell(inbound: Inbound, route: Route): Promise<string | undefined>;
  /** The limits that apply, and what is used of them. */
  balances(asker: Asker): Promise<readonly Balance[]>;
  /** Adds to the limits of an agent and of all agents in the current period. Resolves with the limits that it raised. */
  add(asker: Asker, more: { readonly amount: number; readonly unit: Unit; readonly period: Period }): Promise<readonly Balance[]>;
}

export interface SpendingOptions extends NoticeOptions {
  readonly config: () => AgentsView;
  readonly store: ModelCalls & Pick<Store, "get" | "set" | "update" | "list">;
  readonly log: Pick<PluginLog, "info" | "warn">;
  readonly now: () => number;
  readonly newId: () => string;
}

export function createSpending(options: SpendingOptions): Spending {
  const { config, store, log, now, newId } = options;
  const limitsFor = createLimits(config);
  const prices = createPrices(config);
  const grants = createGrants(store);
  const appliedTo = createApplied({ grants, spanOf: createPeriods() });
  const notices = createNotices(options);

  const applied = async (asker: Asker): Promise<readonly AppliedLimit[]> => {
    const { periodic } = limitsFor(asker.agentId);
    return periodic.length === 0 ? [] : await appliedTo(periodic, asker, now());
  };

  const balances = async (asker: Asker): Promise<readonly Balance[]> => await balancesOf(store, await applied(asker));

  /** The smallest call of a webhook for which a limit had no room. The next webhook would find none, either. */
  const least = new Map<string, number>();
  const periodOf = ({ path, span }: AppliedLimit): string => `${path} ${span.start}`;
  const hasNoRoom = ({ limit, used }: Balance): boolean => used >= limit.total || used + (least.get(periodOf(limit)) ?? 0) > limit.total;

  const usedUp = async (asker: Asker): Promise<Balance | undefined> =>
    (await balances(asker)).find(({ limit, used }) => used >= limit.total);

  async function check(asker: Asker): Promise<void> {
    const found = await usedUp(asker);
    if (found === undefined) return;
    void notices.reached(found, asker);
    throw exceeded(found, 0);
  }

  const lost = (model: string, error: unknown): void => log.warn({ model, error: reasonOf(error) }, "a model call could not be recorded");

  /** The ledger must not hold up a turn, and a lost row must not end it. */
  async function record(call: Parameters<ModelCalls["recordCall"]>[0], limits: readonly AppliedLimit[], asker: Asker): Promise<void> {
    try {
      await store.recordCall(call);
      if (limits.length > 0) await notices.report(await balancesOf(store, limits, { exact: true }), asker);
    } catch (error) {
      lost(call.model, error);
    }
  }

  return {
    meter(asker) {
      const limits = limitsFor(asker.agentId);
      return createMeter(asker, {
        ...{ limits, now, newId },
        applied: () => applied(asker),
        async price(model, tokens) {
          if (limits.needsPrices) await prices.load();
          return prices.of(model, tokens);
        },
        async reserve(call, concerned) {
          const asked = concerned.map(({ asked }) => asked);
          const { refusedBy, spent } = await store.reserveCall(call, asked);
          const limit = refusedBy === null ? undefined : concerned[refusedBy];
          return limit === undefined ? null : { limit, used: usedOf(limit, spent[refusedBy ?? 0] ?? { tokens: 0, usd: 0 }) };
        },
        record: (call, concerned) => record(call, concerned, asker),
        release: (id) => store.releaseCall(id),
        onLost: lost,
        async onRefused({ limit }, needed) {
          // Calls that run have set room aside, and may give most of it back.
          const [exact] = await balancesOf(store, [limit], { exact: true });
          if (exact === undefined || exact.used + needed <= limit.total) return;
          if (least.size > 1_000) least.clear();
          if (asker.purpose === "webhook") least.set(periodOf(limit), Math.min(needed, least.get(periodOf(limit)) ?? needed));
          await notices.reached(exact, asker);
        },
      });
    },
    admit: (asker) => (limitsFor(asker.agentId).periodic.length === 0 ? undefined : check(asker)),
    usedUpUntil(asker) {
      if (limitsFor(asker.agentId).periodic.length === 0) return undefined;
      return balances(asker).then((all) => {
        const found = all.find(hasNoRoom);
        if (found === undefined) return undefined;
        if (found.used >= found.limit.total) void notices.reached(found, asker);
        return { until: found.limit.span.end };
      });
    },
    async tell(inbound, route) {
      if (!isOfPerson(inbound)) return undefined;
      const asker = askerOf(inbound, route);
      const all = await balances(asker);
      // The one that is used up, or that the next call would have exceeded.
      const [nearest] = all.toSorted((one, other) => other.used / other.limit.total - one.used / one.limit.total);
      if (nearest === undefined) return undefined;
      const { limit } = nearest;
      const [exact] = await balancesOf(store, [limit], { exact: true });
      if (exact !== undefined && nearest.used > exact.used && exact.used < limit.warnAt * limit.total) return refusal.busy;
      const { channel, account, sender } = inbound;
      if (!(await notices.isFirst(limit, [channel, account, sender.id]))) return undefined;
      return limit.scope === "sender" ? refusal.sender : refusal[limit.period];
    },
    balances,
    async add(asker, { amount, unit, period }) {
      const isMeant = (limit: AppliedLimit) => limit.scope !== "sender" && limit.unit === unit && limit.period === period;
      for (const limit of (await applied(asker)).filter(isMeant)) await grants.add({ limit, span: limit.span }, amount);
      return (await balances(asker)).filter(({ limit }) => isMeant(limit));
    },
  };
}
