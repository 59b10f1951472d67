/** A rule of the contract: its title, for which channels it exists, and how to try it. */
import type { ChannelDefinition } from "../../sdk/contract.ts";
import type { Bench } from "./bench.ts";
import type { ChannelContractOptions, PlatformAbility } from "./options.ts";

export interface Rule {
  readonly title: string;
  /** Exists only for channels with this capability. */
  readonly capability?: "threads" | "buttons" | "media";
  /** Exists only with a platform that can do all of these; `[]`: with any platform. */
  readonly needs?: readonly PlatformAbility[];
  /** Throws a sentence that says what is wrong and what the contract asks. */
  run(bench: Bench): Promise<void>;
}

/** Whether a rule exists for a channel. */
export function applies({ capability, needs }: Rule, { capabilities }: ChannelDefinition, { platform }: ChannelContractOptions): boolean {
  if (capability !== undefined && capabilities[capability] !== true) return false;
  return needs === undefined || (platform !== undefined && needs.every((ability) => platform.can.includes(ability)));
}
