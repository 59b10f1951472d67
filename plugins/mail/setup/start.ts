/** The step of `--since`: reading begins that far back at the first start. */
import type { CliCall } from "service-gateway/sdk";
import type { MailboxName } from "../handover.ts";
import { createLedger } from "../ledger.ts";
import { retained, type Steps } from "./steps.ts";

/**
 * Runs before the configuration is written, because a running gateway starts to read right afterwards. Resolves with a
 * function that undoes it.
 */
export async function prepareStart(
  call: CliCall,
  steps: Steps,
  mailbox: MailboxName,
  { sinceMs }: { readonly sinceMs?: number },
): Promise<() => Promise<void>> {
  if (sinceMs === undefined) return async () => {};
  const ledger = createLedger(call, mailbox.source, mailbox.account);
  const since = call.now() - sinceMs;
  const begun = await ledger.progress();
  const planned = await ledger.start();
  if (begun !== undefined || planned !== undefined) {
    await steps.step("start", "Checking where reading begins", async () =>
      retained(
        begun === undefined
          ? `Reading begins with the mails since ${timeOf(planned ?? since)}.`
          : "Reading has already begun and continues from its position; teardown resets it.",
      ),
    );
    return async () => {};
  }
  const from = `the mails since ${timeOf(since)}`;
  const detail = { would: `begin with ${from}`, done: `Reading begins with ${from}.` };
  await steps.change("start", detail, () => ledger.setStart(since));
  return async () => {
    if (!steps.dryRun) await ledger.setStart(undefined);
  };
}

const timeOf = (at: number) => `${new Date(at).toISOString().slice(0, 16)}Z`;
