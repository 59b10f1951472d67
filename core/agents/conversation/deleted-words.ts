/** Removes a deleted message from conversations, by lines that the gateway writes and no sender can imitate. */
import type { Inbound, Json } from "../../contract/index.ts";
import type { Store, StoredMessage } from "../../state/index.ts";
import { plainId, renderEnvelope, spokenMark } from "./envelope.ts";
import { messageText } from "./transcript.ts";
import type { WaitingEvents } from "./waiting-events.ts";

/** A message by the ids of its platform. */
export interface NamedMessage {
  readonly channel: string;
  readonly chat: string;
  readonly sender: string;
  readonly messageId: string;
}

/** The beginning of the text of a noted edit; a deletion finds it by that. */
export const editedText = (messageId: string): string => `message:${plainId(messageId)} was edited, and reads now:`;

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const time = String.raw`[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d UTC`;
const when = `${time}(?: edited)?(?:${escaped(spokenMark)})?`;
/** A link or a task box at the beginning of a line is a sender's: no line of the gateway continues like that. */
const ofSender = /^\[(?:[^\]\n]*\]\(|[ xX]\] )/;

/** The text in pieces, each of which begins with a line of the gateway. */
function blocksOf(text: string): readonly string[] {
  const blocks: string[] = [];
  for (const block of text.split(/\n(?=\[)/)) {
    const last = blocks.length - 1;
    if (last >= 0 && ofSender.test(block)) blocks[last] += `\n${block}`;
    else blocks.push(block);
  }
  return blocks;
}

/** Where the message that a turn answers begins; -1 if there is none. */
const headIn = (blocks: readonly string[], channel: string): number => {
  const head = new RegExp(String.raw`^\[${escaped(plainId(channel))} [^\]\n]*${when}\] `);
  return blocks.findIndex((block) => head.test(block));
};

/** What a turn read before its message, and what is left of the message. Empty if nothing is. */
function leftOf(text: string, channel: string, rest: Inbound | undefined): string {
  const blocks = blocksOf(text);
  const head = headIn(blocks, channel);
  const context = (head === -1 ? [] : blocks.slice(0, head)).join("\n").trim();
  return [context, rest === undefined ? "" : renderEnvelope(rest)].filter((piece) => piece !== "").join("\n\n");
}

/** The text without the message where others mention it: in the context of a group, as an edit, and in a quote. */
export function withoutMessage(text: string, { channel, chat, sender, messageId }: NamedMessage): string {
  const blocks = blocksOf(text);
  const who = escaped(`id:${plainId(sender)}`);
  const which = escaped(`message:${plainId(messageId)}`);
  const overheard = new RegExp(String.raw`^\[context (?:[^\]\n]*? )?${who} ${which} ${time}[^\]\n]*\] `);
  const edited = new RegExp(String.raw`^\[event ${who} ${time}\] ${escaped(editedText(messageId))}`);
  const answered = new RegExp(String.raw`^\[reply(?: to [^\]\n]*?)? ${which}(?:, quoting)?\]`);
  // A conversation can have messages of several chats, which may have the same ids.
  const isHere = blocks[headIn(blocks, channel)]?.split("] ", 1)[0]?.includes(`id:${plainId(chat)}`) === true;
  return blocks
    .flatMap((block) => {
      if (overheard.test(block) || edited.test(block)) return [];
      return [isHere && answered.test(block) ? block.replace(/\n>[^\n]*/g, "") : block];
    })
    .join("\n");
}

/**
 * Files that came with a message, as its notes name them. What is shown or said in a file is in quotes, and may itself
 * contain a path. A file of a message that it answers belongs to that one.
 */
export const pathsIn = (text: string): readonly string[] =>
  [...text.matchAll(/^\[attached (?!there )([^\n]*)\]$/gm)].flatMap(
    ([, facts = ""]) => / at (.+?)(?: (?:showing|saying) "")*$/.exec(facts.replace(/"[^"]*"/g, '""'))?.[1] ?? [],
  );

export interface DeletedMessage {
  readonly message: NamedMessage;
  /** The conversations that may contain it. */
  readonly sessions: readonly string[];
  /** The units that answered it or one of its edits; `rest`: what is left of their message. */
  readonly units: readonly { readonly unitId: string; readonly rest?: Inbound }[];
  /** The events of the message and of its edits. */
  readonly events: readonly string[];
}

/** Resolves with the paths of the files that came with the message. */
export function createForgetMessage({
  store,
  waiting,
}: {
  readonly store: Pick<Store, "messagesAbout" | "editTranscript" | "list" | "delete">;
  readonly waiting: Pick<WaitingEvents, "of" | "remove">;
}): (deleted: DeletedMessage) => Promise<readonly string[]> {
  async function forgetNotes(session: string, events: readonly string[]): Promise<void> {
    const noted = (await waiting.of(session)).filter(({ id }) => events.includes(id));
    if (noted.length > 0) await waiting.remove(session, noted);
  }

  /** What the tools of its turn were asked, and what they returned. */
  async function forgetCalls(unitId: string): Promise<void> {
    for (const { key } of await store.list("tool-calls", { prefix: `${unitId}:` }))
      await store.delete("tool-calls", key);
  }

  return async ({ message, sessions, units, events }) => {
    const gone = new Map(units.map(({ unitId, rest }) => [unitId, rest]));
    const files: string[] = [];
    const textAfter = ({ unitId = "", role, content }: StoredMessage): string => {
      const text = messageText(content);
      if (!gone.has(unitId)) return withoutMessage(text, message);
      const rest = gone.get(unitId);
      if (role !== "user") return rest === undefined ? "" : text;
      if (rest === undefined) files.push(...pathsIn(text));
      return withoutMessage(leftOf(text, message.channel, rest), message);
    };
    const text = `message:${plainId(message.messageId)}`;
    for (const session of sessions) {
      await forgetNotes(session, events);
      const found = await store.messagesAbout({ text, unitIds: [...gone.keys()], session });
      for (const [transcript, stored] of Map.groupBy(found, (one) => one.transcript)) {
        const after = stored.map((one) => ({ id: one.id, before: messageText(one.content), content: textAfter(one) }));
        const remove = after.flatMap(({ id, content }) => (content === "" ? [id] : []));
        const replace = after.flatMap(({ id, before, content }): { id: number; content: Json }[] =>
          content === "" || content === before ? [] : [{ id, content }],
        );
        if (remove.length + replace.length > 0) await store.editTranscript({ transcript, remove, replace });
      }
    }
    for (const { unitId, rest } of units) if (rest === undefined) await forgetCalls(unitId);
    return files;
  };
}
