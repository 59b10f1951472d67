/** What the platform reports of messages that it has accepted. */
import { findCode } from "../../../contract/index.ts";
import { type Bench, shown } from "../bench.ts";
import type { Rule } from "../rule.ts";

/** What the channel has reported of a message that the bot has just sent. */
async function reportOf(bench: Bench, what: "delivered" | "failed" | "read") {
  const { address } = await bench.meet("Hello");
  const messageId = await bench.send("a message", address);
  await bench.able("report")(what);
  await bench.until(
    () => bench.test.reports.length > 0,
    () => `The platform reported a message as ${what}, but account.sent was not called.`,
  );
  const [first] = bench.test.reports;
  if (first?.messageId !== messageId)
    throw new Error(
      `The message ${messageId} was sent, and the report is about ${shown(first?.messageId)}. account.sent takes an ` +
        "id of the receipt of send.",
    );
  if (first.chat !== undefined && first.chat !== address.chat)
    throw new Error(`The message was sent to the chat ${address.chat}, and the report is about one in ${first.chat}.`);
  return first.report;
}

async function reportsFailure(bench: Bench): Promise<void> {
  const report = await reportOf(bench, "failed");
  if (typeof report !== "object")
    throw new Error(`The platform reported a failure, and account.sent was called with ${shown(report)}.`);
  if (findCode(report.failed, { plugin: bench.definition.codes ?? {} }) === undefined)
    throw new Error(
      `A failure was reported with the code ${shown(report.failed)}, which is not registered. Declare it in ` +
        "codes, or use one of the gateway's.",
    );
}

async function reportsArrival(bench: Bench): Promise<void> {
  const report = await reportOf(bench, "delivered");
  if (report !== "delivered")
    throw new Error(`The platform reported that a message arrived, and account.sent was called with ${shown(report)}.`);
}

export const reportRules: readonly Rule[] = [
  { title: "reports > a failure after the receipt is reported with its code", needs: ["report"], run: reportsFailure },
  { title: "reports > a delivered message is reported", needs: ["report"], run: reportsArrival },
];
