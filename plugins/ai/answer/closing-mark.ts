/**
 * Judges a closing mark of reasoning that has no opening one before it, such as a lone `</think>`: it ends a thought,
 * or the answer is about such marks.
 */

/** Whether more of the text may follow. */
export type Ending = "more" | "over";

const fence = /^ {0,3}(?:```|~~~)/;
const endsSentence = /[.!?…。！？:;)\]"'”’*_]$/u;
/** How an answer begins directly behind a mark. */
const beginsAnswer = /^[\p{L}\p{N}\p{Extended_Pictographic}#*_`>[({"'“‘«¡¿|~+-]/u;
/** Marks of a quotation, each as often as not at its beginning. */
const pairs = ["`", '"', "*", "_", "'"] as const;
const openings = /[([{“‘«„<]$/u;
/** Words of a text about marks. */
const aboutMarks = /\b(?:tags?|tokens?|markers?|marks?|delimiters?)\b|think>/i;

function isInFence(text: string): boolean {
  return text.split("\n").filter((line) => fence.test(line)).length % 2 === 1;
}

/** Whether the end of a line is within quotation marks, brackets or code. */
function isQuoted(line: string, after: string): boolean {
  if (openings.test(line)) return true;
  const within = (mark: string) => line.split(mark).length % 2 === 0;
  return within("`") || pairs.some((mark) => line.endsWith(mark) && within(mark) && after.startsWith(mark));
}

/** More space behind a mark says nothing. */
const mostSpace = 200;

/** `unknown`: what follows decides. */
export function judgeClosing({
  before,
  after,
  opening,
  ending,
}: {
  readonly before: string;
  readonly after: string;
  readonly opening: string;
  readonly ending: Ending;
}): "mark" | "text" | "unknown" {
  const line = before.slice(before.lastIndexOf("\n") + 1);
  if (before.toLowerCase().includes(opening) || isInFence(before)) return "text";
  const rest = after.replace(/^[ \t\r]+/, "");
  if (rest === "" && ending === "more" && after.length < mostSpace) return "unknown";
  if (isQuoted(line, after)) return "text";
  const isLast = rest === "" || rest.startsWith("\n");
  // Behind a space, a sentence about the mark would go on in small letters.
  const follows = isLast || beginsAnswer.test(after) || (line.trim() === "" && /^[^\p{Ll}]/u.test(rest));
  const written = line.trim();
  if (written === "") {
    const isExample = before.trimEnd().endsWith(":") && aboutMarks.test(before);
    return follows && !isExample ? "mark" : "text";
  }
  if (/\s$/.test(line)) return isLast && endsSentence.test(written) ? "mark" : "text";
  return follows || endsSentence.test(written) ? "mark" : "text";
}
