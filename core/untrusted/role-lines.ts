/**
 * Finds lines that look like the beginning of a conversation turn in the training data of completion models, such as
 * `Human:` after a blank line.
 */

export interface RoleLine {
  /** `turn`: only turns begin like this. `label`: forms and reports may, too. */
  readonly kind: "turn" | "label";
  /** First unit of the role; `last` is its colon. */
  readonly first: number;
  readonly last: number;
}

const spaced = (names: readonly string[]): string => names.map((name) => [...name].join("[ \\t]?")).join("|");
const turns = ["human", "assistant"];
const labels = ["system", "user", "developer", "ai"];
/** Matches the beginning of a line up to the colon. */
const role = new RegExp(
  `(?:^|[\\n\\v\\f\\r])[ \\t*_#>~\`|<[(-]{0,24}(?:(${spaced(turns)})|(${spaced(labels)}))[ \\t*_~\`>\\])|]{0,12}$`,
  "d",
);
const longest = 80;
/** Characters that may precede the colon: the last letter of a role, or decoration. */
const mayEndRole = /[a-z \t*_~`>\])|]/;

/** Finds all role lines of a skeleton's text, in order. */
export function findRoleLines(text: string): readonly RoleLine[] {
  const found: RoleLine[] = [];
  for (let colon = text.indexOf(":"); colon !== -1; colon = text.indexOf(":", colon + 1)) {
    if (!mayEndRole.test(text.charAt(colon - 1))) continue;
    const from = Math.max(0, colon - longest);
    const before = text.slice(from, colon);
    // Most colons follow a word in the middle of a line.
    if (from > 0 && !/[\n\v\f\r]/.test(before)) continue;
    const match = role.exec(before);
    const [first] = match?.indices?.[1] ?? match?.indices?.[2] ?? [];
    if (match === null || first === undefined || !followsBlankLine(text, from + match.index)) continue;
    found.push({ kind: match[1] === undefined ? "label" : "turn", first: from + first, last: colon });
  }
  return found;
}

/**
 * Whether a blank line precedes the line. `at` is the line break before it, or the start of the text, which the wrapper
 * puts on a new line.
 */
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
