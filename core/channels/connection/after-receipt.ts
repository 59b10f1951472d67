/** What a platform reports of a message after it has accepted it. */
import { type Address, type Decision, findCode } from "../../contract/index.ts";
import type { Log } from "../../log/index.ts";
import type { SentReport } from "../../sdk/contract.ts";
import type { Store } from "../../state/index.ts";
import type { LiveAccount } from "../live-account.ts";

export interface AfterReceiptOptions {
  readonly store: Pick<Store, "sentMessages" | "addDecision" | "event">;
  /** Sends an apology for an answer that did not arrive, at most once for a unit. */
  readonly apologize: (undelivered: {
    readonly unitId: string;
    readonly code: string;
    readonly address: Address;
  }) => Promise<unknown>;
  readonly log: Pick<Log, "debug" | "warn">;
  readonly now: () => number;
}

export type ReportSent = (
  live: Pick<LiveAccount, "channel" | "id" | "plugin" | "codes">,
  messageId: string,
  report: SentReport,
  at?: { readonly chat?: string },
) => Promise<void>;

const decisionOf = (report: SentReport): Pick<Decision, "verdict" | "code"> => {
  if (report === "delivered") return { verdict: "done", code: "message_delivered" };
  return report === "read" ? { verdict: "done", code: "message_read" } : { verdict: "failed", code: report.failed };
};

/** Nothing is remembered here: the report is a line in the trace of the event, and a repetition adds none. */
export function createReportSent({ store, apologize, log, now }: AfterReceiptOptions): ReportSent {
  return async ({ channel, id: account, plugin, codes }, messageId, report, at = {}) => {
    const decision = decisionOf(report);
    const line = { channel, account, message: messageId, reason: decision.code };
    const sent = await store.sentMessages({ channel, account, messageId });
    const [found, other] = at.chat === undefined ? sent : sent.filter(({ chat }) => chat === at.chat);
    if (found === undefined) return log.debug(line, "a report about a message that this account did not send");
    if (other !== undefined) return log.debug(line, "a report about a message names no chat, and several have this id");
    const { unitId, chat, thread } = found;
    if (decision.verdict === "failed") {
      if (findCode(decision.code, { plugin: codes }) === undefined)
        log.warn({ ...line, plugin }, "the channel reports a code that is neither the gateway's nor one of its own");
      const event = await store.event(unitId);
      // Only a person waits for an answer. The text is sent once, also after a kill.
      if (event?.source === channel && event.outcome === "answered")
        await apologize({
          unitId,
          code: decision.code,
          address: { channel, account, chat, ...(thread && { thread }) },
        });
    }
    const detail = `message ${messageId}`;
    const isNew = await store.addDecision(unitId, { at: now(), station: "delivery", plugin, ...decision, detail });
    if (isNew && decision.verdict === "failed")
      log.warn({ ...line, event: unitId }, "a message did not reach the person, although the platform had accepted it");
  };
}
