/** Removes the reading position, so that a mailbox that is set up again begins with the mails that arrive then. */
import { setTimeout as sleep } from "node:timers/promises";
import type { CliCall } from "service-gateway/sdk";
import type { MailboxName } from "../handover.ts";
import { isHeld } from "../lease.ts";
import { createLedger } from "../ledger.ts";
import { retained, type Steps } from "./steps.ts";

/** A gateway applies an edit of the configuration within seconds. */
const patienceMs = 10_000;
const lookMs = 100;

export async function forgetMailbox(call: CliCall, steps: Steps, mailbox: MailboxName): Promise<void> {
  const ledger = createLedger(call, mailbox.source, mailbox.account);
  const begun = (await ledger.progress()) ?? (await ledger.start());
  if (begun === undefined) await steps.step("place", "Looking", async () => retained("No reading position is stored."));
  else
    await steps.change(
      "place",
      { would: "forget the reading position", done: "The position is forgotten." },
      async () => {
        // A gateway that is still reading would write it again.
        for (let left = patienceMs; left > 0 && (await isHeld(call, mailbox)); left -= lookMs) await sleep(lookMs);
        await ledger.forget();
      },
    );
}
