/** What the error of a send or a removal means for the part. */
import type { LiveAccount } from "../../channels/index.ts";
import { ChannelError, findCode, hintOfCode, PluginError, reasonOf } from "../../contract/index.ts";

/** A leftover preview is a nuisance, but a chat that waits for its removal would be worse. */
const mostRemovals = 5;

/** The platform's own error. After any other error it is unknown whether the part was sent. */
export function channelError(thrown: unknown): ChannelError {
  const cause = thrown instanceof PluginError ? thrown.cause : thrown;
  if (cause instanceof ChannelError) return cause;
  return new ChannelError("channel_failed", { fate: "unknown", detail: reasonOf(thrown), cause: thrown });
}

/** The error itself knows only the hints of the gateway's own codes. */
export function hintOf(
  { hint, reason, retryable }: ChannelError,
  account: LiveAccount | undefined,
): string | undefined {
  return hint ?? hintOfCode(findCode(reason, { channel: account?.codes ?? {} }), { retrying: retryable });
}

/** If the outcome is unknown but a repetition is harmless, a few attempts treat the part as not sent. */
export function repeatable(error: ChannelError, attempt: number): ChannelError {
  if (error.fate === "not-sent") return error;
  return new ChannelError(error.reason, { retryable: attempt < mostRemovals, detail: error.message, cause: error });
}
