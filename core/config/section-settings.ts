/** The settings of a section that a plugin declares, as the plugin reads them. */
import { type AgentsView, agentIds } from "./agents.ts";
import { renderPath, type Segment } from "./path.ts";
import type { GatewayConfig } from "./schema.ts";

/** Where a section is: a top-level key, or one of `agents.defaults` and of each agent. */
export interface SectionPlace {
  readonly key: string;
  readonly of?: "agents";
}

export interface PlacedSettings {
  readonly path: string;
  readonly settings: unknown;
}

export interface SectionReader {
  settings(): unknown;
  ofAgent(agent: string): readonly PlacedSettings[];
  names(): { readonly agents: readonly string[]; readonly channels: readonly string[] };
}

/** Each call reads the configuration of that moment. */
export function readSection({ key, of }: SectionPlace, config: () => GatewayConfig): SectionReader {
  return {
    settings: () => ownValue(of === "agents" ? config().agents.defaults : config(), key),
    ofAgent: (agent) => (of === "agents" ? agentPlaces(config(), key, agent) : []),
    names: () => namesOf(config()),
  };
}

/** The agents and channels that settings may name. */
export function namesOf(config: GatewayConfig): ReturnType<SectionReader["names"]> {
  return { agents: agentIds(config), channels: Object.keys(config.channels) };
}

/** Every place at which the section is configured: its top-level key, or each of the agents that has it. */
export function placesOf({ key, of }: SectionPlace, config: GatewayConfig): readonly PlacedSettings[] {
  if (of !== "agents") return placed(config, [], key);
  const { defaults, list } = config.agents;
  return [
    ...placed(defaults, ["agents", "defaults"], key),
    ...list.flatMap((agent, index) => placed(agent, ["agents", "list", index], key)),
  ];
}

function agentPlaces({ agents }: AgentsView, key: string, agent: string): readonly PlacedSettings[] {
  const index = agents?.list?.findIndex(({ id }) => id === agent) ?? -1;
  return [
    ...placed(agents?.defaults, ["agents", "defaults"], key),
    ...(index === -1 ? [] : placed(agents?.list?.[index], ["agents", "list", index], key)),
  ];
}

function placed(owner: object | undefined, at: readonly Segment[], key: string): readonly PlacedSettings[] {
  const settings = ownValue(owner, key);
  return settings === undefined ? [] : [{ path: renderPath([...at, key]), settings }];
}

const ownValue = (owner: object | undefined, key: string): unknown =>
  owner !== undefined && Object.hasOwn(owner, key) ? (owner as Readonly<Record<string, unknown>>)[key] : undefined;

/** Where `PluginHost.section` resolves a secret: the places of agents' settings are paths already. */
export const secretPath = ({ key, of }: SectionPlace, place: string): string =>
  of === "agents" ? place : `${key}.${place}`;
