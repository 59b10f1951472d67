/** A platform's rate limits, as far as its channel knows them ahead of a send. */
import type { LiveAccount } from "../channels/index.ts";
import type { OutboxRow } from "../state/index.ts";
import type { Admission } from "./said.ts";

/**
 * Applies the platform's rate limits before a row is marked as being sent, so that a process that dies while a row waits leaves no doubt
 * about it. `undefined`: the row may go now.
 */
export function admission(
  { operation, part, address }: Pick<OutboxRow, "operation" | "part" | "address">,
  {
    account,
    signal,
  }: {
    readonly account: (channel: string, account: string) => LiveAccount | undefined;
    readonly signal: AbortSignal;
  },
): Admission | undefined {
  if (operation !== "send") return undefined;
  try {
    const waiting = account(address.channel, address.account)?.connection.admit?.(part, address, signal);
    return waiting?.then(
      () => ({}),
      (fault: unknown) => ({ fault }),
    );
  } catch (fault) {
    return Promise.resolve({ fault });
  }
}
