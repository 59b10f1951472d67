/** Whether a style hides an element with all that is in it: by its place, its size, a clip, a filter or a mask. */
import { colorsIn } from "./colors.ts";
import { lengthOf, numbersIn, share } from "./lengths.ts";

export type Get = (property: string) => string | undefined;
export type Length = (property: string) => number | undefined;

/** As far as this from its place, in pixels, text is outside of every window. */
export const outOfSight = -400;

/** The same to the right or below, where a reader could scroll. */
export const outOfReach = 3_000;

export const leastOpacity = 0.06;

export function isGone(get: Get, length: Length): boolean {
  if (/^(?:none|table-column|table-column-group)$/.test(get("display") ?? "") || get("content-visibility") === "hidden")
    return true;
  if (isFilteredAway(get("filter") ?? "") || isMasked(get)) return true;
  // The letters lie upon each other.
  const spacing = length("letter-spacing");
  if (spacing !== undefined && spacing <= -12) return true;
  return isOutside(get, length) || isClipped(get) || isScaledAway(get) || isFlat(get, length);
}

/** A text that is blurred this far, in pixels, cannot be read. */
const unreadableBlur = 8;

function isFilteredAway(filter: string): boolean {
  const functions = new Map(
    [...filter.slice(0, 500).matchAll(/([a-z]+)\(([^)]{0,100})\)/g)].map(([, name = "", value = ""]) => [name, value]),
  );
  if (share(functions.get("opacity")) < leastOpacity || share(functions.get("contrast")) < leastOpacity) return true;
  if ((lengthOf(functions.get("blur"), 16) ?? 0) >= unreadableBlur) return true;
  return share(functions.get("brightness")) < leastOpacity && share(functions.get("invert") ?? "0") > 0.9;
}

/** A mask of transparent colors alone. */
function isMasked(get: Get): boolean {
  const mask = `${get("mask") ?? ""} ${get("mask-image") ?? ""}`;
  if (!mask.includes("gradient(")) return false;
  const colors = colorsIn(mask);
  return colors.length > 0 && colors.every((color) => color === null);
}

function isOutside(get: Get, length: Length): boolean {
  const isAway = (property: string) => isFar(length(property));
  const isOneAway = (property: string) => (get(property) ?? "").split(" ").some((one) => isFar(lengthOf(one, 16)));
  if (["margin-left", "margin-top"].some(isAway)) return true;
  if (isOneAway("margin") || isOneAway("translate")) return true;
  return (
    /^(?:absolute|fixed|relative|sticky)$/.test(get("position") ?? "") &&
    (["left", "right", "top", "bottom"].some(isAway) || isOneAway("inset"))
  );
}

/** How far an element is moved from its place, in pixels; with those around it, it may be out of sight. */
export interface Shift {
  readonly left: number;
  readonly top: number;
}

export const unmoved: Shift = { left: 0, top: 0 };

/** The properties that move an element; the others need `position`. */
export const moving: readonly string[] = ["position", "margin", "margin-left", "margin-top", "transform", "translate"];

const isPositioned = (get: Get) => /^(?:absolute|fixed|relative|sticky)$/.test(get("position") ?? "");

/** Whether what is placed in the element is placed relative to it. */
export const isAnchor = (get: Get): boolean => isPositioned(get) || get("transform") !== undefined;

/** Text that begins this far above or left of the page cannot be read. */
const offPage: Shift = { left: -100, top: -40 };

/**
 * The place of an element, with those around it. `isAnchored`: one of them is what an absolute place is relative to.
 */
export function shiftOf(
  get: Get,
  length: Length,
  { shift: around, isAnchored }: { readonly shift: Shift; readonly isAnchored: boolean },
): { readonly shift: Shift; readonly isOff: boolean } {
  const own = { left: moved("left", get, length), top: moved("top", get, length) };
  const position = get("position") ?? "";
  const isOfPage = position === "fixed" || (position === "absolute" && !isAnchored);
  const shift = isOfPage ? own : { left: around.left + own.left, top: around.top + own.top };
  const most = isOfPage ? offPage : { left: outOfSight, top: outOfSight };
  return { shift, isOff: shift.left <= most.left || shift.top <= most.top };
}

/** Of a shorthand such as `0 auto auto -20px`. */
function sideOf(shorthand: string | undefined, side: "left" | "top"): string | undefined {
  const [top, right, , left] = (shorthand ?? "").split(" ");
  return side === "top" ? top : (left ?? right ?? top);
}

function moved(side: "left" | "top", get: Get, length: Length): number {
  const place = isPositioned(get) ? (get(side) ?? sideOf(get("inset"), side)) : undefined;
  // From the middle of what is around it, a negative margin only centers an element.
  if (place?.endsWith("%") === true && Number.parseFloat(place) > 0) return 0;
  const at = side === "left" ? 0 : 1;
  const [, name, inside = ""] = /\b(translate(?:3d|x|y)?)\(([^)]{1,100})\)/.exec(get("transform") ?? "") ?? [];
  const other = side === "left" ? "translatey" : "translatex";
  const translated = name === other ? undefined : /[xy]$/.test(name ?? "") ? inside : inside.split(",")[at];
  return [
    lengthOf(place, 16),
    length(`margin-${side}`) ?? lengthOf(sideOf(get("margin"), side), 16),
    lengthOf(translated?.trim(), 16),
    lengthOf((get("translate") ?? "").split(" ")[at], 16),
  ].reduce<number>((sum, one) => sum + (one ?? 0), 0);
}

const isFar = (length: number | undefined): boolean =>
  length !== undefined && (length <= outOfSight || length >= outOfReach);

function isClipped(get: Get): boolean {
  const clip = /^rect\(([^)]{1,100})\)$/.exec(get("clip") ?? "")?.[1];
  if (clip !== undefined && /^(?:absolute|fixed)$/.test(get("position") ?? "") && !clip.includes("auto")) {
    const [top = 0, right = 0, bottom = 0, left = 0] = numbersIn(clip);
    if (right - left <= 1 || bottom - top <= 1) return true;
  }
  const [, shape = "", inside = ""] =
    /^(inset|circle|ellipse|polygon|rect|xywh|path)\(([^)]{0,200})\)/.exec(get("clip-path") ?? "") ?? [];
  if (shape === "inset") return isInset(inside);
  if (shape === "xywh")
    return numbersIn(inside)
      .slice(2, 4)
      .some((number) => number === 0);
  if (/^(?:polygon|rect|path)$/.test(shape)) return numbersIn(inside).every((number) => number === 0);
  return shape !== "" && inside !== "" && (numbersIn(inside)[0] ?? 1) === 0;
}

/** The sides of an inset together leave nothing of the element. */
function isInset(inside: string): boolean {
  const [top = "0", right = top, bottom = top, left = right] = inside
    .replace(/\bround\b.*/, "")
    .trim()
    .split(/\s+/);
  const isAll = (one: string, other: string) => {
    const [first, second] = [one, other].map((side) => Number.parseFloat(side) || 0);
    const sum = (first ?? 0) + (second ?? 0);
    return one.endsWith("%") || other.endsWith("%") ? sum >= 100 : sum >= -outOfSight;
  };
  return isAll(top, bottom) || isAll(left, right);
}

/** Turned so far that only its edge could be seen. */
function isOnEdge(angle: string): boolean {
  const [, number = "", unit = "deg"] = /(-?[\d.]+)(deg|rad|turn|grad)/.exec(angle) ?? [];
  const degrees = Number(number) * ({ rad: 180 / Math.PI, turn: 360, grad: 0.9 }[unit] ?? 1);
  return number !== "" && Math.abs((Math.abs(degrees) % 180) - 90) < 0.5;
}

/** A matrix that makes something flat, or moves it away. */
function isMatrixAway(name: string, inside: string): boolean {
  const [a = 1, b = 0, c = 0, d = 1, x = 0, y = 0] = numbersIn(inside);
  if (name === "matrix") return Math.abs(a * d - b * c) < 0.01 || isFar(x) || isFar(y);
  return name === "matrix3d" && (a === 0 || x === 0);
}

function isScaledAway(get: Get): boolean {
  const isNothing = (text: string) => numbersIn(text).some((number) => Math.abs(number) < 0.05);
  const scale = get("scale");
  const zoom = get("zoom");
  const rotate = get("rotate") ?? "";
  if (/\b[xy]\b/.test(rotate) && isOnEdge(rotate)) return true;
  if ((scale !== undefined && isNothing(scale)) || (zoom !== undefined && share(zoom) < 0.05)) return true;
  for (const [, name = "", inside = ""] of (get("transform") ?? "")
    .slice(0, 500)
    .matchAll(/([a-z0-9]+)\(([^)]{1,100})\)/g)) {
    if (/^scale(?:3d|x|y)?$/.test(name) && isNothing(inside)) return true;
    if (
      /^translate(?:3d|x|y)?$/.test(name) &&
      inside.split(",").some((one) => Math.abs(lengthOf(one.trim(), 16) ?? 0) >= -outOfSight)
    )
      return true;
    if (/^(?:rotate[xy]|skew[xy]?)$/.test(name) && isOnEdge(inside)) return true;
    if (name === "rotate3d" && !/^\s*0\s*,\s*0\s*,/.test(inside) && isOnEdge(inside)) return true;
    if (isMatrixAway(name, inside)) return true;
  }
  return false;
}

/** What does not fit into the element is not shown. */
export const isCut = (get: Get): boolean =>
  ["overflow", "overflow-x", "overflow-y"].some((one) => /^(?:hidden|clip|scroll|auto)/.test(get(one) ?? "")) ||
  /paint|strict|content/.test(get("contain") ?? "");

/** A line of letters needs more. */
const leastLine = 4;

/** Without a width or a height, and without room beside it. */
function isFlat(get: Get, length: Length): boolean {
  const isAtMost = (property: string, most: number) => (length(property) ?? most + 1) <= most;
  if (isAtMost("max-height", 1) || isAtMost("max-width", 1)) return true;
  if (isAtMost("width", 1) && isAtMost("height", 1)) return true;
  if (!isCut(get)) return false;
  const lineHeight = get("line-height");
  if (lineHeight !== undefined && Number.parseFloat(lineHeight) === 0) return true;
  return ["width", "height", "max-width", "max-height"].some((one) => isAtMost(one, leastLine));
}
