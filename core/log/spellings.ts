/**
 * Finds a secret in whatever spelling its sender's library uses. JSON may escape any character (`\u002b`), again in each text that contains
 * JSON. URLs and forms have `%2b` in either case, and `+` for a space. A form may contain JSON.
 */

/** A run of backslashes is bounded, because a text of nothing else would be read again from each of them. */
const jsonEscapes = /\\{1,8}(?:u([0-9a-f]{4})|(["/nrt]))/gi;
const percentEscapes = /(?:%[0-9a-f]{2})+/gi;

const controls: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/** Whether a text may contain a spelling other than the plain one. */
export function hasEscapes(text: string): boolean {
  return text.includes("\\") || text.includes("%") || text.includes("+");
}

/** Reduces all spellings of a text to one. The result only serves to search in it. */
export function plainSpelling(text: string): string {
  return text
    .replace(percentEscapes, (bytes) => Buffer.from(bytes.replaceAll("%", ""), "hex").toString("utf8"))
    .replace(jsonEscapes, (_, unit: string | undefined, character = "") =>
      unit === undefined ? (controls[character] ?? character) : String.fromCharCode(Number.parseInt(unit, 16)),
    )
    .replace(/\\+/g, "\\")
    .replaceAll("+", " ");
}

/** Matches all spellings of a secret. */
export function spellingsOf(secret: string): RegExp {
  return new RegExp([...secret.replace(/\\+/g, "\\")].map(spellingsOfCharacter).join(""), "g");
}

const backslashes = "(?:\\\\|%5[cC]){1,8}";

function spellingsOfCharacter(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index).toString(16).padStart(4, "0"));
  const percent = percentOf(character);
  const control = Object.keys(controls).find((name) => controls[name] === character);
  const forms = [
    units.map((unit) => `${backslashes}u${inEitherCase(unit)}`).join(""),
    ...(control === undefined ? [] : [`${backslashes}${control}`]),
    ...(character === '"' || character === "/" ? [`${backslashes}(?:${character}|${percent})`] : []),
    ...(character === " " ? ["\\+"] : []),
    ...(character === "\\" ? ["(?:(?:\\\\|%5[cC])(?:u005[cC])?){1,64}"] : [percent, character.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&")]),
  ];
  return `(?:${forms.join("|")})`;
}

const percentOf = (character: string): string =>
  Buffer.from(character, "utf8")
    .toString("hex")
    .replace(/../g, (byte) => `%${inEitherCase(byte)}`);
const inEitherCase = (digits: string): string => digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
