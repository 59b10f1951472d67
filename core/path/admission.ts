/** A platform's rate limits, as far as its channel knows them ahead of a send. */
import type { LiveAccount } from "../channels/index.ts";
import { PluginError, reasonOf } from "../contract/index.ts";
import type { OutboxRow } from "../state/index.ts";
import type { Trace } from "./endings/ending.ts";
import type { Admission } from "./unit-result.ts";

/** Longest wait for rate limits, or for the platform to answer, that the trace does not mention. */
export const unreportedWaitMs = 3_000;

/**
 * Applies the platform's rate limits before a row is marked as being sent, so that a process that dies while a row
 * waits leaves no doubt about it. `undefined`: the row may go now.
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

/**
 * Waits for the limits that a row is subject to. `leave`: that wait, if it has begun. Resolves with `false` if the
 * gateway closes.
 */
export async function mayGo(
  row: OutboxRow,
  leave: Admission | undefined,
  options: Parameters<typeof admission>[1] & { readonly trace: Trace },
): Promise<boolean> {
  const { signal, trace } = options;
  const waiting = leave ?? admission(row, options);
  if (waiting === undefined) return !signal.aborted;
  const began = performance.now();
  const { fault } = await waiting;
  if (fault !== undefined) {
    const plugin = fault instanceof PluginError ? fault.plugin : row.address.channel;
    trace.add("delivery", { plugin, verdict: "pass", code: "admit_failed", detail: reasonOf(fault) });
  }
  const waited = performance.now() - began;
  if (waited >= unreportedWaitMs) {
    const detail = `part ${row.index + 1} waited ${Math.round(waited / 1_000)} s for the platform's limits`;
    trace.add("delivery", { plugin: row.address.channel, verdict: "pass", code: "limits_waited", detail });
  }
  return !signal.aborted;
}
