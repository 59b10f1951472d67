/**
 * Replies stored in the mailbox's drafts folder, for a person to send. A draft has a Message-ID before it is stored, so
 * that one whose outcome is unknown is recognized, and stored a second time at most.
 */
import { createHash } from "node:crypto";
import type { PluginHost } from "service-gateway/sdk";
import { automatedBy } from "../automated.ts";
import type { MailboxName } from "../handover.ts";
import { type DraftFolder, type Mail, SourceError } from "../source.ts";
import { type Answered, answeredOf, renderDraft } from "./text.ts";

/** A mail whose run has not ended, or whose draft is not stored yet. */
interface Pending extends Answered {
  /** How often the draft was sent to the server without an answer. */
  readonly doubts: number;
}

export interface Drafts {
  /** Records the mail of a run. A mail sent by a program gets no draft. */
  expect(mail: Mail, eventId: string): Promise<void>;
  isWaitingFor(eventId: string): boolean;
  /** Stores the drafts of the runs that have ended. Rejects if one could not be stored; the next call retries it. */
  write(): Promise<void>;
}

/** As long as a run can be found by its id. */
const retentionSeconds = 7 * 86_400;
/** If the server gives no answer, a draft is sent to it twice at most. */
const maxDoubts = 2;

export function createDrafts(
  host: Pick<PluginHost, "store" | "hookResult" | "log" | "now">,
  { source, account }: MailboxName,
  { folder, maxBytes }: { readonly folder: DraftFolder; readonly maxBytes: number },
): Drafts {
  const { owner } = folder;
  const prefix = `draft:${source}:${account}:`;
  const keyOf = (eventId: string) => `${prefix}${eventId}`;
  const doneKeyOf = (eventId: string) => `drafted:${source}:${account}:${eventId}`;
  const about = { source, account };
  let waiting: Map<string, Pending> | undefined;

  async function all(): Promise<Map<string, Pending>> {
    if (waiting !== undefined) return waiting;
    const rows = await host.store.list({ prefix });
    waiting = new Map(rows.map(({ key, value }) => [key.slice(prefix.length), value as unknown as Pending]));
    return waiting;
  }

  async function keep(eventId: string, pending: Pending): Promise<void> {
    await host.store.set(keyOf(eventId), JSON.parse(JSON.stringify(pending)), { ttlSeconds: retentionSeconds });
    (await all()).set(eventId, pending);
  }

  async function forget(eventId: string): Promise<void> {
    await host.store.set(doneKeyOf(eventId), true, { ttlSeconds: retentionSeconds });
    await host.store.delete(keyOf(eventId));
    (await all()).delete(eventId);
  }

  async function store(eventId: string, pending: Pending, reply: string): Promise<void> {
    const messageId = messageIdOf(eventId, owner);
    const text = renderDraft(pending, { reply, messageId, at: new Date(host.now()), from: owner });
    let { doubts } = pending;
    if (doubts > 0 && (await folder.has(messageId))) return forget(eventId);
    if (doubts >= maxDoubts) {
      host.log.warn({ ...about, event: eventId }, "a draft may be missing: the mail server twice did not confirm it");
      return forget(eventId);
    }
    const begins = async () => {
      doubts += 1;
      await keep(eventId, { ...pending, doubts });
    };
    try {
      await folder.store({ text, begins });
    } catch (error) {
      // The server has refused, so the draft is not there.
      if (doubts > pending.doubts && error instanceof SourceError && error.kind === "setup")
        await keep(eventId, pending);
      throw error;
    }
    await forget(eventId);
    host.log.info({ ...about, event: eventId }, "a draft waits in the mailbox");
  }

  return {
    async expect(mail, eventId) {
      if (automatedBy(mail.headers) !== false || mail.bodyError !== undefined) return;
      const text = mail.text?.value ?? "";
      const answered = answeredOf(mail, { text, maxBytes });
      if (answered === undefined || answered.to.address.toLowerCase() === owner?.toLowerCase()) return;
      if ((await all()).has(eventId) || (await host.store.get(doneKeyOf(eventId))) !== null) return;
      await keep(eventId, { ...answered, doubts: 0 });
    },
    isWaitingFor: (eventId) => waiting?.has(eventId) === true,
    async write() {
      let refused: unknown;
      for (const [eventId, pending] of [...(await all())]) {
        const result = await host.hookResult(eventId);
        if (result?.ended === false) continue;
        if (result?.reply === undefined) await forget(eventId);
        else
          await store(eventId, pending, result.reply).catch((error: unknown) => {
            // The server is reachable and rejected this folder: the others are tried.
            if (!(error instanceof SourceError) || error.kind !== "setup") throw error;
            refused = error;
          });
      }
      if (refused !== undefined) throw refused;
    },
  };
}

function messageIdOf(eventId: string, owner = ""): string {
  const hash = createHash("sha256").update(eventId).digest("hex").slice(0, 32);
  return `<draft.${hash}@${/@([a-z0-9.-]+)$/i.exec(owner)?.[1] ?? "draft.invalid"}>`;
}
