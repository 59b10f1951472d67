/** The messages of a reply, for platforms of plain text. */
import type { Part, Reply } from "../../contract/index.ts";
import { cutText } from "./cut-text.ts";
import { plainText } from "./plain-text.ts";

/**
 * The parts of a reply, for `render` of a channel without markup: its plain text, cut into messages that the platform takes. The body of each
 * part is its text. `limit` and `unit` are those of `cutText`. With `eachLine`, each line is a message of its own, for platforms whose messages have
 * no line breaks. `lead` begins the first message, such as the name of the person who is answered. Files and buttons are left out.
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
  }: { readonly limit: number; readonly unit?: "utf16" | "bytes" | "characters"; readonly eachLine?: boolean; readonly lead?: string },
): readonly Part[] {
  const plain = plainText(text);
  if (plain.trim() === "") return [];
  const said = `${lead}${plain}`;
  const pieces = (eachLine ? said.split("\n") : [said]).flatMap((piece) => cutText(piece, { limit, unit }));
  return pieces.map((body) => ({ kind: "text", chars: sizeOf(body, unit), body }));
}

function sizeOf(text: string, unit: "utf16" | "bytes" | "characters"): number {
  if (unit === "bytes") return Buffer.byteLength(text);
  return unit === "utf16" ? text.length : [...text].length;
}
