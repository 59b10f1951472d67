/** Random Markdown documents: words and marks that make sense, marks that do not, and any character there is. */
import fc from "fast-check";
import { anyCharacter } from "../../../support/any-character.ts";

const word = fc.oneof(
  fc.constantFrom(
    "word",
    "a",
    "<b>",
    "</i>",
    "&",
    "&lt;",
    "😀",
    "👩‍👩‍👧",
    "漢字",
    "README.md",
    "x.y",
    "||",
    "**",
    "*",
    "_",
    "~~",
    "`",
    "```",
    "[",
    "](",
    ")",
    "![",
    "https://x.y",
    "<https://x.y>",
    "\\",
    "|",
    '"',
    "'",
    "é",
    "\u200b",
    "\t",
  ),
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.string({ unit: anyCharacter, maxLength: 4 }),
);
const inline = fc.array(word, { maxLength: 14 }).map((words) => words.join(" "));
const wrapped = fc.oneof(
  inline,
  fc.tuple(fc.constantFrom("**", "*", "~~", "||", "`", "__", "***"), inline).map(([mark, text]) => mark + text + mark),
  inline.map((text) => `[${text}](https://x.y/?a=1&b="2")`),
);
const block = fc.oneof(
  wrapped,
  fc
    .tuple(fc.constantFrom("# ", "- ", "1. ", "> ", "> > ", "- [ ] ", "  - ", "    ", "### "), wrapped)
    .map(([mark, text]) => mark + text),
  fc.tuple(inline, inline).map(([a, b]) => `\`\`\`js\n${a}\n\n  ${b}\n\`\`\``),
  fc.tuple(inline, inline, inline).map(([a, b, c]) => `| ${a} | ${b} |\n|---|--:|\n| ${c} | ${a} |`),
  fc.constantFrom("---", "```", "~~~", "<div>", "| a |\n|--", ""),
);
export const documents = fc
  .array(fc.tuple(block, fc.constantFrom("\n", "\n\n", "  \n")), { maxLength: 8 })
  .map((blocks) => blocks.flat().join(""));
