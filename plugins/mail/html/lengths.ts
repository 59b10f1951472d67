/** Lengths and shares, as style sheets write them. */

/** A number, or a part of a hundred; 1 where there is none. */
export function share(text: string | undefined): number {
  if (text === undefined || !/^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?%?\s*$/.test(text)) return 1;
  return Number.parseFloat(text) / (text.includes("%") ? 100 : 1);
}

export const numbersIn = (text: string): readonly number[] =>
  (text.match(/-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/g) ?? []).slice(0, 16).map(Number);

const units: Readonly<Record<string, number>> = { px: 1, pt: 4 / 3, pc: 16, in: 96, cm: 37.8, mm: 3.78, q: 0.945 };

/** In pixels; `undefined` for what depends on the window or on the element around it. */
export function lengthOf(text: string | undefined, fontSize: number): number | undefined {
  const [, number = "", unit = ""] =
    /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z%]*)$/.exec(leastOf(text) ?? "") ?? [];
  if (number === "") return undefined;
  const value = Number(number);
  // Clients read a number without a unit as pixels. A percentage of zero is zero.
  if (unit === "" || value === 0) return value;
  if (unit === "em" || unit === "rem" || unit === "ch" || unit === "ex")
    return value * (unit === "rem" ? 16 : fontSize);
  // As far as several windows.
  if (/^(?:%|vw|vh|vmin|vmax)$/.test(unit))
    return value <= -100 || (value > 100 && unit !== "%") ? value * 16 : undefined;
  const factor = units[unit];
  return factor === undefined ? undefined : value * factor;
}

/** Of `min(0px, 1em)` and `clamp(0px, 1px, 0px)`, the part that is nothing, if there is one. */
function leastOf(text: string | undefined): string | undefined {
  const [, name, inside = ""] = /^(min|clamp)\(([^()]{1,200})\)$/.exec(text ?? "") ?? [];
  if (name === undefined) return text;
  const parts = inside.split(",").map((part) => part.trim());
  const isNothing = (part: string | undefined) => part !== undefined && Number.parseFloat(part) <= 0;
  const decides = name === "min" ? parts.find(isNothing) : isNothing(parts[2]) ? parts[0] : undefined;
  return decides ?? text;
}
