/** From a reply to messages of the platform. Pure: the same reply always leads to the same parts. */
import type { Reply } from "service-gateway/sdk";
import type { Part } from "service-gateway/sdk/channel";

/** Characters of one message, as the platform counts them: here whole characters, so that an emoji is one. */
export const maxChars = 2_000;

export function render({ text }: Reply): readonly Part[] {
  return cut(text.trim()).map((body) => ({ kind: "text", chars: [...body].length, body }));
}

/** Cuts a text into messages, at a line or a word where there is one in the second half. */
function cut(text: string): readonly string[] {
  const rest = [...text];
  const pieces: string[] = [];
  while (rest.length > maxChars) {
    const piece = rest.slice(0, maxChars);
    const gap = Math.max(piece.lastIndexOf("\n"), piece.lastIndexOf(" ")) + 1;
    pieces.push(rest.splice(0, gap > maxChars / 2 ? gap : maxChars).join(""));
  }
  return [...pieces, rest.join("")].filter((piece) => piece.trim() !== "");
}
