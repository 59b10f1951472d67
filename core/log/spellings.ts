/**
 * Finds secrets in whatever spelling their sender's library uses. JSON may escape any character (`\u002b`), again in
 * each text that contains JSON. URLs and forms have `%2b` in either case, and `+` for a space. A form may contain JSON.
 */

const controls: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/**
 * Creates a function that replaces the secrets in every spelling. Nearly all texts have no escapes that matter, and
 * cost nothing.
 */
export function createSpellings(secrets: readonly string[], mark: string): (text: string) => string {
  const isWide = secrets.some((secret) => /[^\0-\x7f]/.test(secret));
  const hasSpace = secrets.some((secret) => secret.includes(" "));
  const hasShortEscape = secrets.some((secret) => /["/\\\n\r\t]/.test(secret));
  const plain = secrets.map((secret) => [plainSpelling(secret, isWide), secret] as const);
  const mayEscape = (text: string): boolean =>
    text.includes("\\u") ||
    text.includes("%") ||
    (hasShortEscape && text.includes("\\\\")) ||
    (hasSpace && text.includes("+"));
  return (text) => {
    if (secrets.length === 0 || !mayEscape(text)) return text;
    const read = plainSpelling(text, isWide);
    const found = plain.filter(([spelling]) => read.includes(spelling));
    return found.reduce((left, [, secret]) => left.replace(spellingsOf(secret), () => mark), text);
  };
}

// A run of backslashes is bounded, because a text of nothing else would be read again from each of them.
const jsonEscapes = /\\{1,8}(?:u([0-9a-f]{4})|(["/nrt]))/gi;
const asciiJsonEscapes = /\\{1,8}(?:u(00[0-7][0-9a-f])|(["/nrt]))/gi;
const percentEscapes = /(?:%[0-9a-f]{2})+/gi;
const asciiPercentEscapes = /(?:%[0-7][0-9a-f])+/gi;

/**
 * Reduces all spellings of a text to one, which only serves to search in it. `isWide`: also those of characters that
 * are not ASCII.
 */
function plainSpelling(text: string, isWide: boolean): string {
  return text
    .replace(isWide ? percentEscapes : asciiPercentEscapes, (bytes) =>
      Buffer.from(bytes.replaceAll("%", ""), "hex").toString("utf8"),
    )
    .replace(isWide ? jsonEscapes : asciiJsonEscapes, (_, unit: string | undefined, character = "") =>
      unit === undefined ? (controls[character] ?? character) : String.fromCharCode(Number.parseInt(unit, 16)),
    )
    .replace(/\\+/g, "\\")
    .replaceAll("+", " ");
}

/** Matches all spellings of a secret. */
function spellingsOf(secret: string): RegExp {
  return new RegExp([...secret.replace(/\\+/g, "\\")].map(spellingsOfCharacter).join(""), "g");
}

const backslashes = "(?:\\\\|%5[cC]){1,8}";

function spellingsOfCharacter(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) =>
    character.charCodeAt(index).toString(16).padStart(4, "0"),
  );
  const percent = percentOf(character);
  const control = Object.keys(controls).find((name) => controls[name] === character);
  const forms = [
    units.map((unit) => `${backslashes}u${inEitherCase(unit)}`).join(""),
    ...(control === undefined ? [] : [`${backslashes}${control}`]),
    ...(character === '"' || character === "/" ? [`${backslashes}(?:${character}|${percent})`] : []),
    ...(character === " " ? ["\\+"] : []),
    ...(character === "\\"
      ? ["(?:(?:\\\\|%5[cC])(?:u005[cC])?){1,64}"]
      : [percent, character.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&")]),
  ];
  return `(?:${forms.join("|")})`;
}

const percentOf = (character: string): string =>
  Buffer.from(character, "utf8")
    .toString("hex")
    .replace(/../g, (byte) => `%${inEitherCase(byte)}`);
const inEitherCase = (digits: string): string =>
  digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
