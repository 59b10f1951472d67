/** The messages of a reply, for platforms of plain text. */
import type { Part, Reply } from "../../contract/index.ts";
import { cutText } from "./cut-text.ts";
import { plainText } from "./plain-text.ts";

/**
 * The parts of a reply, for `render` of a channel without markup: its plain text, cut into messages that the platform
 * takes. The body of each part is its text. `limit` and `unit` are those of `cutText`. With `eachLine`, each line is a
 * message of its own, for platforms whose messages have no line breaks. `lead` begins the first message, such as the
 * name of the person who is answered; a word that does not fit behind it is cut. Files and buttons are left out.
 *
 * @example
 * render: (reply) => textParts(reply, { limit: 400, unit: "bytes" }),
 */
export function textParts(
  { text }: Pick<Reply, "text">,
  {
    limit,
    unit = "utf16",
    eachLine = false,
    lead = "",
  }: {
    readonly limit: number;
    readonly unit?: "utf16" | "bytes" | "characters";
    readonly eachLine?: boolean;
    readonly lead?: string;
  },
): readonly Part[] {
  const plain = plainText(text);
  if (plain.trim() === "") return [];
  const [first = "", ...others] = eachLine ? plain.split("\n") : [plain];
  const pieces = [
    ...withLead(lead, first, { limit, unit }),
    ...others.flatMap((line) => cutText(line, { limit, unit })),
  ];
  return pieces.map((body) => ({ kind: "text", chars: sizeOf(body, unit), body }));
}

type Unit = NonNullable<Parameters<typeof textParts>[1]["unit"]>;

/** A word too long for the first message would leave the lead alone there, so the word is cut. */
function withLead(
  lead: string,
  text: string,
  { limit, unit }: { readonly limit: number; readonly unit: Unit },
): readonly string[] {
  const pieces = cutText(`${lead}${text}`, { limit, unit });
  const room = limit - sizeOf(lead, unit);
  if (pieces.length === 1 || pieces[0] !== lead.trimEnd() || room < 4) return pieces;
  const [head = ""] = cutText(text, { limit: room, unit });
  const end = text.indexOf(head) + head.length;
  return [`${lead}${head}`, ...cutText(text.slice(end), { limit, unit })];
}

function sizeOf(text: string, unit: Unit): number {
  if (unit === "bytes") return Buffer.byteLength(text);
  return unit === "utf16" ? text.length : [...text].length;
}
