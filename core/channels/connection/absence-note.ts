/** What becomes of messages that people write while the gateway is down, for the operator. */
import type { ChannelCapabilities } from "../../sdk/contract.ts";

/** The end of a sentence about an account whose platform drops them; `undefined` for others. */
export function absenceNote({ keepsWhileAway }: Pick<ChannelCapabilities, "keepsWhileAway">): string | undefined {
  return keepsWhileAway === false ? "what people write while the gateway is down is lost" : undefined;
}
