/**
 * The companion of the transforms beside it: reading a payload that may be anything, and writing Markdown that stays what was meant.
 *
 * What comes from outside is data. A title may hold `](https://...)`, `@everyone`, or half a million characters, and a field of another
 * version may be missing or of another type: nothing here throws, everything is bounded, and no text leaves its place.
 */

/** What a transform is handed. Header names are in lower case. */
export interface Context {
  readonly payload: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly path: string;
  readonly source: string;
  readonly now: string;
}

/** The fields of a mapping that these transforms set: `message` is for `action: "agent"`, `text` for `action: "wake"`. */
export interface Said {
  readonly message: string;
  readonly text: string;
  /** Absent: the mapping's own, else a new one. */
  readonly sessionKey?: string;
}

/** Most characters of a message; whole blocks are left out above it, so that no link and no quote is cut in its middle. */
export const messageLimit = 4_000;

/** The value at `pull_request.user.login` or `pages.0.title`: own properties only, `undefined` when a step is missing. */
export function at(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((node, key) => {
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined;
    return (node as Readonly<Record<string, unknown>>)[key];
  }, value);
}

/** A text or a number as text without white space around it; anything else is empty. */
export function word(value: unknown): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  return typeof value === "string" ? value.trim() : "";
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** At most `max` characters, never half of one. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Direction marks can show a text in another order than it is written in. */
const hidden = /[\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/g;

/** Nothing here shows more of a line; a title of a megabyte is not worth its time. */
const longestLine = 10_000;

const oneLine = (text: string) =>
  text
    .slice(0, longestLine)
    .replace(/[\p{Cc}\s]+/gu, " ")
    .replace(hidden, "")
    .toWellFormed()
    .trim();

/** Underscores inside a word are not emphasis, and names of branches and functions stay legible without backslashes. */
const underscores = (text: string) =>
  text.replace(/(^|[^_])(_+)(?=([^_]|$))/gu, (all, before: string, run: string, after: string) =>
    /[\p{L}\p{N}]/u.test(before) && /[\p{L}\p{N}]/u.test(after) ? all : before + run.replaceAll("_", "\\_"),
  );

/** Platforms turn bare text into a mention of a user; an invisible space after the sign keeps it text. */
const unmentioned = (text: string) => text.replace(/(?<![\p{L}\p{N}_])@(?=[\p{L}\p{N}_])|@(?=everyone|here)/giu, "@\u200B");

/** What opens a heading, a quote, a list or a rule at the beginning of a line. */
const unblocked = (line: string) =>
  line.replace(/^(?:(#{1,6})(?=\s|$)|([>=]|[-+](?=\s|-|$))|(\d{1,9})([.)])(?=\s|$))/, (all, hash, sign, digits, dot) =>
    digits === undefined ? `\\${hash ?? sign ?? all}` : `${digits}\\${dot}`,
  );

const escaped = (line: string) => unmentioned(unblocked(underscores(line.replace(/[\\`*[\]<~|]|&(?=#?\w+;)/g, "\\$&"))));

/** A value on one line, as text that Markdown leaves alone; empty when there is none. */
export function plain(value: unknown, max = 160): string {
  return escaped(cut(oneLine(word(value)), max));
}

/** `value` as code, on one line; empty when there is none. */
export function code(value: unknown, max = 100): string {
  const text = cut(oneLine(word(value)).replaceAll("`", "'"), max);
  return text === "" ? "" : `\`${text}\``;
}

/** `value` in bold type; empty when there is none. */
export function bold(value: unknown, max = 160): string {
  const text = plain(value, max);
  return text === "" ? "" : `**${text}**`;
}

/** A link, or nothing when the address is none of the web: for links that are only that. */
export function maybeLink(markdown: string, address: unknown): string {
  const made = link(markdown, address);
  return made === markdown ? "" : made;
}

/** Markdown as a link, when the address is one of the web; else the Markdown alone. */
export function link(markdown: string, address: unknown): string {
  const url = word(address);
  if (markdown === "" || url.length > 600 || !/^https?:\/\/[^\s/]/i.test(url)) return markdown;
  const safe = url.toWellFormed().replace(/[\p{Cc}\s()<>[\]\\`"{}|^]/gu, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, "0")}`);
  return `[${markdown}](${safe})`;
}

/** The beginning of a longer text as a quote; comments, which templates are full of, and empty lines in a row are left out. */
export function quote(value: unknown, { max = 600, lines = 10 }: { readonly max?: number; readonly lines?: number } = {}): string {
  const source = word(typeof value === "string" ? value.slice(0, 20_000) : value).replace(/<!--[\s\S]*?(?:-->|$)/g, "");
  const shown = source
    .split(/\r\n|[\r\n\u2028\u2029]/)
    .map(oneLine)
    .filter((line, index, all) => line !== "" || (all[index - 1] ?? "") !== "");
  const rest = shown.length > lines ? "…" : "";
  const text = cut([...shown.slice(0, lines), rest].join("\n").trim(), max);
  return text === ""
    ? ""
    : text
        .split("\n")
        .map((line) => `> ${escaped(line)}`.trimEnd())
        .join("\n");
}

/** Up to `max` lines of a list, and how many more there are. `total`: when the sender left some out. */
export function items(lines: readonly string[], { max = 8, total = 0 }: { readonly max?: number; readonly total?: number } = {}): string {
  const more = Math.max(lines.length, total) - Math.min(lines.length, max);
  return [...lines.slice(0, max).map((line) => `- ${line}`), ...(more > 0 ? [`- and ${more} more`] : [])].join("\n");
}

/** Words with one space between them, empty ones left out. */
export const words = (...parts: readonly string[]): string => parts.filter((part) => part !== "").join(" ");

/** `1 commit`, `3 commits`. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** `hook:github:octo/hello:42`: runs with one key go one after the other. What a key cannot hold becomes a dash. */
function sessionKey(parts: readonly unknown[]): string {
  const names = parts.map((part) =>
    cut(word(part), 80)
      .replace(/[^\p{L}\p{N}._/#!@-]+/gu, "-")
      .replace(/^-+|-+$/g, ""),
  );
  return cut(["hook", ...names.filter((name) => name !== "")].join(":"), 240);
}

/** The result of a transform: blocks with an empty line between them, and the matter that its session is about, if it has one. */
export function say({ about, blocks }: { readonly about?: readonly unknown[]; readonly blocks: readonly string[] }): Said {
  const shown = blocks.filter((block) => block !== "");
  const joined = () => shown.join("\n\n");
  while (shown.length > 1 && joined().length > messageLimit) shown.pop();
  const message = cut(joined(), messageLimit);
  return { message, text: message, ...(about === undefined ? {} : { sessionKey: sessionKey(about) }) };
}

/** The result for events without news: accepted, nothing runs. The reason is in the log at `debug`. */
export function nothing(reason: string): null {
  console.debug(`nothing said: ${reason}`);
  return null;
}
