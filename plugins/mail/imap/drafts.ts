/** The drafts folder of an IMAP mailbox. */
import type { ImapFlow } from "imapflow";
import { type DraftFolder, SourceError } from "../source.ts";
import { withoutStall } from "./deadline.ts";
import { faultOf, quoted } from "./faults.ts";

export function createDraftFolder({
  host,
  user,
  connected,
  settle,
}: {
  readonly host: string;
  readonly user: string;
  readonly connected: () => Promise<ImapFlow>;
  /** Reopens the folder for which the server sends notifications. */
  readonly settle: () => Promise<void>;
}): DraftFolder {
  async function over<T>(work: (open: ImapFlow) => Promise<T>): Promise<T> {
    try {
      const open = await connected();
      return await withoutStall({ client: open, host }, work(open));
    } catch (error) {
      throw faultOf(error, host);
    }
  }

  return {
    ...(/^[^@\s]+@[^@\s]+$/.test(user) ? { owner: user } : {}),
    async has(messageId) {
      const found = await over(async (open) => {
        const lock = await open.getMailboxLock(await pathOf(open, host), { readOnly: true });
        try {
          return await open.search({ header: { "message-id": messageId } }, { uid: true });
        } finally {
          lock.release();
        }
      });
      await settle();
      if (!found)
        throw new SourceError("outage", `${host} could not search the drafts.`, "It is retried automatically.");
      return found.length > 0;
    },
    store: ({ text, begins }) =>
      over(async (open) => {
        const path = await pathOf(open, host);
        await begins();
        try {
          await open.append(path, text, ["\\Draft"]);
        } catch (error) {
          const { responseStatus, responseText = "" } = error as {
            readonly responseStatus?: string;
            readonly responseText?: string;
          };
          if (responseStatus !== "NO" && responseStatus !== "BAD") throw error;
          const reason = responseText === "" ? "" : ` (${quoted(responseText)})`;
          throw new SourceError(
            "setup",
            `${host} does not accept a draft in ${path}${reason}.`,
            "Check the free space and the permissions of the mailbox.",
          );
        }
      }),
  };
}

async function pathOf(open: ImapFlow, host: string): Promise<string> {
  const folders = (await open.list()).filter(({ specialUse }) => specialUse === "\\Drafts");
  // The server's own statement takes precedence over a name that looks right.
  const folder = folders.find(({ specialUseSource }) => specialUseSource === "extension") ?? folders[0];
  if (folder !== undefined) return folder.path;
  throw new SourceError(
    "setup",
    `The mailbox at ${host} has no drafts folder.`,
    "Create a folder named Drafts, or remove reply from the mailbox.",
  );
}
