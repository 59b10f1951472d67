/**
 * Shared helpers of the transforms in this directory: they read payloads of any shape and write Markdown that cannot be
 * manipulated.
 *
 * External content is untrusted. A title may contain `](https://...)`, `@everyone`, or half a million characters, and
 * fields may be missing or have another type in other versions. These functions never throw, limit every length, and
 * escape every text.
 */

/** The input of a transform. Header names are in lower case. */
export interface Context {
  readonly payload: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly path: string;
  readonly source: string;
  readonly now: string;
}

/** The fields that these transforms set: `message` is for `action: "agent"`, `text` for `action: "wake"`. */
export interface MessageFields {
  readonly message: string;
  readonly text: string;
  /** Absent: the mapping's own session key, else a new session. */
  readonly sessionKey?: string;
}

/** Maximum length of a message. Beyond it, whole blocks are left out, so that no link or quote is cut in the middle. */
export const messageLimit = 4_000;

/**
 * The value at a path such as `pull_request.user.login` or `pages.0.title`. Reads own properties only; `undefined` if a
 * step is missing.
 */
export function at(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((node, key) => {
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined;
    return (node as Readonly<Record<string, unknown>>)[key];
  }, value);
}

/** A string or number as trimmed text; empty for anything else. */
export function word(value: unknown): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  return typeof value === "string" ? value.trim() : "";
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Cuts a text to `max` characters, without splitting a surrogate pair. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Direction marks can display a text in an order other than the written one. */
const hidden = /[\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/g;

/** Longer lines are cut before further processing, because no more than this is ever shown. */
const longestLine = 10_000;

const oneLine = (text: string) =>
  text
    .slice(0, longestLine)
    .replace(/[\p{Cc}\s]+/gu, " ")
    .replace(hidden, "")
    .toWellFormed()
    .trim();

/**
 * Escapes underscores except inside words, where they are not emphasis. Names of branches and functions thus remain
 * readable.
 */
const underscores = (text: string) =>
  text.replace(/(^|[^_])(_+)(?=([^_]|$))/gu, (all, before: string, run: string, after: string) =>
    /[\p{L}\p{N}]/u.test(before) && /[\p{L}\p{N}]/u.test(after) ? all : before + run.replaceAll("_", "\\_"),
  );

/** Platforms turn bare text into mentions. An invisible space after the sign prevents that. */
const unmentioned = (text: string) =>
  text.replace(/(?<![\p{L}\p{N}_])@(?=[\p{L}\p{N}_])|@(?=everyone|here)/giu, "@\u200B");

/** Escapes what would open a heading, quote, list or rule at the beginning of a line. */
const unblocked = (line: string) =>
  line.replace(/^(?:(#{1,6})(?=\s|$)|([>=]|[-+](?=\s|-|$))|(\d{1,9})([.)])(?=\s|$))/, (all, hash, sign, digits, dot) =>
    digits === undefined ? `\\${hash ?? sign ?? all}` : `${digits}\\${dot}`,
  );

const escaped = (line: string) =>
  unmentioned(unblocked(underscores(line.replace(/[\\`*[\]<~|]|&(?=#?\w+;)/g, "\\$&"))));

/** A value on one line, escaped for Markdown; empty if there is none. */
export function plain(value: unknown, max = 160): string {
  return escaped(cut(oneLine(word(value)), max));
}

/** A value as inline code, on one line; empty if there is none. */
export function code(value: unknown, max = 100): string {
  const text = cut(oneLine(word(value)).replaceAll("`", "'"), max);
  return text === "" ? "" : `\`${text}\``;
}

/** A value in bold; empty if there is none. */
export function bold(value: unknown, max = 160): string {
  const text = plain(value, max);
  return text === "" ? "" : `**${text}**`;
}

/** A link, or an empty text if the address is not a web address. For links that are useless without their address. */
export function maybeLink(markdown: string, address: unknown): string {
  const made = link(markdown, address);
  return made === markdown ? "" : made;
}

/** Markdown as a link if the address is a web address; otherwise the Markdown alone. */
export function link(markdown: string, address: unknown): string {
  const url = word(address);
  if (markdown === "" || url.length > 600 || !/^https?:\/\/[^\s/]/i.test(url)) return markdown;
  const safe = url
    .toWellFormed()
    .replace(/[\p{Cc}\s()<>[\]\\`"{}|^]/gu, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, "0")}`);
  return `[${markdown}](${safe})`;
}

/**
 * The beginning of a longer text as a quote. Leaves out HTML comments, which templates are full of, and repeated blank
 * lines.
 */
export function quote(
  value: unknown,
  { max = 600, lines = 10 }: { readonly max?: number; readonly lines?: number } = {},
): string {
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

/** Up to `max` lines as a list, and how many more there are. `total` is the full number if the sender omitted some. */
export function items(
  lines: readonly string[],
  { max = 8, total = 0 }: { readonly max?: number; readonly total?: number } = {},
): string {
  const more = Math.max(lines.length, total) - Math.min(lines.length, max);
  return [...lines.slice(0, max).map((line) => `- ${line}`), ...(more > 0 ? [`- and ${more} more`] : [])].join("\n");
}

/** Joins the non-empty parts with single spaces. */
export const words = (...parts: readonly string[]): string => parts.filter((part) => part !== "").join(" ");

/** A number and its noun: `1 commit`, `3 commits`. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

/**
 * A session key such as `hook:github:octo/hello:42`. Runs with the same key run one after the other. Characters that
 * keys cannot contain become a dash.
 */
function sessionKey(parts: readonly unknown[]): string {
  const names = parts.map((part) =>
    cut(word(part), 80)
      .replace(/[^\p{L}\p{N}._/#!@-]+/gu, "-")
      .replace(/^-+|-+$/g, ""),
  );
  return cut(["hook", ...names.filter((name) => name !== "")].join(":"), 240);
}

/** The result of a transform: blocks separated by blank lines, and the subject of its session, if it has one. */
export function say({
  about,
  blocks,
}: {
  readonly about?: readonly unknown[];
  readonly blocks: readonly string[];
}): MessageFields {
  const shown = blocks.filter((block) => block !== "");
  const joined = () => shown.join("\n\n");
  while (shown.length > 1 && joined().length > messageLimit) shown.pop();
  const message = cut(joined(), messageLimit);
  return { message, text: message, ...(about === undefined ? {} : { sessionKey: sessionKey(about) }) };
}

/**
 * The result for events that are not worth reporting: accepted, but nothing runs. The log contains the reason at
 * `debug`.
 */
export function nothing(reason: string): null {
  console.debug(`nothing said: ${reason}`);
  return null;
}
