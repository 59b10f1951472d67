/** Renders a rich message (headings, lists, tables, pictures in the text) as Markdown. */
import type { InboundMedia, Json } from "service-gateway/sdk";
import { type Fields, id, list, number, record, text } from "./fields.ts";
import { filesOf, placeholderOf } from "./file-reference.ts";
import { instant } from "./instant.ts";

/** The platform's own limit of nesting. Anything deeper is junk, which must not overflow the stack. */
const deepest = 20;
/** Pieces of text in one message; many more than the platform accepts. */
const mostPieces = 20_000;

interface Reading {
  readonly media: InboundMedia[];
  pieces: number;
}

const marks: Readonly<Record<string, readonly [string, string]>> = {
  bold: ["**", "**"],
  italic: ["*", "*"],
  underline: ["<u>", "</u>"],
  strikethrough: ["~~", "~~"],
  spoiler: ["||", "||"],
  code: ["`", "`"],
};

function inline(value: Json | undefined, reading: Reading, depth: number): string {
  reading.pieces += 1;
  if (depth > deepest || reading.pieces > mostPieces) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map((each) => inline(each, reading, depth + 1)).join("");
  const span = record(value);
  if (span === undefined) return "";
  if (span.type === "custom_emoji") return text(span.alternative_text) ?? "";
  if (span.type === "mathematical_expression") return `$${text(span.expression) ?? ""}$`;
  if (span.type === "button") return `[button: ${inline(record(span.button)?.text, reading, depth + 1)}]`;
  const shown = inline(span.text, reading, depth + 1);
  const time = span.type === "date_time" ? instant(span.unix_time) : undefined;
  if (time !== undefined) return `${shown} (${time})`;
  const url = span.type === "url" ? text(span.url) : undefined;
  if (url !== undefined) return url === shown ? shown : `[${shown}](${url})`;
  const [open, close] = (typeof span.type === "string" && Object.hasOwn(marks, span.type)
    ? marks[span.type]
    : undefined) ?? ["", ""];
  return shown === "" ? "" : `${open}${shown}${close}`;
}

function quoted(shown: string): string {
  return shown
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}

function table(block: Fields, reading: Reading, depth: number): string {
  const rows = list(block.cells).map((row) =>
    list(row).map((cell) => inline(record(cell)?.text, reading, depth + 1).replace(/\n/g, " ")),
  );
  const lines = rows.map((cells) => `| ${cells.join(" | ")} |`);
  const rule = `|${" --- |".repeat(Math.max(1, rows[0]?.length ?? 1))}`;
  return [inline(block.caption, reading, depth + 1), ...lines.slice(0, 1), rule, ...lines.slice(1)]
    .filter((line) => line !== "")
    .join("\n");
}

function item(value: Json, reading: Reading, depth: number): string {
  const fields = record(value) ?? {};
  const box = fields.has_checkbox === true ? (fields.is_checked === true ? "[x] " : "[ ] ") : "";
  const label = /^\w{1,8}[.)]$/.test(text(fields.label) ?? "") ? text(fields.label) : "-";
  return `${label} ${box}${blocks(fields.blocks, reading, depth + 1).replace(/\n/g, "\n  ")}`;
}

/** Every kind of block has its words in `text` or in blocks of its own, or is a file with a caption. */
function block(value: Json, reading: Reading, depth: number): string {
  const fields = record(value);
  if (fields === undefined || depth > deepest) return "";
  const shown = () => inline(fields.text, reading, depth + 1);
  const captioned = (what: string) =>
    [what, inline(record(fields.caption)?.text, reading, depth + 1)].filter(Boolean).join("\n");
  const credited = (what: string) => [what, inline(fields.credit, reading, depth + 1)].filter(Boolean).join("\n");
  switch (fields.type) {
    case "heading":
      return `${"#".repeat(Math.min(6, Math.max(1, Math.trunc(number(fields.size) ?? 1))))} ${shown()}`;
    case "pre":
      return `\`\`\`${(text(fields.language) ?? "").replace(/\W/g, "")}\n${shown()}\n\`\`\``;
    case "divider":
      return "---";
    case "mathematical_expression":
      return `$$${text(fields.expression) ?? ""}$$`;
    case "list":
      return list(fields.items)
        .map((each) => item(each, reading, depth))
        .join("\n");
    case "table":
      return table(fields, reading, depth);
    case "blockquote":
      return quoted(credited(blocks(fields.blocks, reading, depth + 1)));
    case "expandable_blockquote":
    case "pullquote":
      return quoted(credited(shown()));
    case "details":
      return [inline(fields.summary, reading, depth + 1), blocks(fields.blocks, reading, depth + 1)]
        .filter(Boolean)
        .join("\n");
    case "collage":
    case "slideshow":
      return captioned(blocks(fields.blocks, reading, depth + 1));
    case "map": {
      const at = record(fields.location);
      return captioned(`📍 ${number(at?.latitude)?.toFixed(6) ?? "?"}, ${number(at?.longitude)?.toFixed(6) ?? "?"}`);
    }
    case "buttons":
      return list(fields.buttons)
        .map((each) => `[button: ${inline(record(each)?.text, reading, depth + 1)}]`)
        .join(" ");
    default: {
      const files = filesOf(fields);
      reading.media.push(...files);
      return captioned(files.length > 0 ? files.map(placeholderOf).join(" ") : shown());
    }
  }
}

function blocks(value: Json | undefined, reading: Reading, depth: number): string {
  return list(value)
    .map((each) => block(each, reading, depth))
    .filter((shown) => shown !== "")
    .join("\n\n");
}

export function richMessage(
  message: Fields | undefined,
): { readonly text: string; readonly media: readonly InboundMedia[] } | undefined {
  if (message === undefined) return undefined;
  const reading: Reading = { media: [], pieces: 0 };
  const shown = blocks(message.blocks, reading, 0);
  return { text: shown === "" ? "<rich message>" : shown, media: reading.media };
}

/** Whether one of its spans names the bot. Text that merely looks like its name has no such span. */
export function namedInRich(
  message: Fields | undefined,
  bot: { readonly id: string; readonly username?: string },
): boolean {
  const handle = bot.username?.toLowerCase();
  const waiting: Json[] = message === undefined ? [] : [message];
  for (let looked = 0; looked < mostPieces; looked += 1) {
    const value = waiting.pop();
    if (value === undefined) return false;
    const fields = record(value);
    if (fields?.type === "text_mention" && id(record(fields.user)?.id) === bot.id) return true;
    if (
      fields?.type === "mention" &&
      text(fields.username)?.replace(/^@/, "").toLowerCase() === handle &&
      handle !== undefined
    )
      return true;
    if (
      fields?.type === "bot_command" &&
      text(fields.bot_command)?.toLowerCase().split("@")[1] === handle &&
      handle !== undefined
    )
      return true;
    if (typeof value === "object" && value !== null) waiting.push(...Object.values(value).slice(0, mostPieces));
  }
  return false;
}
