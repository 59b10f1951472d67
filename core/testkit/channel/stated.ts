/** What the rules of a channel are chosen by. */
import { validateSection } from "../../config/index.ts";
import type { ChannelCapabilities, ChannelDefinition } from "../../sdk/contract.ts";
import type { ChannelContractOptions } from "./options.ts";

/**
 * What the channel can do with the options of the contract. The platform's own are not known before it is open: a rule
 * says where they make a difference.
 */
export function statedCapabilities(
  { capabilities, options: schema }: ChannelDefinition,
  { options }: Pick<ChannelContractOptions, "options">,
): ChannelCapabilities {
  if (typeof capabilities !== "function") return capabilities;
  return capabilities(validateSection(schema, options, "options", { unknownKeys: "keep" }).value as never);
}
