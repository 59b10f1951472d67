/** What an owner reads of a request that is answered or over. */
import type { ApprovalRequest } from "./approval-requests.ts";
import { grantedText } from "./approval-texts.ts";

/** To whom the tool is allowed until /new; empty if the call alone is allowed. */
export const lastingText = ({ lasting, holder }: ApprovalRequest): string =>
  lasting === true && holder !== undefined ? grantedText(holder) : "";

export const allowedText = (request: ApprovalRequest): string => `Allowed${lastingText(request)}; the call begins when the turn resumes.`;

export const overText = (request: ApprovalRequest): string => `That request is over: ${endOf(request)}.`;

function endOf({ state, by }: ApprovalRequest): string {
  if (state === "allowed" || state === "denied") return `it was ${state} by ${by}`;
  if (state === "undelivered") return "it could not be delivered";
  return state === "withdrawn" ? "the turn was stopped" : "there was no answer in time";
}
