/** What lets a platform recognise a send that is repeated: its key, and how long the platform remembers it. */
import type { ChannelCapabilities } from "../../sdk/contract.ts";
import type { OutboxRow } from "../../state/index.ts";

/** The random digits at the end of a unit's id. */
const randomDigits = 13;
const rowDigits = 7;

/**
 * The key of a row: the same for every attempt, in every process and on every node. The row's number alone would begin
 * again in a new state, where the platform still remembers the old keys.
 */
export function sendKey({ id, unitId }: Pick<OutboxRow, "id" | "unitId">): string {
  return unitId.slice(-randomDigits) + id.toString(36).padStart(rowDigits, "0");
}

/** The key of a preview. As a number, its end is greater than that of any row. */
export const previewKey = (unitId: string): string => `${unitId.slice(-randomDigits)}preview`;

/**
 * Whether the platform shows a message once although it is sent again, `ms` after an attempt that it may have accepted.
 * `undefined`: that attempt may have been made without a key. A clock that was set back says nothing about the time.
 */
export function isShownOnce(
  { operation, part }: Pick<OutboxRow, "operation" | "part">,
  ms: number | undefined,
  repeats: ChannelCapabilities["repeats"],
): boolean {
  if (repeats === undefined || ms === undefined || operation !== "send" || part.replaces !== undefined) return false;
  return repeats === "ever" || (ms >= 0 && ms < repeats.withinSeconds * 1_000);
}
