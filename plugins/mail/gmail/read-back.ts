/** A mailbox of Gmail whose reading begins before its first look: the mails since then are listed by their time, the later ones by the history. */
import type { Cursor, MailSource } from "../source.ts";
import type { GmailSource } from "./source.ts";

/** A list by time may miss a mail that has just come. */
const lateMs = 600_000;

/** A cursor without any field is that of a mailbox that was never looked at, and is to be read from the time in `since` or `lastMail` on. */
export function withReadBack(source: GmailSource, { now }: { readonly now: () => number }): GmailSource {
  const changesSince: MailSource["changesSince"] = async (cursor, before) => {
    if (Object.keys(cursor).length > 0) return source.changesSince(cursor, before);
    const from = before.since ?? before.lastMail;
    // The history is asked for first, so that nothing falls in between.
    const begun: Cursor = { ...(await source.baseline()), began: from, relist: { from, until: now() + lateMs } };
    return source.changesSince(begun, before);
  };
  return { ...source, changesSince };
}
