/** How a reader sees an element, and whether its text can be seen at all. */
import { type Color, looksAlike, parseColor, type Rgb } from "./colors.ts";
import { type Declaration, parseDeclarations } from "./declarations.ts";
import type { Styled, StyleSheet } from "./style-sheet.ts";

/** What an element shows, and what the elements in it inherit. */
export interface Appearance {
  /** The element and all that is in it is hidden. */
  readonly isGone: boolean;
  readonly isVisible: boolean;
  /** In pixels. */
  readonly fontSize: number;
  readonly color: Color;
  /** `undefined`: unknown, such as a picture. */
  readonly background: Rgb | undefined;
  /** The first lines of text are moved out of sight. */
  readonly isIndented: boolean;
}

/** A page without styles: black on white. */
export const plainPage: Appearance = {
  isGone: false,
  isVisible: true,
  fontSize: 16,
  color: [0, 0, 0],
  background: [255, 255, 255],
  isIndented: false,
};

/** The properties that decide whether text can be seen. */
export const relevant: ReadonlySet<string> = new Set([
  ...[
    "display",
    "visibility",
    "content-visibility",
    "opacity",
    "filter",
    "font-size",
    "font",
    "color",
    "-webkit-text-fill-color",
  ],
  ...[
    "background",
    "background-color",
    "background-image",
    "width",
    "height",
    "max-width",
    "max-height",
    "overflow",
    "overflow-x",
    "overflow-y",
  ],
  ...["position", "left", "right", "top", "bottom", "margin", "margin-left", "margin-top", "text-indent"],
  ...["clip", "clip-path", "transform", "scale", "zoom"],
]);

/** Text of this size, in pixels, is a line or a dot. */
const leastFont = 2;
/** As far as this from its place, in pixels, text is outside of every window. */
const outOfSight = -400;
const leastOpacity = 0.06;

/** Whether text in the element can be seen. */
export function isShown({ isGone, isVisible, fontSize, color, background, isIndented }: Appearance): boolean {
  if (isGone || !isVisible || isIndented || fontSize <= leastFont || color === null) return false;
  return color === undefined || background === undefined || !looksAlike(color, background);
}

export function appearanceOf(element: Styled, around: Appearance, sheet: StyleSheet): Appearance {
  const { attributes, name } = element;
  const { style } = attributes;
  const values = cascade(element, sheet, style === undefined ? [] : parseDeclarations(style));
  const attributed = attributesOf(name, attributes);
  if (values.size === 0 && attributed === undefined) return around;
  const get = (property: string) => values.get(property);
  const fontSize = sizeOf(get("font-size") ?? fontOf(get("font")), around.fontSize);
  const length = (property: string) => lengthOf(get(property), fontSize);
  const visibility = get("visibility");
  const indent = length("text-indent");
  return {
    isGone: around.isGone || isGone(get, length),
    isVisible: visibility === undefined || visibility === "inherit" ? around.isVisible : visibility === "visible",
    fontSize,
    color: colorOf(get("-webkit-text-fill-color") ?? get("color"), attributed?.color, around.color),
    background: backgroundOf(get, attributed, around.background),
    isIndented: indent === undefined ? around.isIndented : indent <= outOfSight,
  };
}

type Get = (property: string) => string | undefined;
type Length = (property: string) => number | undefined;

/** The value of each property that applies: important ones, then those of the element itself, then by the selector. */
function cascade(element: Styled, sheet: StyleSheet, own: readonly Declaration[]): ReadonlyMap<string, string> {
  const rules = sheet.rulesFor(element);
  if (rules.length === 0 && own.length === 0) return new Map();
  const ranked = [
    ...rules.flatMap(({ declarations, specificity, order }) =>
      declarations.map((one) => ({ one, specificity, order })),
    ),
    ...own
      .filter(({ name }) => relevant.has(name))
      .map((one, order) => ({ one, specificity: Number.MAX_SAFE_INTEGER, order })),
  ].sort(
    (a, b) =>
      Number(a.one.isImportant) - Number(b.one.isImportant) || a.specificity - b.specificity || a.order - b.order,
  );
  return new Map(ranked.map(({ one: { name, value } }) => [name, value]));
}

interface Attributed {
  readonly color?: string;
  readonly background?: string;
  readonly hasPicture?: true;
}

/** What attributes of older HTML say. */
function attributesOf(name: string, attributes: Styled["attributes"]): Attributed | undefined {
  const color = name === "font" ? attributes.color : name === "body" ? attributes.text : undefined;
  const { bgcolor, background } = attributes;
  if (color === undefined && bgcolor === undefined && background === undefined) return undefined;
  return {
    ...(color !== undefined && { color: color.trim().toLowerCase() }),
    ...(bgcolor !== undefined && { background: bgcolor.trim().toLowerCase() }),
    ...(background !== undefined && { hasPicture: true }),
  };
}

function isGone(get: Get, length: Length): boolean {
  if (get("display") === "none" || get("content-visibility") === "hidden") return true;
  if (share(get("opacity")) < leastOpacity || share(/opacity\(([^)]*)\)/.exec(get("filter") ?? "")?.[1]) < leastOpacity)
    return true;
  return isOutside(get, length) || isClipped(get) || isScaledAway(get) || isFlat(get, length);
}

/** A number, or a part of a hundred; 1 where there is none. */
function share(text: string | undefined): number {
  if (text === undefined || !/^\s*[+-]?(?:\d+\.?\d*|\.\d+)%?\s*$/.test(text)) return 1;
  return Number.parseFloat(text) / (text.includes("%") ? 100 : 1);
}

function isOutside(get: Get, length: Length): boolean {
  const isAway = (property: string) => (length(property) ?? 0) <= outOfSight;
  if (["margin-left", "margin-top"].some(isAway)) return true;
  if ((get("margin") ?? "").split(" ").some((one) => (lengthOf(one, 16) ?? 0) <= outOfSight)) return true;
  return (
    /^(?:absolute|fixed|relative|sticky)$/.test(get("position") ?? "") &&
    ["left", "right", "top", "bottom"].some(isAway)
  );
}

const numbersIn = (text: string): readonly number[] =>
  (text.match(/-?(?:\d+\.?\d*|\.\d+)/g) ?? []).slice(0, 16).map(Number);

function isClipped(get: Get): boolean {
  const clip = /^rect\(([^)]{1,100})\)$/.exec(get("clip") ?? "")?.[1];
  if (clip !== undefined && /^(?:absolute|fixed)$/.test(get("position") ?? "") && !clip.includes("auto")) {
    const [top = 0, right = 0, bottom = 0, left = 0] = numbersIn(clip);
    if (right - left <= 1 || bottom - top <= 1) return true;
  }
  const [, shape = "", inside = ""] =
    /^(inset|circle|ellipse|polygon)\(([^)]{0,200})\)/.exec(get("clip-path") ?? "") ?? [];
  if (shape === "inset") return inside.includes("%") && (numbersIn(inside)[0] ?? 0) >= 50;
  if (shape === "polygon") return numbersIn(inside).every((number) => number === 0);
  return shape !== "" && inside !== "" && (numbersIn(inside)[0] ?? 1) === 0;
}

function isScaledAway(get: Get): boolean {
  const isNothing = (text: string) => numbersIn(text).some((number) => Math.abs(number) < 0.05);
  const scale = get("scale");
  const zoom = get("zoom");
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
    if (/^rotate[xy]$/.test(name) && Math.abs(numbersIn(inside)[0] ?? 0) % 180 === 90) return true;
  }
  return false;
}

/** Without a width or a height, and without room beside it. */
function isFlat(get: Get, length: Length): boolean {
  const isNothing = (property: string) => (length(property) ?? 2) <= 1;
  if (isNothing("max-height") || isNothing("max-width")) return true;
  const [wide, high] = [isNothing("width"), isNothing("height")];
  const isCut = ["overflow", "overflow-x", "overflow-y"].some((one) =>
    /^(?:hidden|clip|scroll|auto)/.test(get(one) ?? ""),
  );
  return (wide && high) || ((wide || high) && isCut);
}

const units: Readonly<Record<string, number>> = { px: 1, pt: 4 / 3, pc: 16, in: 96, cm: 37.8, mm: 3.78, q: 0.945 };

/** In pixels; `undefined` for what depends on the window or on the element around it. */
function lengthOf(text: string | undefined, fontSize: number): number | undefined {
  const [, number = "", unit = ""] = /^([+-]?(?:\d+\.?\d*|\.\d+))([a-z%]*)$/.exec(text ?? "") ?? [];
  if (number === "") return undefined;
  const value = Number(number);
  // Clients read a number without a unit as pixels. A percentage of zero is zero.
  if (unit === "" || value === 0) return value;
  if (unit === "em" || unit === "rem" || unit === "ch" || unit === "ex")
    return value * (unit === "rem" ? 16 : fontSize);
  // As far as several windows.
  if (/^(?:%|vw|vh|vmin|vmax)$/.test(unit)) return value <= -100 ? value * 10 : undefined;
  const factor = units[unit];
  return factor === undefined ? undefined : value * factor;
}

const namedSizes: Readonly<Record<string, number>> = {
  "xx-small": 9,
  "x-small": 10,
  small: 13,
  medium: 16,
  large: 18,
  "x-large": 24,
};

function sizeOf(text: string | undefined, around: number): number {
  if (text === undefined) return around;
  if (text.endsWith("%")) return (around * (Number.parseFloat(text) || 0)) / 100;
  return lengthOf(text, around) ?? namedSizes[text] ?? around;
}

/** The size in the shorthand `font: italic 12px/1.5 Arial`. */
const fontOf = (font: string | undefined): string | undefined =>
  /(?:^|\s)((?:\d+\.?\d*|\.\d+)(?:px|pt|em|rem|%)?)(?:\s*\/|\s)/.exec((font ?? "").slice(0, 200))?.[1];

function colorOf(text: string | undefined, attribute: string | undefined, around: Color): Color {
  if (text === "inherit" || text === "currentcolor") return around;
  if (text !== undefined) return parseColor(text);
  if (attribute === undefined) return around;
  return parseColor(attribute, { isAttribute: true }) ?? around;
}

function backgroundOf(get: Get, attributed: Attributed | undefined, around: Rgb | undefined): Rgb | undefined {
  const shorthand = get("background") ?? "";
  const picture = `${shorthand} ${get("background-image") ?? ""}`;
  if (attributed?.hasPicture === true || /url\(|gradient\(|image|var\(/.test(picture)) return undefined;
  const written = get("background-color") ?? (shorthand === "" ? undefined : colorIn(shorthand));
  if (written !== undefined) {
    const color = parseColor(written);
    return color === null || written === "inherit" || written === "none" ? around : color;
  }
  if (attributed?.background === undefined) return around;
  return parseColor(attributed.background, { isAttribute: true }) ?? around;
}

/** The color in a shorthand such as `#fff none repeat`. */
function colorIn(shorthand: string): string {
  const words = shorthand.slice(0, 500).match(/[a-z]+a?\([^)]*\)|[^\s]+/g) ?? [];
  return words.find((word) => parseColor(word) !== undefined) ?? "none";
}
