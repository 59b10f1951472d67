/**
 * Presses of the buttons of a question, and copies of it that the gateway does not know: a process that ends while it
 * sends the question may leave one, with buttons that an owner sees and presses.
 */
import type { Inbound } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";
import type { ClosingOptions } from "./approval-closing.ts";
import { endText } from "./approval-ends.ts";
import { type ApprovalRequest, type ApprovalRequests, aboutOf } from "./approval-requests.ts";
import { approvalEnded, type approvalQuestion } from "./approval-texts.ts";

export interface Copies {
  /** What answers the press in place of the request; `undefined` if the button is one of the request. */
  refused(key: string, request: ApprovalRequest, by: Inbound): Promise<string | undefined>;
}

export function createCopies({
  requests,
  store,
  say,
  edits,
  question,
}: Pick<ClosingOptions, "say" | "edits"> & {
  readonly requests: Pick<ApprovalRequests, "addCopy">;
  readonly store: Pick<Store, "findSent">;
  readonly question: (request: ApprovalRequest) => ReturnType<typeof approvalQuestion>;
}): Copies {
  /**
   * The message gets the question, or its end, in place of whatever it shows. Only after that does a press of it count,
   * because an agent can give a button of its own any value, and the outcome of its sends may be unknown as well.
   */
  async function takeUp(key: string, request: ApprovalRequest, by: Inbound): Promise<string> {
    const { channel, account, chat, messageId = "" } = by;
    const { code, call } = request;
    const typed = `Answer with \`/approve ${code}\` or \`/deny ${code}\`.`;
    if (!edits(by) || messageId === "") return `I do not know that copy of the question. ${typed}`;
    const end = endText(request);
    const shown = end === undefined ? question(request) : { text: approvalEnded(call, end), buttons: [[]] };
    const address = { channel, account, chat: chat.id };
    const event = await say(
      { address, ...shown, replaces: messageId, ...aboutOf(request) },
      `approval-copy:${code}:${end === undefined ? "open" : "over"}:${messageId}`,
    );
    if (end !== undefined) return "";
    await requests.addCopy(key, address, event);
    return (
      "I did not know that copy of the question, because its sending was interrupted. It is up to date " +
      `now: press again. ${typed}`
    );
  }

  return {
    async refused(key, request, by) {
      if (by.kind !== "press") return undefined;
      const { channel, account, chat, messageId = "" } = by;
      // Unlike `sentBy`, it waits for the record of a message that was shown a moment ago.
      const sent = await store.findSent({ channel, account, chat: chat.id, messageId });
      if (sent === null) return await takeUp(key, request, by);
      return request.events.includes(sent.unitId) ? undefined : "That button is not one of a request for approval.";
    },
  };
}
