/** A rule of the contract: its title, for which channels it exists, and how to try it. */
import type { ChannelCapabilities, ChannelDefinition } from "../../sdk/contract.ts";
import type { Bench } from "./bench.ts";
import type { ChannelContractOptions, OptionalFunction, PlatformAbility } from "./options.ts";

type Capability = Exclude<keyof ChannelCapabilities, "maxChars" | "markup" | "messageIds">;

export interface Rule {
  readonly title: string;
  /** Exists only for channels with this capability. */
  readonly capability?: Capability;
  /** Exists only for channels of which this is true. */
  readonly declares?: (definition: ChannelDefinition, capabilities: ChannelCapabilities) => boolean;
  /** Exists only where the options list this function. */
  readonly function?: OptionalFunction;
  /** Exists only with a platform that can do all of these; `[]`: with any platform. */
  readonly needs?: readonly PlatformAbility[];
  /** Does not exist with a platform that can do this. */
  readonly unless?: PlatformAbility;
  /**
   * It looks at the whole process, plays its time, or would be misled by one that is busy: no other is tried beside it.
   */
  readonly alone?: true;
  /** Throws a sentence that says what is wrong and what the contract requires. */
  run(bench: Bench): Promise<void>;
}

/** Whether a rule exists for a channel with these capabilities. */
export function applies(
  rule: Rule,
  definition: ChannelDefinition,
  capabilities: ChannelCapabilities,
  { platform, functions = [] }: Pick<ChannelContractOptions, "platform" | "functions">,
): boolean {
  const { capability, needs } = rule;
  if (capability !== undefined && (capabilities[capability] ?? false) === false) return false;
  if (rule.declares?.(definition, capabilities) === false) return false;
  if (rule.function !== undefined && !functions.includes(rule.function)) return false;
  if (rule.unless !== undefined && platform?.can.includes(rule.unless) === true) return false;
  return needs === undefined || (platform !== undefined && needs.every((ability) => platform.can.includes(ability)));
}
