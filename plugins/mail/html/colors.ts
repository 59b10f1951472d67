/** Colors as mails write them, and whether a reader can distinguish two of them. */

/** Red, green and blue from 0 to 255. */
export type Rgb = readonly [number, number, number];

/** `undefined`: not a color that is known here. `null`: transparent. */
export type Color = Rgb | null | undefined;

const named: Readonly<Record<string, string>> = {
  ...{
    white: "fff",
    black: "000",
    red: "f00",
    lime: "0f0",
    blue: "00f",
    yellow: "ff0",
    cyan: "0ff",
    aqua: "0ff",
    magenta: "f0f",
  },
  ...{
    fuchsia: "f0f",
    silver: "c0c0c0",
    gray: "808080",
    grey: "808080",
    maroon: "800000",
    olive: "808000",
    green: "008000",
  },
  ...{
    purple: "800080",
    teal: "008080",
    navy: "000080",
    orange: "ffa500",
    pink: "ffc0cb",
    gold: "ffd700",
    beige: "f5f5dc",
  },
  ...{
    whitesmoke: "f5f5f5",
    snow: "fffafa",
    ivory: "fffff0",
    ghostwhite: "f8f8ff",
    floralwhite: "fffaf0",
    aliceblue: "f0f8ff",
  },
  ...{
    azure: "f0ffff",
    mintcream: "f5fffa",
    seashell: "fff5ee",
    honeydew: "f0fff0",
    linen: "faf0e6",
    oldlace: "fdf5e6",
  },
  ...{ lavenderblush: "fff0f5", lightyellow: "ffffe0", cornsilk: "fff8dc", lavender: "e6e6fa", gainsboro: "dcdcdc" },
  ...{
    lightgray: "d3d3d3",
    lightgrey: "d3d3d3",
    darkgray: "a9a9a9",
    darkgrey: "a9a9a9",
    dimgray: "696969",
    dimgrey: "696969",
  },
  ...{
    brown: "a52a2a",
    crimson: "dc143c",
    tomato: "ff6347",
    coral: "ff7f50",
    salmon: "fa8072",
    khaki: "f0e68c",
    tan: "d2b48c",
  },
  ...{
    darkblue: "00008b",
    royalblue: "4169e1",
    steelblue: "4682b4",
    skyblue: "87ceeb",
    lightblue: "add8e6",
    darkgreen: "006400",
  },
};

/** More transparent than this cannot be read. */
const leastAlpha = 0.06;

function hex(digits: string): Color {
  const full = digits.length <= 4 ? [...digits].map((digit) => digit + digit).join("") : digits;
  const parts = [0, 2, 4, 6].map((at) => Number.parseInt(full.slice(at, at + 2), 16));
  if (full.length === 8 && (parts[3] ?? 255) / 255 < leastAlpha) return null;
  return [parts[0] ?? 0, parts[1] ?? 0, parts[2] ?? 0];
}

const share = (text: string, whole: number) =>
  text.endsWith("%") ? (Number.parseFloat(text) / 100) * whole : Number.parseFloat(text);

function fromHsl(hue: number, saturation: number, lightness: number): Rgb {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const part = (offset: number) => {
    const at = (((offset + hue / 30) % 12) + 12) % 12;
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(at - 3, 9 - at, 1))));
  };
  return [part(0), part(8), part(4)];
}

/** `text` is in lower case. In attributes such as `bgcolor`, the number sign may be missing. */
export function parseColor(text: string, { isAttribute = false }: { readonly isAttribute?: boolean } = {}): Color {
  if (text === "transparent") return null;
  if (text === "initial" || text === "canvastext") return [0, 0, 0];
  if (text === "canvas") return [255, 255, 255];
  const digits = /^#?((?:[\da-f]{3,4}){1,2})$/.exec(text)?.[1];
  if (digits !== undefined && (text.startsWith("#") || (isAttribute && digits.length === 6))) return hex(digits);
  const code = Object.hasOwn(named, text) ? named[text] : undefined;
  if (code !== undefined) return hex(code);
  const [, kind, inside = ""] = /^(rgb|hsl)a?\(([\d\s.,%/deg+-]{1,60})\)$/.exec(text) ?? [];
  if (kind === undefined) return parseGray(text);
  const [a = "", b = "", c = "", alpha = "1"] = inside.split(/[\s,/]+/).filter((part) => part !== "");
  if (share(alpha, 1) < leastAlpha) return null;
  const color: Rgb =
    kind === "rgb"
      ? [share(a, 255), share(b, 255), share(c, 255)]
      : fromHsl(Number.parseFloat(a), share(b, 1), share(c, 1));
  return color.some(Number.isNaN) ? undefined : color;
}

/** The notations of newer programs, as far as they name a gray. */
function parseGray(text: string): Color {
  const [, kind = "", inside = ""] = /^(hwb|lab|lch|oklab|oklch|color)\(([^()]{1,80})\)$/.exec(text) ?? [];
  const parts = inside.split(/[\s,/]+/).filter((part) => part !== "");
  if (kind === "color")
    return parts[0] === "srgb" ? grayOf(parts.slice(1, 4).map((part) => share(part, 1))) : undefined;
  const [a = Number.NaN, b = Number.NaN, c = Number.NaN] = parts.map((part) => share(part, 1));
  if (kind === "hwb") {
    const [white, black] = [b, c].map((part) => (part > 1 ? part / 100 : part));
    return (white ?? 0) + (black ?? 0) >= 0.99 ? grayOf([(white ?? 0) / ((white ?? 0) + (black ?? 0))]) : undefined;
  }
  const isOk = kind.startsWith("ok");
  const chroma = kind.endsWith("lch") ? Math.abs(b) : Math.hypot(b, c);
  if (kind === "" || !(chroma <= (isOk ? 0.03 : 5))) return undefined;
  const lightness = isOk || parts[0]?.endsWith("%") === true ? a : a / 100;
  const linear = isOk ? lightness ** 3 : lightness > 0.08 ? ((lightness + 0.16) / 1.16) ** 3 : lightness / 9.033;
  return grayOf([linear <= 0.0031308 ? linear * 12.92 : 1.055 * linear ** (1 / 2.4) - 0.055]);
}

function grayOf([red = Number.NaN, green = red, blue = red]: readonly number[]): Color {
  const color: Rgb = [Math.round(red * 255), Math.round(green * 255), Math.round(blue * 255)];
  return color.some(Number.isNaN) ? undefined : color;
}

/** Relative luminance (WCAG 2). */
function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((part) => {
    const value = Math.min(255, Math.max(0, part)) / 255;
    return value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
}

/** Below this contrast, which is less than that of a light gray on white, text cannot be seen. */
const leastContrast = 1.12;

export function looksAlike(one: Rgb, other: Rgb): boolean {
  const distance = Math.max(...one.map((part, at) => Math.abs(part - (other[at] ?? 0))));
  // A red and a green of the same brightness can still be distinguished.
  if (distance > 48) return false;
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05) < leastContrast;
}

/** The colors of a gradient. */
export const colorsIn = (text: string): readonly Color[] =>
  (
    text
      .slice(0, 500)
      .match(
        /#[\da-f]{3,8}\b|(?:rgb|hsl)a?\([^)]*\)|\b(?!linear|radial|conic|gradient|repeating|deg|to\b)[a-z]{3,20}\b(?!\()/g,
      ) ?? []
  )
    .map((word) => parseColor(word))
    .filter((color) => color !== undefined);

/** The color of a gradient that shows only one; `undefined` for every other. */
export function evenColor(colors: readonly Color[]): Rgb | undefined {
  const [first] = colors;
  if (first === undefined || first === null) return undefined;
  return colors.every((color) => color !== null && color !== undefined && looksAlike(color, first)) ? first : undefined;
}
