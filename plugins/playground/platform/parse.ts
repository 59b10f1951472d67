/**
 * Parses `parse_mode: HTML`, accepting and refusing the same input as the platform.
 *
 * Offsets in error messages are bytes of the UTF-8 source, because the platform reports those.
 */
import { badRequest } from "./errors.ts";
import type { Entity, FormattedText, User } from "./wire.ts";

const plainTags: Readonly<Record<string, string>> = {
  b: "bold",
  strong: "bold",
  i: "italic",
  em: "italic",
  u: "underline",
  ins: "underline",
  s: "strikethrough",
  strike: "strikethrough",
  del: "strikethrough",
  "tg-spoiler": "spoiler",
  span: "spoiler",
};
const otherTags: ReadonlySet<string> = new Set(["a", "code", "pre", "blockquote", "tg-emoji"]);
const named: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };

interface OpenTag {
  readonly name: string;
  readonly argument: string;
  /** Where the tag's text begins in the result. */
  readonly from: number;
}

interface Scan {
  readonly source: string;
  at: number;
}

/** Parses HTML. Throws `ApiError` 400 `can't parse entities: ...`. `findUser` resolves `tg://user?id=` links. */
export function parseHtml(source: string, findUser: (id: number) => User | undefined): FormattedText {
  if (!source.includes("<") && !source.includes("&")) return { text: source, entities: [] };
  const scan: Scan = { source, at: 0 };
  const open: OpenTag[] = [];
  const entities: Entity[] = [];
  let text = "";
  while (scan.at < source.length) {
    const char = source[scan.at] as string;
    if (char === "&") text += readReference(scan);
    else if (char !== "<") {
      text += char;
      scan.at += 1;
    } else if (source[scan.at + 1] === "/") closeTag(scan, open, entities, text, findUser);
    else open.push({ ...openTag(scan), from: text.length });
  }
  const unclosed = open.at(-1);
  if (unclosed !== undefined) throw refuse(`Can't find end tag corresponding to start tag "${unclosed.name}"`);
  if (!text.isWellFormed()) {
    throw refuse(
      "Text contains invalid Unicode characters after decoding HTML entities, check for unmatched surrogate code units",
    );
  }
  return { text, entities };
}

function refuse(what: string): Error {
  return badRequest(`can't parse entities: ${what}`);
}

function refuseAt(scan: Scan, what: string, position: number): Error {
  return refuse(`${what} at byte offset ${Buffer.byteLength(scan.source.slice(0, position))}`);
}

function isSpace(char: string | undefined): boolean {
  return (
    char === undefined ||
    char === " " ||
    char === "\n" ||
    char === "\t" ||
    char === "\r" ||
    char === "\v" ||
    char === "\0"
  );
}

/** Reads a character reference, or the `&` itself if it is not one, because the platform accepts a bare ampersand. */
function readReference(scan: Scan): string {
  const match = /^&(?:#x([0-9a-f]*)|#([0-9]*)|([a-z]*))/i.exec(scan.source.slice(scan.at, scan.at + 40));
  const [whole, hex, decimal, name] = match ?? ["&"];
  let value: string | undefined;
  if (name !== undefined) value = named[name];
  else {
    const code = hex !== undefined ? Number.parseInt(hex, 16) : Number.parseInt(decimal ?? "", 10);
    if (code > 0 && code < 0x10ffff && whole.length < 10) value = String.fromCodePoint(code);
  }
  if (value === undefined) {
    scan.at += 1;
    return "&";
  }
  scan.at += whole.length;
  if (scan.source[scan.at] === ";") scan.at += 1;
  return value;
}

function openTag(scan: Scan): { readonly name: string; readonly argument: string } {
  const { source } = scan;
  const begin = scan.at;
  scan.at += 1;
  while (!isSpace(source[scan.at]) && source[scan.at] !== ">") scan.at += 1;
  if (scan.at >= source.length) throw refuseAt(scan, "Unclosed start tag", begin);
  const name = source.slice(begin + 1, scan.at).toLowerCase();
  if (plainTags[name] === undefined && !otherTags.has(name))
    throw refuseAt(scan, `Unsupported start tag "${name}"`, begin);
  let argument = "";
  while (source[scan.at] !== ">") {
    const attribute = readAttribute(scan, name, begin);
    if (attribute === null) break;
    argument = argumentOf(name, attribute.name, attribute.value) ?? argument;
  }
  scan.at += 1;
  if (name === "span" && argument !== "spoiler") throw refuseAt(scan, 'Tag "span" must have class "tg-spoiler"', begin);
  return { name, argument };
}

function argumentOf(tag: string, attribute: string, value: string): string | undefined {
  if (tag === "a" && attribute === "href") return value;
  if (tag === "code" && attribute === "class" && value.startsWith("language-")) return value.slice("language-".length);
  if (tag === "span" && attribute === "class" && value.startsWith("tg-")) return value.slice("tg-".length);
  if (tag === "tg-emoji" && attribute === "emoji-id") return value;
  if (tag === "blockquote" && attribute === "expandable") return "1";
  return undefined;
}

function skipSpaces(scan: Scan): void {
  while (scan.at < scan.source.length && isSpace(scan.source[scan.at])) scan.at += 1;
}

function readAttribute(
  scan: Scan,
  tag: string,
  begin: number,
): { readonly name: string; readonly value: string } | null {
  const { source } = scan;
  skipSpaces(scan);
  if (source[scan.at] === ">") return null;
  const from = scan.at;
  while (!isSpace(source[scan.at]) && !"=>/\"'".includes(source[scan.at] as string)) scan.at += 1;
  const name = source.slice(from, scan.at);
  if (name === "") throw refuseAt(scan, `Empty attribute name in the tag "${tag}"`, begin);
  skipSpaces(scan);
  if (source[scan.at] !== "=") {
    if (scan.at >= source.length) throw refuseAt(scan, `Unclosed start tag "${tag}"`, begin);
    return { name, value: "" };
  }
  scan.at += 1;
  skipSpaces(scan);
  if (scan.at >= source.length) throw refuseAt(scan, `Unclosed start tag "${tag}"`, begin);
  const value = readValue(scan);
  if (scan.at >= source.length) throw refuseAt(scan, "Unclosed start tag", begin);
  return { name, value };
}

function readValue(scan: Scan): string {
  const { source } = scan;
  const quote = source[scan.at];
  if (quote !== '"' && quote !== "'") {
    const from = scan.at;
    while (/[a-z0-9.-]/i.test(source[scan.at] ?? "")) scan.at += 1;
    if (!isSpace(source[scan.at]) && source[scan.at] !== ">")
      throw refuseAt(scan, "Unexpected end of name token", from);
    return source.slice(from, scan.at).toLowerCase();
  }
  scan.at += 1;
  let value = "";
  while (scan.at < source.length && source[scan.at] !== quote) {
    if (source[scan.at] === "&") value += readReference(scan);
    else {
      value += source[scan.at];
      scan.at += 1;
    }
  }
  scan.at += 1;
  return value;
}

function closeTag(
  scan: Scan,
  open: OpenTag[],
  entities: Entity[],
  text: string,
  findUser: (id: number) => User | undefined,
): void {
  const { source } = scan;
  const begin = scan.at;
  const tag = open.at(-1);
  if (tag === undefined) throw refuseAt(scan, "Unexpected end tag", begin);
  scan.at += 1;
  while (!isSpace(source[scan.at]) && source[scan.at] !== ">") scan.at += 1;
  const name = source.slice(begin + 2, scan.at);
  skipSpaces(scan);
  if (source[scan.at] !== ">") throw refuseAt(scan, "Unclosed end tag", begin);
  if (name !== "" && name !== tag.name) {
    throw refuse(
      `Unmatched end tag at byte offset ${Buffer.byteLength(source.slice(0, begin))}, expected ` +
        `"</${tag.name}>", found "</${name}>"`,
    );
  }
  scan.at += 1;
  open.pop();
  if (text.length > tag.from) addEntity(entities, tag, text, findUser);
}

function addEntity(entities: Entity[], tag: OpenTag, text: string, findUser: (id: number) => User | undefined): void {
  const at = { offset: tag.from, length: text.length - tag.from };
  const last = entities.at(-1);
  const sameSpan = last !== undefined && last.offset === at.offset && last.length === at.length;
  const plain = plainTags[tag.name];
  if (plain !== undefined) entities.push({ type: plain, ...at });
  else if (tag.name === "blockquote")
    entities.push({ type: tag.argument === "1" ? "expandable_blockquote" : "blockquote", ...at });
  else if (tag.name === "tg-emoji") addEmoji(entities, tag.argument, at);
  else if (tag.name === "a") addLink(entities, tag.argument === "" ? text.slice(tag.from) : tag.argument, at, findUser);
  else if (tag.name === "pre" && sameSpan && last.type === "code") {
    // <pre><code class="language-x"> is a single block whose language is in the inner tag.
    entities[entities.length - 1] = { ...last, type: "pre" };
  } else if (tag.name === "code" && sameSpan && last.type === "pre" && tag.argument !== "") {
    entities[entities.length - 1] = { ...last, language: tag.argument };
  } else entities.push({ type: tag.name, ...at, ...(tag.argument === "" ? {} : { language: tag.argument }) });
}

function addEmoji(entities: Entity[], id: string, at: { readonly offset: number; readonly length: number }): void {
  if (!/^[0-9]{1,20}$/.test(id)) throw refuse("Invalid custom emoji identifier specified");
  entities.push({ type: "custom_emoji", ...at, custom_emoji_id: id });
}

function addLink(
  entities: Entity[],
  link: string,
  at: { readonly offset: number; readonly length: number },
  findUser: (id: number) => User | undefined,
): void {
  const person = /^tg:\/\/user\?id=([0-9]+)$/.exec(link);
  if (person !== null) {
    const user = findUser(Number(person[1]));
    if (user !== undefined) entities.push({ type: "text_mention", ...at, user });
    return;
  }
  const url = checkedLink(link);
  // For an invalid link, the platform keeps only the text.
  if (url !== undefined) entities.push({ type: "text_link", ...at, url });
}

function checkedLink(link: string): string | undefined {
  const withScheme = /^[a-z][a-z0-9+.-]*:/i.test(link) ? link : `http://${link}`;
  let url: URL;
  try {
    url = new URL(withScheme);
  } catch {
    return undefined;
  }
  if (url.protocol === "tg:" || url.protocol === "ton:" || url.protocol === "tonsite:") return withScheme;
  if (url.protocol !== "http:" && url.protocol !== "https:" && url.protocol !== "ftp:") return undefined;
  if (!url.hostname.includes(".") && !url.hostname.startsWith("[")) return undefined;
  return url.href;
}
