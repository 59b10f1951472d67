/** How a reader sees an element, and whether its text can be seen at all. */
import { type Color, colorsIn, evenColor, looksAlike, parseColor, type Rgb } from "./colors.ts";
import { type Declaration, parseDeclarations } from "./declarations.ts";
import {
  type Get,
  isAnchor,
  isCut,
  isGone,
  leastOpacity,
  moving,
  outOfReach,
  outOfSight,
  type Shift,
  shiftOf,
  unmoved,
} from "./hiding.ts";
import { lengthOf, share } from "./lengths.ts";
import type { Styled } from "./selectors.ts";
import type { StyleSheet } from "./style-sheet.ts";

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
  /** Of all elements around it together. */
  readonly opacity: number;
  readonly shift: Shift;
  /** An element around it is what an absolute place is relative to. */
  readonly isAnchored: boolean;
  /** Custom properties, such as `--brand`. */
  readonly variables: ReadonlyMap<string, string>;
}

/** A page without styles: black on white. */
export const plainPage: Appearance = {
  isGone: false,
  isVisible: true,
  fontSize: 16,
  color: [0, 0, 0],
  background: [255, 255, 255],
  isIndented: false,
  opacity: 1,
  shift: unmoved,
  isAnchored: false,
  variables: new Map(),
};

/** The properties that decide whether text can be seen. */
const relevant: ReadonlySet<string> = new Set([
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
  ...["clip", "clip-path", "transform", "scale", "zoom", "translate", "rotate", "inset", "mask", "mask-image"],
  ...["line-height", "letter-spacing", "contain"],
]);

/** Other names of them, in the direction of writing of most mails. */
const aliases: Readonly<Record<string, string>> = {
  "inset-inline-start": "left",
  "inset-inline-end": "right",
  "inset-block-start": "top",
  "inset-block-end": "bottom",
  "margin-inline-start": "margin-left",
  "margin-block-start": "margin-top",
  "inline-size": "width",
  "block-size": "height",
  "max-inline-size": "max-width",
  "max-block-size": "max-height",
  "overflow-inline": "overflow-x",
  "overflow-block": "overflow-y",
};

const propertyOf = (name: string): string => {
  const plain = /^-(?:webkit|moz|ms|o)-(?!text-fill-color)/.test(name) ? name.replace(/^-[a-z]+-/, "") : name;
  return aliases[plain] ?? plain;
};

export const isRelevant = (name: string): boolean => relevant.has(propertyOf(name)) || name.startsWith("--");

/** Text of this size, in pixels, is a line or a dot. */
const leastFont = 2;

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
  const variables = variablesOf(values, around.variables);
  const get = (property: string) => resolved(values.get(property), variables);
  const fontSize = sizeOf(get("font-size") ?? fontOf(get("font")), around.fontSize);
  const length = (property: string) => lengthOf(get(property), fontSize);
  const visibility = get("visibility");
  const indent = length("text-indent");
  const opacity = around.opacity * share(get("opacity"));
  const isMoved = moving.some((property) => values.has(property));
  const { shift, isOff } = isMoved ? shiftOf(get, length, around) : { shift: around.shift, isOff: false };
  return {
    isGone: around.isGone || isOff || opacity < leastOpacity || isSameColor(get) || isGone(get, length),
    isVisible: visibility === undefined || visibility === "inherit" ? around.isVisible : visibility === "visible",
    fontSize,
    color: colorOf(get("-webkit-text-fill-color") ?? get("color"), attributed?.color, around.color),
    background: backgroundOf(get, attributed, around.background),
    isIndented: isIndented(get, indent) ?? around.isIndented,
    opacity,
    shift,
    isAnchored: around.isAnchored || (isMoved && isAnchor(get)),
    variables,
  };
}

function isIndented(get: Get, indent: number | undefined): boolean | undefined {
  if (indent !== undefined) return indent <= outOfSight || indent >= outOfReach;
  const text = get("text-indent");
  return text === undefined ? undefined : Number.parseFloat(text) >= 100 && text.endsWith("%") && isCut(get);
}

/** Text and background have one color, whatever its name means. */
function isSameColor(get: Get): boolean {
  const color = get("-webkit-text-fill-color") ?? get("color");
  return (
    /^[a-z]{3,}$/.test(color ?? "") && color !== "inherit" && color === (get("background-color") ?? get("background"))
  );
}

function variablesOf(values: ReadonlyMap<string, string>, around: Appearance["variables"]): Appearance["variables"] {
  const own = [...values].filter(([name]) => name.startsWith("--"));
  return own.length === 0 || around.size > 100 ? around : new Map([...around, ...own]);
}

const longestValue = 1_000;
const call = /^calc\(([^()]*)\)$/;

/** The value without variables, and without a calculation of a single value. */
function resolved(value: string | undefined, variables: Appearance["variables"]): string | undefined {
  let text = value;
  for (let step = 0; text?.includes("var(") === true && text.length <= longestValue && step < 8; step += 1)
    text = text.replace(
      /var\(\s*(--[^\s,()]+)\s*(?:,([^()]*))?\)/g,
      (all, name: string, instead: string | undefined) => (variables.get(name) ?? instead)?.trim() ?? all,
    );
  return text === undefined ? undefined : (call.exec(text)?.[1]?.trim() ?? text);
}

const displays =
  /^(?:none|contents|initial|inherit|unset|revert|block|inline|flex|grid|flow-root|list-item|run-in|ruby|table|inline-\w+|table-[\w-]+|-\w+-[\w-]+|(?:block|inline) [\w-]+|var\(.*)$/;

/** The value of each property that applies: important ones, then those of the element itself, then by the selector. */
function cascade(element: Styled, sheet: StyleSheet, own: readonly Declaration[]): ReadonlyMap<string, string> {
  const rules = sheet.rulesFor(element);
  if (rules.length === 0 && own.length === 0) return new Map();
  const ranked = [
    ...rules.flatMap(({ declarations, specificity, order }) =>
      declarations.map((one) => ({ one, specificity, order })),
    ),
    ...own
      .filter(({ name }) => isRelevant(name))
      .map((one, order) => ({ one, specificity: Number.MAX_SAFE_INTEGER, order })),
  ].sort(
    (a, b) =>
      Number(a.one.isImportant) - Number(b.one.isImportant) || a.specificity - b.specificity || a.order - b.order,
  );
  return new Map(
    ranked.flatMap(({ one: { name, value } }) => {
      const property = propertyOf(name);
      // Programs leave out a value that does not exist, and what was set before stays.
      return property === "display" && !displays.test(value) ? [] : [[property, value] as const];
    }),
  );
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
  if (text === "inherit" || text === "currentcolor" || text === "unset") return around;
  if (text !== undefined) return parseColor(text);
  if (attribute === undefined) return around;
  return parseColor(attribute, { isAttribute: true }) ?? around;
}

function backgroundOf(get: Get, attributed: Attributed | undefined, around: Rgb | undefined): Rgb | undefined {
  const shorthand = get("background") ?? "";
  const picture = `${shorthand} ${get("background-image") ?? ""}`;
  if (attributed?.hasPicture === true || /url\(|image|var\(/.test(picture)) return undefined;
  if (picture.includes("gradient(")) return evenColor(colorsIn(picture));
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
