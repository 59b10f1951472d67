import { expect, test } from "vitest";
import { conditionOf } from "../../../plugins/mail/faults.ts";
import { createNotices } from "../../../plugins/mail/notices.ts";
import { SourceError } from "../../../plugins/mail/source.ts";

test("the notice about a missing folder does not claim that the mailbox is not read", async () => {
  const sent: string[] = [];
  const host = {
    store: { get: async () => null, set: async () => {} },
    notifyOwner: async (text: string) => sent.push(text) > 0,
    now: () => 7_200_000,
  };
  const notices = createNotices(host as unknown as Parameters<typeof createNotices>[0], {
    source: "imap",
    account: "ada",
  });
  const missing = new SourceError(
    "setup",
    'mail.example has no folder "Wrok".',
    "Correct folders of the mailbox, or create the folder.",
  );
  await notices.follow(conditionOf({ missing }), 0);
  expect(sent).toEqual([
    'The mailbox ada needs attention: mail.example has no folder "Wrok". Correct folders of the mailbox, or ' +
      "create the folder.",
  ]);
});
