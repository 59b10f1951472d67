/** What an owner reads of a request that is answered or over. */
import type { ApprovalRequest } from "./approval-requests.ts";
import { answeredText, grantedText, inSentence } from "./approval-texts.ts";

/** To whom the tool is allowed until /new; empty if the call alone is allowed. */
const lastingText = ({ lasting, holder }: ApprovalRequest): string =>
  lasting === true && holder !== undefined ? grantedText(holder) : "";

export const allowedText = (request: ApprovalRequest): string =>
  `Allowed${lastingText(request)}; the call begins when the turn resumes.`;

export const overText = (request: ApprovalRequest): string => `That request is over: ${endOf(request)}.`;

function endOf({ state, by, why }: ApprovalRequest): string {
  if (state === "allowed" || state === "denied") return `it was ${state} by ${by}`;
  if (state === "undelivered") return "it could not be delivered";
  if (state !== "withdrawn") return "there was no answer in time";
  if (why === "stopped") return "the turn was stopped";
  return why === "replaced" ? "the turn was interrupted, and asked again in other words" : "the turn has ended";
}

/** What replaces the buttons of a question; `undefined` while an answer, or its call, is awaited. */
export function endText(request: ApprovalRequest): string | undefined {
  const { state, by = "", begun, why } = request;
  if (state === "denied") return answeredText("Denied", by);
  if (state === "allowed") return begun === true ? answeredText("Allowed", by, lastingText(request)) : undefined;
  if (state === "expired") return "There was no answer in time, so the agent must do without.";
  if (state !== "withdrawn") return undefined;
  if (why === "stopped") return "The turn was stopped, so the question is void.";
  const again = "The turn was interrupted, and asks again in other words.";
  if (by === "")
    return why === "replaced" ? `${again} This question is void.` : "The turn has ended, so the question is void.";
  // Allowed, but the turn never made the call.
  return (
    `${inSentence(by)} allowed it, but ` +
    `${why === "replaced" ? `no call had begun. ${again}` : "the turn ended before the call began."}`
  );
}
