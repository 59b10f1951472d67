/** Finds lines that begin a turn of a conversation, as completion models were trained on them: `Human:` behind a blank line. */

export interface RoleLine {
  /** `turn`: nothing but a turn begins like this. `label`: so do forms and reports. */
  readonly kind: "turn" | "label";
  /** First unit of the word, and its colon. */
  readonly first: number;
  readonly last: number;
}

const spaced = (names: readonly string[]): string => names.map((name) => [...name].join("[ \\t]?")).join("|");
const turns = ["human", "assistant"];
const labels = ["system", "user", "developer", "ai"];
/** A beginning of a line up to its colon. */
const role = new RegExp(
  `(?:^|[\\n\\v\\f\\r])[ \\t*_#>~\`|<[(-]{0,24}(?:(${spaced(turns)})|(${spaced(labels)}))[ \\t*_~\`>\\])|]{0,12}$`,
  "d",
);
const longest = 80;
/** What stands between the role and its colon, beside the last letter of a role. */
const mayEndRole = /[a-z \t*_~`>\])|]/;

/** In the order of the text, which is that of a skeleton. */
export function findRoleLines(text: string): readonly RoleLine[] {
  const found: RoleLine[] = [];
  for (let colon = text.indexOf(":"); colon !== -1; colon = text.indexOf(":", colon + 1)) {
    if (!mayEndRole.test(text.charAt(colon - 1))) continue;
    const from = Math.max(0, colon - longest);
    const before = text.slice(from, colon);
    // Most colons follow a word inside a line.
    if (from > 0 && !/[\n\v\f\r]/.test(before)) continue;
    const match = role.exec(before);
    const [first] = match?.indices?.[1] ?? match?.indices?.[2] ?? [];
    if (match === null || first === undefined || !followsBlankLine(text, from + match.index)) continue;
    found.push({ kind: match[1] === undefined ? "label" : "turn", first: from + first, last: colon });
  }
  return found;
}

/** `at`: the line break before the line, or the beginning of the text, before which the wrapper ends a line. */
function followsBlankLine(text: string, at: number): boolean {
  let breaks = 0;
  for (let unit = at; unit >= 0 && /\s/.test(text.charAt(unit)); unit -= 1) {
    const character = text.charAt(unit);
    if (character === " " || character === "\t" || (character === "\r" && text.charAt(unit + 1) === "\n")) continue;
    breaks += 1;
    if (breaks === 2) return true;
    if (unit === 0) return true;
  }
  return false;
}
