/** The limits of the configuration that apply to an agent's calls. */
import { type AgentsView, type BudgetSettings, budgetOf } from "../../config/index.ts";
import type { Period } from "./periods.ts";

export type Unit = "tokens" | "usd";

/** One limit of a day or a month. */
export interface Limit {
  /** Whose calls are summed: those of one agent, of all agents, or of each person. */
  readonly scope: "agent" | "all" | "sender";
  /** For the scope `agent`, and for a limit of each person by an agent. */
  readonly agentId?: string;
  readonly period: Period;
  readonly unit: Unit;
  readonly amount: number;
  /** The setting. */
  readonly path: string;
  readonly timezone?: string;
  readonly warnAt: number;
  readonly refusesUnpriced: boolean;
}

/** A limit of a single run. */
export interface RunLimit {
  readonly tokens: number;
  readonly path: string;
}

export interface Limits {
  readonly periodic: readonly Limit[];
  /** The smallest one. */
  readonly run?: RunLimit;
  /** Whether one is in US dollars. */
  readonly needsPrices: boolean;
}

const defaultWarnAt = 0.8;

const keys = {
  perDayTokens: { period: "day", unit: "tokens", each: false },
  perDayUsd: { period: "day", unit: "usd", each: false },
  perMonthTokens: { period: "month", unit: "tokens", each: false },
  perMonthUsd: { period: "month", unit: "usd", each: false },
  perSenderPerDayTokens: { period: "day", unit: "tokens", each: true },
  perSenderPerDayUsd: { period: "day", unit: "usd", each: true },
} as const satisfies Partial<Record<keyof BudgetSettings, { period: Period; unit: Unit; each: boolean }>>;

type LimitKey = keyof typeof keys;

/**
 * The zone of an agent's days: that of its budget, of the top-level budget, of the agents; `undefined` is the host's.
 */
export function dayZone(config: AgentsView, agentId: string): string | undefined {
  return budgetOf(config, agentId).settings.timezone ?? totalZone(config);
}

const totalZone = ({ budget, agents }: AgentsView): string | undefined =>
  budget?.timezone ?? agents?.defaults?.timezone;

function limitsOf(
  budget: BudgetSettings,
  {
    agentId,
    pathOf,
    zone,
  }: { readonly agentId?: string; readonly pathOf: (key: LimitKey) => string; readonly zone: string | undefined },
): readonly Limit[] {
  const { warnAt = defaultWarnAt, onUnpriced = "refuse" } = budget;
  const timezone = budget.timezone ?? zone;
  return (Object.keys(keys) as LimitKey[]).flatMap((key): readonly Limit[] => {
    const amount = budget[key];
    if (amount === undefined) return [];
    const { period, unit, each } = keys[key];
    return [
      {
        scope: each ? "sender" : agentId === undefined ? "all" : "agent",
        agentId,
        ...{ period, unit, amount, warnAt, path: pathOf(key), refusesUnpriced: onUnpriced === "refuse" },
        ...(timezone === undefined ? {} : { timezone }),
      },
    ];
  });
}

function readLimits(config: AgentsView, agentId: string): Limits {
  const total = config.budget ?? {};
  const own = budgetOf(config, agentId);
  const periodic = [
    ...limitsOf(own.settings, { agentId, pathOf: own.pathOf, zone: totalZone(config) }),
    ...limitsOf(total, { pathOf: (key) => `budget.${key}`, zone: totalZone(config) }),
  ];
  const runs: readonly RunLimit[] = [
    ...(own.settings.perRunTokens === undefined
      ? []
      : [{ tokens: own.settings.perRunTokens, path: own.pathOf("perRunTokens") }]),
    ...(total.perRunTokens === undefined ? [] : [{ tokens: total.perRunTokens, path: "budget.perRunTokens" }]),
  ];
  const [run] = runs.toSorted((one, other) => one.tokens - other.tokens);
  return { periodic, run, needsPrices: periodic.some(({ unit }) => unit === "usd") };
}

/** Reads the limits of each agent once for each configuration. */
export function createLimits(config: () => AgentsView): (agentId: string) => Limits {
  let known: { readonly of: AgentsView; readonly byAgent: Map<string, Limits> } | undefined;
  return (agentId) => {
    const of = config();
    if (known?.of !== of) known = { of, byAgent: new Map() };
    const found = known.byAgent.get(agentId) ?? readLimits(of, agentId);
    known.byAgent.set(agentId, found);
    return found;
  };
}
