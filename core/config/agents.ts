/** The agent settings of the configuration: their types, and the merged settings of one agent. */

import type { Thinking } from "../contract/index.ts";
import type { ModelChoice, ModelTable } from "./model-names.ts";

export interface HeartbeatSettings {
  /** A duration such as `30m`; `0` disables the timer. */
  readonly every?: string;
  readonly prompt?: string;
  readonly ackMaxChars?: number;
  /** `last`, `none` or a channel id. */
  readonly target?: string;
  readonly to?: string;
  readonly activeHours?: { readonly start?: string; readonly end?: string; readonly timezone?: string };
}

/** Limits of model use, for one agent or for all. */
export interface BudgetSettings {
  readonly perRunTokens?: number;
  readonly perDayTokens?: number;
  readonly perDayUsd?: number;
  readonly perMonthTokens?: number;
  readonly perMonthUsd?: number;
  readonly perSenderPerDayTokens?: number;
  readonly perSenderPerDayUsd?: number;
  /** IANA name; absent: the host's zone. */
  readonly timezone?: string;
  /** Share of a limit at which the owner is notified. */
  readonly warnAt?: number;
  readonly onUnpriced?: "refuse" | "allow";
}

/** US dollars for a million tokens, and for a minute of sound. */
export interface ModelPrices {
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly minute?: number;
}
/** Which tools an agent has, by name; `*` stands for any characters. */
export interface ToolSettings {
  /** Absent: all. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** Tools that run only if an owner allows the call. */
  readonly approve?: readonly string[];
  /** `channel:chat`: where an owner is asked in a turn that no person began. */
  readonly approveAt?: string;
}

/** When the older part of a conversation is summarized. */
export interface CompactionSettings {
  readonly enabled?: boolean;
  /** Share of the model's context. */
  readonly at?: number;
  /** How many turns stay word for word. */
  readonly keepTurns?: number;
  /** Writes the summaries; absent: the model of the turn. */
  readonly model?: string;
}

export interface AgentFields {
  readonly engine?: string;
  readonly model?: ModelChoice;
  readonly models?: ModelTable;
  readonly thinking?: Thinking;
  readonly timeoutSeconds?: number;
  /** How many user turns of a conversation the model receives, unless a direct chat sets its own limit. */
  readonly historyTurns?: number;
  /** How many hours a turn that no person watches waits for a model that does not answer. */
  readonly patienceHours?: number;
  readonly workspace?: string;
  readonly systemPrompt?: string;
  /** Names of skills; absent: all. */
  readonly skills?: readonly string[];
  readonly heartbeat?: HeartbeatSettings;
  readonly budget?: BudgetSettings;
  readonly tools?: ToolSettings;
  readonly compaction?: CompactionSettings;
}

export interface ListedAgent extends AgentFields {
  readonly id: string;
  readonly default?: boolean;
  readonly name?: string;
  readonly identity?: { readonly name?: string; readonly emoji?: string };
}

export interface Binding {
  readonly agentId: string;
  readonly match: {
    readonly channel: string;
    readonly accountId?: string;
    readonly peer?: { readonly kind: string; readonly id: string | number };
    readonly threadId?: string | number;
  };
}

export type DmScope = "main" | "per-peer" | "per-channel-peer" | "per-account-channel-peer";

/** The part of the configuration that concerns agents. The whole configuration is assignable to it. */
export interface AgentsView {
  readonly agents?: {
    readonly defaults?: AgentFields & { readonly timezone?: string };
    readonly list?: readonly ListedAgent[];
  };
  readonly bindings?: readonly Binding[];
  readonly session?: { readonly dmScope?: DmScope };
  readonly models?: {
    readonly providers?: Readonly<Record<string, unknown>>;
    readonly prices?: Readonly<Record<string, ModelPrices>>;
    readonly speech?: { readonly out?: { readonly when?: "asked" | "inbound" | "never" } };
  };
  readonly budget?: BudgetSettings;
}

/** One agent with the defaults applied. */
export interface AgentSettings extends AgentFields {
  readonly id: string;
  readonly name?: string;
  readonly identity: { readonly name?: string; readonly emoji?: string };
  readonly heartbeat: HeartbeatSettings;
}

const mainAgentId = "main";

/** The default agent: the one marked `default`, else the first, else `main`. */
export function defaultAgentId(config: AgentsView): string {
  const list = config.agents?.list ?? [];
  return (list.find((agent) => agent.default === true) ?? list[0])?.id ?? mainAgentId;
}

export function agentIds(config: AgentsView): readonly string[] {
  const list = config.agents?.list ?? [];
  return list.length > 0 ? list.map((agent) => agent.id) : [mainAgentId];
}

/** Returns the id if such an agent exists, else the default agent's id. An unknown id is never an error. */
export function knownAgentId(config: AgentsView, id: string | undefined): string {
  return id !== undefined && agentIds(config).includes(id) ? id : defaultAgentId(config);
}

export function agentSettings(config: AgentsView, id: string): AgentSettings {
  const defaults = config.agents?.defaults ?? {};
  const listed: Partial<ListedAgent> = config.agents?.list?.find((agent) => agent.id === id) ?? {};
  return {
    ...defaults,
    ...listed,
    id,
    identity: listed.identity ?? {},
    heartbeat: { ...defaults.heartbeat, ...listed.heartbeat },
    tools: { ...defaults.tools, ...listed.tools },
    compaction: { ...defaults.compaction, ...listed.compaction },
  };
}

/**
 * The budget of an agent, and the path of each of its keys: keys that the agent does not set are those of
 * `agents.defaults`.
 */
export function budgetOf(
  config: AgentsView,
  id: string,
): { readonly settings: BudgetSettings; readonly pathOf: (key: keyof BudgetSettings) => string } {
  const defaults = config.agents?.defaults?.budget ?? {};
  const index = config.agents?.list?.findIndex((agent) => agent.id === id) ?? -1;
  const own = config.agents?.list?.[index]?.budget ?? {};
  return {
    settings: { ...defaults, ...own },
    pathOf: (key) => (own[key] === undefined ? `agents.defaults.budget.${key}` : `agents.list[${index}].budget.${key}`),
  };
}

/** Asked for late and once: the data behind it takes 6 MB, and Node computes the name again in each call. */
const timezoneOfMachine = (() => {
  let found: string | undefined;
  return (): string => {
    found ??= Intl.DateTimeFormat().resolvedOptions().timeZone;
    return found;
  };
})();

/** The time zone for people who chose none. */
export function timezoneOf(config: { readonly agents: { readonly defaults: { readonly timezone?: string } } }): string {
  return config.agents.defaults.timezone ?? timezoneOfMachine();
}
