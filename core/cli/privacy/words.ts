/** Whose words a stored message contains: by the lines that the gateway vouches for, which no sender can write. */
import { plainId } from "../../agents/conversation/envelope.ts";
import { messageText } from "../../agents/conversation/transcript.ts";
import type { Json } from "../../contract/types.ts";
import type { Person } from "../../state/removals.ts";

const time = String.raw`[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d UTC`;
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** What their id looks like in a transcript. */
export const markOf = ({ id }: Person): string => `id:${plainId(id)}`;

export interface Words {
  /** They wrote the message that was asked. */
  readonly asked: boolean;
  /** The content without what they said or did before it; absent where there is nothing of that. */
  readonly without?: string;
}

export function wordsOf(person: Person, content: Json): Words {
  const who = escaped(markOf(person));
  const channel = escaped(plainId(person.channel));
  const direct = new RegExp(String.raw`^\[${channel} (?:[^\]\n]*? )?${who}(?: thread:\S+)? ${time}(?: edited)?\] `, "m");
  const group = new RegExp(String.raw`^\[${channel} [^\]\n]* ${time}(?: edited)?\] (?:[^\n]*? )?${who}: `, "m");
  const earlier = new RegExp(String.raw`^\[(?:context|event) (?:[^\]\n]*? )?${who}(?: message:\S+)? ${time}[^\]\n]*\] `);
  const text = messageText(content);
  const blocks = text.split(/\n(?=\[)/);
  const kept = blocks.filter((block) => !earlier.test(block));
  return {
    asked: blocks.some((block) => direct.test(block) || group.test(block)),
    ...(kept.length < blocks.length && { without: kept.join("\n") }),
  };
}
