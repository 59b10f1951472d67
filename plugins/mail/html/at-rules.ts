/** Which conditional rules of a style sheet apply where a person reads a mail. */
import { parseDeclarations } from "./declarations.ts";

/** The window of a reader, in pixels. Rules for a narrower or wider one do not apply. */
const window = { width: 1_000, height: 700 };

const pixels: Readonly<Record<string, number>> = { "": 1, px: 1, em: 16, rem: 16, pt: 4 / 3, in: 96, cm: 37.8 };

function lengthOf(text: string): number | undefined {
  const [, number = "", unit = ""] = /^([+-]?(?:\d+\.?\d*|\.\d+))([a-z]*)$/.exec(text) ?? [];
  const factor = pixels[unit];
  return number === "" || factor === undefined ? undefined : Number(number) * factor;
}

/** One condition of a media query, such as `(min-width: 1px)`. One that is not known here does not hold. */
function holds(condition: string): boolean {
  const [, limit, side, text = ""] =
    /^\(\s*(min|max)-(?:device-)?(width|height)\s*:\s*([^)]*?)\s*\)$/.exec(condition) ?? [];
  const length = limit === undefined ? undefined : lengthOf(text);
  if (length !== undefined && (side === "width" || side === "height"))
    return limit === "min" ? window[side] >= length : window[side] <= length;
  const [, compared, operator, than = ""] = /^\(\s*(width|height)\s*(>=?|<=?)\s*([^)]*?)\s*\)$/.exec(condition) ?? [];
  const other = compared === undefined ? undefined : lengthOf(than);
  if (other !== undefined && (compared === "width" || compared === "height"))
    return operator?.startsWith(">") === true ? window[compared] >= other : window[compared] <= other;
  return /^(?:all|screen|\(\s*(?:prefers-color-scheme\s*:\s*light|color|orientation\s*:\s*landscape)\s*\))$/.test(
    condition,
  );
}

/** Whether the rules of `@media` and of `@layer` apply to the window of a reader. */
export function appliesToScreens(head: string): boolean {
  const [, name, query = ""] = /^@(media|layer)\b\s*(.{0,500})$/is.exec(head) ?? [];
  if (name === undefined) return false;
  if (name.toLowerCase() === "layer" || query.trim() === "") return true;
  return query
    .toLowerCase()
    .split(",")
    .some((one) =>
      one
        .trim()
        .replace(/^only\s+/, "")
        .split(/\s+and\s+/)
        .every((condition) => holds(condition.trim())),
    );
}

/** Whether the rules of an `@supports` apply whose one condition every program fulfils. */
export function isSupported(head: string, isKnown: (property: string) => boolean): boolean {
  const [, condition = ""] = /^@supports\s*\(([^()]{1,200})\)$/i.exec(head) ?? [];
  return parseDeclarations(condition).some(({ name }) => isKnown(name));
}
