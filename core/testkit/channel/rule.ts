/** A rule of the contract: its title, the channels it applies to, and its test. */
import type { ChannelDefinition } from "../../sdk/contract.ts";
import type { Bench } from "./bench.ts";
import type { ChannelContractOptions, PlatformAbility } from "./options.ts";

export interface Rule {
  readonly title: string;
  /** Applies only to channels with this capability. */
  readonly capability?: "threads" | "buttons" | "media";
  /** Applies only to platforms with all of these abilities; `[]`: to any platform. */
  readonly needs?: readonly PlatformAbility[];
  /** Throws a sentence that says what is wrong and what the contract requires. */
  run(bench: Bench): Promise<void>;
}

/** Whether a rule applies to a channel. */
export function applies({ capability, needs }: Rule, { capabilities }: ChannelDefinition, { platform }: ChannelContractOptions): boolean {
  if (capability !== undefined && capabilities[capability] !== true) return false;
  return needs === undefined || (platform !== undefined && needs.every((ability) => platform.can.includes(ability)));
}
