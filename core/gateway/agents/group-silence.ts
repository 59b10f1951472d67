/**
 * Explains to an owner, in their direct chat, why the bot does not answer them in a group: an approval applies to
 * direct chats only.
 */
import type { Gate } from "../../access/index.ts";
import { type Inbound, type Refusal, reasonOf } from "../../contract/index.ts";
import { noticeEvent } from "../../host/index.ts";
import type { Log } from "../../log/index.ts";
import type { Path } from "../../path/index.ts";
import { escapeMarkdown } from "../../reply/index.ts";

/** What an owner would not expect. A group that is switched off was switched off on purpose. */
const unexpected: ReadonlySet<string> = new Set(["group_sender_not_allowed", "group_not_listed"]);

export function createGroupSilence({
  gate,
  receive,
  log,
}: {
  readonly gate: Pick<Gate, "isOwner">;
  readonly receive: Path["receive"];
  readonly log: Pick<Log, "warn">;
}): (inbound: Inbound, refused: Refusal) => void {
  async function explain(inbound: Inbound, { code, detail = "", hint = "" }: Refusal): Promise<void> {
    if (!(await gate.isOwner(inbound))) return;
    const { channel, account, chat, sender } = inbound;
    const group = chat.title === undefined ? `the group ${chat.id}` : `the group ${escapeMarkdown(chat.title)}`;
    const why = code === "group_sender_not_allowed" ? "An approval applies to direct chats only. " : "";
    const text = `You wrote to me in ${group}, and I do not answer there. ${why}${detail} ${hint}`;
    await receive(
      noticeEvent({
        // On most platforms the direct chat with a person has the id of the person.
        address: { channel, account, chat: sender.id },
        text: text.trim(),
        dedupeKey: `notice:group:${JSON.stringify([channel, account, chat.id])}`,
      }),
    );
  }

  return (inbound, refused) => {
    const { kind, chat, mention } = inbound;
    if (kind !== "message" || chat.kind !== "group" || !mention || !unexpected.has(refused.code)) return;
    // The refusal does not wait for it, and stands without it.
    explain(inbound, refused).catch((error: unknown) =>
      log.warn({ error: reasonOf(error) }, "the notice to an owner about a group without replies could not be sent"),
    );
  };
}
