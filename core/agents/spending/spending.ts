/** Accounts for model calls: the ledger, the budgets, and who is notified of them. */
import type { AgentsView } from "../../config/index.ts";
import { type Inbound, type Route, reasonOf } from "../../contract/index.ts";
import type { PluginLog } from "../../sdk/contract.ts";
import type { ModelCalls, Spent, Store } from "../../state/index.ts";
import { type AppliedLimit, type Balance, balancesOf, createApplied, usedOf } from "./applied.ts";
import { type Asker, askerOf, isOfPerson } from "./asker.ts";
import { createGrants } from "./grants.ts";
import { createLimits, dayZone, type Unit } from "./limits.ts";
import { createMeter, type Meter } from "./meter.ts";
import { createNotices, type NoticeOptions } from "./notices.ts";
import { createPeriods, type Period } from "./periods.ts";
import { createPrices } from "./prices.ts";
import { createBudgetRoom } from "./room.ts";
import { createRunningCalls } from "./running-calls.ts";
import { exceeded, refusal, shortRefusal, usedUpText } from "./wording.ts";

/** A limit that is used up. */
interface UsedUp {
  /** Epoch milliseconds from which models are called again. */
  readonly until: number;
  readonly path: string;
  /** How much is used, without a full stop, and what to change. */
  readonly detail: string;
  readonly hint: string;
}

export interface Spending {
  /** Counts the calls of one turn, or of one description of an image. */
  meter(asker: Asker): Meter;
  /**
   * Rejects with `budget_exceeded` if a limit is used up, so that nothing is begun for it.
   */
  admit(asker: Asker): Promise<void>;
  /**
   * Resolves with the limit of an agent that is used up, or has no room for a call; with `undefined` if there is none.
   */
  usedUp(asker: Asker): Promise<UsedUp | undefined>;
  /**
   * What a person reads whose message was refused: the whole sentence once an hour, a short one in between. `undefined`
   * for others.
   */
  tell(inbound: Inbound, route: Route): Promise<{ readonly text: string; readonly isShort?: true } | undefined>;
  /** What has been used today of models, with a budget or without: by the person who asks, or by everyone. */
  today(asker: Asker, whose: "everyone" | "asker"): Promise<Spent>;
  /** The limits that apply, and what is used of them. */
  balances(asker: Asker): Promise<readonly Balance[]>;
  /**
   * Adds to the limits of an agent and of all agents in the current period. Resolves with the limits that it raised.
   */
  add(
    asker: Asker,
    more: { readonly amount: number; readonly unit: Unit; readonly period: Period },
  ): Promise<readonly Balance[]>;
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
  const spanOf = createPeriods();
  const appliedTo = createApplied({ grants, spanOf });
  const notices = createNotices(options);
  const running = createRunningCalls({ store, now });

  const applied = async (asker: Asker): Promise<readonly AppliedLimit[]> => {
    const { periodic } = limitsFor(asker.agentId);
    return periodic.length === 0 ? [] : await appliedTo(periodic, asker, now());
  };

  const balances = async (asker: Asker): Promise<readonly Balance[]> => await balancesOf(store, await applied(asker));

  const room = createBudgetRoom();

  const fullLimit = async (asker: Asker): Promise<Balance | undefined> =>
    (await balances(asker)).find(({ limit, used }) => used >= limit.total);

  async function admit(asker: Asker): Promise<void> {
    if (limitsFor(asker.agentId).periodic.length === 0) return;
    const found = await fullLimit(asker);
    if (found === undefined) return;
    void notices.reached(found, asker);
    throw exceeded(found, 0);
  }

  async function usedUp(asker: Asker): Promise<UsedUp | undefined> {
    if (limitsFor(asker.agentId).periodic.length === 0) return undefined;
    const all = await balances(asker);
    const full = all.find(({ limit, used }) => used >= limit.total);
    if (full !== undefined) void notices.reached(full, asker);
    const refusing = all.flatMap(({ limit }) => (room.hasRefused(limit) ? [limit] : []));
    const found = full ?? (await running.settled(refusing)).find((balance) => room.isUsedUp(balance, asker.agentId));
    if (found === undefined) return undefined;
    const { span, path } = found.limit;
    return { until: span.end, path, ...usedUpText(found) };
  }

  const lost = (model: string, error: unknown): void =>
    log.warn({ model, error: reasonOf(error) }, "a model call could not be recorded");

  /** The ledger must not hold up a turn, and a lost row must not end it. */
  async function record(
    call: Parameters<ModelCalls["recordCall"]>[0],
    limits: readonly AppliedLimit[],
    asker: Asker,
  ): Promise<void> {
    try {
      await store.recordCall(call).finally(() => running.end(call.id));
      if (limits.length > 0) await notices.report(await running.settled(limits), asker);
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
        async price(model, tokens, seconds) {
          if (limits.needsPrices) await prices.load();
          return prices.of(model, tokens, seconds);
        },
        async reserve(call, concerned) {
          const asked = concerned.map(({ asked }) => asked);
          const { refusedBy, spent } = await store.reserveCall(call, asked);
          const limit = refusedBy === null ? undefined : concerned[refusedBy];
          if (limit === undefined) {
            running.add(call);
            room.admitted(call);
          }
          return limit === undefined
            ? null
            : { limit, used: usedOf(limit, spent[refusedBy ?? 0] ?? { tokens: 0, usd: 0 }) };
        },
        record: (call, concerned) => record(call, concerned, asker),
        release: (id) => store.releaseCall(id).finally(() => running.end(id)),
        onLost: lost,
        async onRefused({ limit }, needed) {
          const [settled] = await running.settled([limit]);
          // Without the calls that run there would be room.
          if (settled === undefined || settled.used + needed <= limit.total) return;
          room.refused(limit);
          if (room.isUsedUp(settled, asker.agentId)) await notices.reached(settled, asker);
          else await notices.tooLarge(settled, needed);
        },
      });
    },
    admit,
    usedUp,
    async tell(inbound, route) {
      if (!isOfPerson(inbound)) return undefined;
      const asker = askerOf(inbound, route);
      const all = await balances(asker);
      // The one that is used up, or that the next call would have exceeded.
      const [nearest] = all.toSorted((one, other) => other.used / other.limit.total - one.used / one.limit.total);
      if (nearest === undefined) return undefined;
      const { limit } = nearest;
      const [settled = nearest] = await running.settled([limit]);
      if (nearest.used > settled.used && settled.used < limit.warnAt * limit.total) return { text: refusal.busy };
      const isLarge = !room.isUsedUp(settled, route.agentId);
      const { channel, account, sender } = inbound;
      const who = [channel, account, sender.id, ...(isLarge ? ["large"] : [])];
      const kind = isLarge ? "large" : limit.scope === "sender" ? "sender" : limit.period;
      const isWhole = await notices.isFirst(who, { event: inbound.id, at: now() });
      return isWhole ? { text: refusal[kind] } : { text: shortRefusal[kind], isShort: true };
    },
    balances,
    async today({ agentId, channel, sender }, whose) {
      const since = spanOf("day", now(), dayZone(config(), agentId)).start;
      const own = channel === undefined || sender === undefined ? {} : { sender: { channel, id: sender } };
      const [spent = { tokens: 0, usd: 0 }] = await store.spent([{ since, ...(whose === "asker" ? own : {}) }]);
      return spent;
    },
    async add(asker, { amount, unit, period }) {
      const isMeant = (limit: AppliedLimit) =>
        limit.scope !== "sender" && limit.unit === unit && limit.period === period;
      for (const limit of (await applied(asker)).filter(isMeant)) await grants.add({ limit, span: limit.span }, amount);
      return (await balances(asker)).filter(({ limit }) => isMeant(limit));
    },
  };
}
