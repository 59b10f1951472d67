/** What an error says about an account. */
import { reasonOf } from "./errors.ts";
import { ChannelError } from "./plugin-errors.ts";

/** Why an account is down, for its status: what the error says, and its code and hint where it has them. */
export function failureOf(error: unknown): { readonly code?: string; readonly detail: string; readonly hint?: string } {
  const detail = reasonOf(error);
  if (!(error instanceof ChannelError)) return { detail };
  return { code: error.reason, detail, ...(error.hint !== undefined && { hint: error.hint }) };
}
