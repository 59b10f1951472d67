/** Finds out whose words a stored message contains, by lines that the gateway writes and no sender can imitate. */
import { plainId, spokenMark } from "../../agents/conversation/envelope.ts";
import { messageText } from "../../agents/conversation/transcript.ts";
import type { Json } from "../../contract/types.ts";
import type { Person } from "../../state/removals.ts";

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const time = String.raw`[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d UTC`;
/** The time of a message, and what may follow it. */
const when = `${time}(?: edited)?(?:${escaped(spokenMark)})?`;

/** What the person's id looks like in a transcript. */
export const markOf = ({ id }: Person): string => `id:${plainId(id)}`;

export interface Words {
  /** The person wrote the message that started the turn. */
  readonly asked: boolean;
  /** The content without the person's earlier words and actions; absent if it contains none. */
  readonly without?: string;
}

export function wordsOf(person: Person, content: Json): Words {
  const who = escaped(markOf(person));
  const channel = escaped(plainId(person.channel));
  const direct = new RegExp(String.raw`^\[${channel} (?:[^\]\n]*? )?${who}(?: thread:\S+)? ${when}\] `, "m");
  const group = new RegExp(String.raw`^\[${channel} [^\]\n]* ${when}\] (?:[^\n]*? )?${who}: `, "m");
  const earlier = new RegExp(
    String.raw`^\[(?:context|event) (?:[^\]\n]*? )?${who}(?: message:\S+)? ${time}[^\]\n]*\] `,
  );
  const text = messageText(content);
  const blocks = text.split(/\n(?=\[)/);
  const remaining = blocks.filter((block) => !earlier.test(block));
  return {
    asked: blocks.some((block) => direct.test(block) || group.test(block)),
    ...(remaining.length < blocks.length && { without: remaining.join("\n") }),
  };
}
