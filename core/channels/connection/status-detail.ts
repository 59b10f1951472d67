/** What the operator reads of an account's state, where a channel says it by one of its own codes. */
import { asSentence, ChannelError, type CodeDefinition, findCode, reasonOf } from "../../contract/index.ts";

type Codes = Readonly<Record<string, CodeDefinition>>;

/**
 * A detail that begins with a code, as an error without a text of its own gives it, begins with the code's meaning and hint instead. What follows,
 * such as the time of the next attempt, stays.
 */
export function explainedDetail(detail: string, codes: Codes = {}): string {
  const [, code = "", rest = ""] = /^([a-z][a-z0-9_]*)(?:\.(.*))?$/s.exec(detail) ?? [];
  const known = code === "" ? undefined : findCode(code, { channel: codes });
  return known === undefined ? detail : `${known.meaning} ${known.hint}${rest}`.trim();
}

/** Why a connection did not start, with what the operator can do about it. */
export function startFailure(error: unknown, codes: Codes = {}): string {
  const reason = explainedDetail(reasonOf(error), codes);
  // The error itself knows only the hints of the gateway's own codes.
  const hint = error instanceof ChannelError ? (error.hint ?? findCode(error.reason, { channel: codes })?.hint) : undefined;
  return hint === undefined || reason.includes(hint) ? reason : `${asSentence(reason)} ${hint}`;
}
