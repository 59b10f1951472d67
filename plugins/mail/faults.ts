/** Describes a failure of a source, a mapping or the store as a cause with a remedy. */

import { type Condition, well } from "./health.ts";
import { type NoticeStatus, SourceError } from "./source.ts";

const statusOf = (error: unknown) => (error as { readonly status?: number } | null)?.status;
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * True if only this mail's mapping failed. Without a mapping at the path, or while nothing can be stored, every mail
 * waits.
 */
export function isOfMapping(error: unknown): boolean {
  const status = statusOf(error);
  return status !== undefined && status !== 404 && status !== 503;
}

export function faultOf(error: unknown): SourceError {
  if (error instanceof SourceError) return error;
  const status = statusOf(error);
  const setup = status !== undefined && status < 500;
  return new SourceError(
    setup ? "setup" : "outage",
    `A mail could not be submitted: ${messageOf(error)}`,
    setup
      ? "Check the mapping of this path and hooks.allowedSessionKeyPrefixes; the mail waits."
      : "It is retried automatically.",
  );
}

/** The state of a mailbox that was just read, except for the part that is `missing`. */
export function conditionOf({ fault, missing }: NoticeStatus & { readonly missing?: SourceError } = {}): Condition {
  if (missing !== undefined) return { state: "needs_setup", reason: missing.message, fix: missing.fix, isRead: true };
  if (fault === undefined) return well;
  const state = fault.kind === "outage" ? "retrying" : "needs_setup";
  return { state, reason: `Mail is found by polling only: ${fault.message}`, fix: fault.fix, isRead: true };
}
