/**
 * What of a plugin's declaration crosses to the main thread: data. What cannot is named, so that its author or user can
 * act on it.
 */
import type {
  ChannelCapabilities,
  ChannelDefinition,
  ChannelIdentity,
  CheckDefinition,
  CommandDefinition,
  EngineDefinition,
  PanelDefinition,
  PluginDefinition,
  RouteDefinition,
  SharedChannelRoute,
  TapOrder,
  ToolDefinition,
} from "../sdk/contract.ts";
import type { HookName } from "../stations/index.ts";

/** The functions of a channel's definition, beside `open`. The core awaits what they return. */
export type ChannelFunction = "accountOf" | "capabilities" | "check" | "fold" | "signsInAs" | "weak";

/** A definition without its functions. */
export type ChannelData = Omit<
  ChannelDefinition,
  "capabilities" | "check" | "cli" | "identity" | "open" | "route" | "signsInAs"
> & {
  /** Without its function. */
  readonly route?: Omit<SharedChannelRoute, "accountOf">;
  /** Absent if they are a function. */
  readonly capabilities?: ChannelCapabilities;
  readonly identity?: Omit<ChannelIdentity, "fold" | "weak"> & { readonly weak?: boolean };
  /** Those that it has. */
  readonly functions: readonly ChannelFunction[];
};
/** The section of a plugin without its check. */
export type SectionData = Omit<NonNullable<PluginDefinition["section"]>, "check"> & { readonly checks: boolean };
export type PluginData = Omit<PluginDefinition, "setup" | "cli" | "channel" | "section"> & {
  readonly channel?: ChannelData;
  readonly section?: SectionData;
};
export type EngineData = Pick<EngineDefinition, "id" | "needsModel" | "stateless" | "hears"> & {
  readonly prepares: boolean;
  readonly describes: boolean;
  readonly transcribes: boolean;
  readonly speaks: boolean;
  readonly completes: boolean;
  readonly skips: boolean;
};

/** What a module declares. `problem`: why it cannot run in a worker. */
export type Declared =
  | { readonly id: string; readonly definition: PluginData }
  | { readonly id: string; readonly problem: string };

/** What `setup` registered. The main thread names each of a list by its index. */
export interface Registered {
  readonly channels: readonly ChannelData[];
  readonly engines: readonly EngineData[];
  readonly commands: readonly Omit<CommandDefinition, "run">[];
  readonly routes: readonly Omit<RouteDefinition, "handler">[];
  readonly tools: readonly (Omit<ToolDefinition, "run" | "needsApproval"> & {
    readonly needsApproval?: boolean | "asked";
  })[];
  /** Ids of sources of tools. */
  readonly toolSources: readonly string[];
  readonly taps: readonly { readonly hook: HookName; readonly order?: TapOrder }[];
  readonly checks: readonly (Pick<CheckDefinition, "name"> & { readonly fixes: boolean })[];
  readonly devices: number;
  readonly watched: number;
  readonly panels: readonly (Omit<PanelDefinition, "entries" | "acts"> & {
    readonly acts: Readonly<Record<string, Omit<NonNullable<PanelDefinition["acts"]>[string], "run">>>;
  })[];
}

/** A thing that cannot cross, as a phrase to follow "cannot run in a worker". */
export class Uncrossable extends Error {}

/** A copy without the members in `known`. Throws `Uncrossable` that names the first function elsewhere. */
export function dataOf<T>(value: object, what: string, known: readonly string[] = []): T {
  const own = Object.fromEntries(Object.entries(value).filter(([name]) => !known.includes(name)));
  const found = findFunction(own, "");
  if (found !== undefined)
    throw new Uncrossable(`${found} of ${what} is a function, which cannot be called from another thread`);
  try {
    return JSON.parse(JSON.stringify(own)) as T;
  } catch {
    throw new Uncrossable(`${what} is not plain data`);
  }
}

function findFunction(value: unknown, path: string, seen = new Set<unknown>()): string | undefined {
  if (typeof value === "function") return path;
  if (typeof value !== "object" || value === null || seen.has(value)) return undefined;
  seen.add(value);
  for (const [name, one] of Object.entries(value)) {
    const found = findFunction(one, path === "" ? name : `${path}.${name}`, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function channelData({
  capabilities,
  check,
  route,
  signsInAs,
  identity,
  ...channel
}: ChannelDefinition): ChannelData {
  const { fold, weak, ...rest } = identity ?? {};
  const given = { accountOf: route?.accountOf, capabilities, check, fold, signsInAs, weak };
  const functions = Object.entries(given).flatMap(([name, value]) =>
    typeof value === "function" ? [name as ChannelFunction] : [],
  );
  const { accountOf: _function, ...address } = route ?? { path: "" };
  const shared = route === undefined ? {} : { route: address };
  const same = typeof capabilities === "function" ? {} : { capabilities };
  const written = { ...rest, ...(typeof weak === "boolean" && { weak }) };
  return dataOf(
    { ...channel, ...same, ...shared, functions, ...(identity !== undefined && { identity: written }) },
    `the channel ${channel.id}`,
    ["open", "cli"],
  );
}

function sectionData({ check, ...section }: NonNullable<PluginDefinition["section"]>): SectionData {
  return { ...dataOf<Omit<SectionData, "checks">>(section, `the section ${section.key}`), checks: check !== undefined };
}

export function declaredOf(definition: PluginDefinition): Declared {
  const { id } = definition;
  try {
    const { channel, section } = definition;
    const data = {
      ...dataOf<PluginData>(definition, "its declaration", ["setup", "cli", "channel", "section"]),
      ...(channel !== undefined && { channel: channelData(channel) }),
      ...(section !== undefined && { section: sectionData(section) }),
    };
    return { id, definition: data };
  } catch (error) {
    if (error instanceof Uncrossable) return { id, problem: error.message };
    throw error;
  }
}
