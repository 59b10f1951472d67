/**
 * The sentences that people read beside the program: READMEs, the manual, doc comments; of tables each cell of eight
 * words and more. `node test/house/sentences.ts` prints how many have more than 25 words, and `--long` prints those.
 */
import { read, sources } from "./sources.ts";

export interface Sentence {
  readonly at: string;
  readonly text: string;
  readonly words: number;
}

const longestWords = 25;
const fewestWordsOfCell = 8;

const wordsOf = (text: string) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/** What is quoted as code is one word; of a link its text remains. */
const plain = (text: string) =>
  text
    .replace(/`[^`]*`/g, "code")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[*_]{1,2}([^*_]+)[*_]{1,2}/g, "$1");

function split(at: string, text: string): readonly Sentence[] {
  return plain(text)
    .replace(/\b(?:e\.g|i\.e|etc|vs|St|No)\./g, (short) => short.replaceAll(".", ""))
    .split(/(?<=[.!?])["')]*\s+(?=[\p{Lu}\p{N}"'(`*])|(?<=[.!?])\s+(?=code)/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "")
    .map((sentence) => ({ at, text: sentence, words: wordsOf(sentence) }));
}

/** Paragraphs, items and cells of a Markdown page, without its code. */
function ofPage(path: string): readonly Sentence[] {
  const text = read(path).replace(/^(```|~~~)[\s\S]*?^\1/gm, "\n");
  const blocks = text.split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.|#|\||>)\s)/);
  return blocks.flatMap((block) => {
    if (/^\s*\|/.test(block)) {
      const cells = block.split("\n").flatMap((row) => row.split(/(?<!\\)\|/));
      return cells.filter((cell) => wordsOf(plain(cell)) >= fewestWordsOfCell).flatMap((cell) => split(path, cell));
    }
    return split(path, block.replace(/^\s*(?:[-*]|\d+\.|#+|>)\s+/, "").replace(/\s*\n\s*/g, " "));
  });
}

/** Doc comments, without examples and code. */
function ofSource(path: string): readonly Sentence[] {
  return [...read(path).matchAll(/\/\*\*([\s\S]*?)\*\//g)].flatMap(([, comment = ""]) => {
    const text = comment
      .replace(/^\s*\*? ?/gm, "")
      .replace(/@example[\s\S]*?(?=\n@|$)/g, "")
      .replace(/^@\w+/gm, "");
    return text.split(/\n\s*\n|\n(?=- )/).flatMap((block) => split(path, block.replace(/\s*\n\s*/g, " ")));
  });
}

export function sentences(): { readonly all: readonly Sentence[]; readonly long: readonly Sentence[] } {
  const pages = sources("*.md", "{core,plugins,transforms,examples,bench}/**/*.md").filter(
    (path) => !/CHANGELOG|SURFACE/.test(path),
  );
  const files = sources("{core,plugins,transforms,examples}/**/*.ts");
  const all = [...pages.flatMap(ofPage), ...files.flatMap(ofSource)].filter(({ words }) => words > 0);
  return { all, long: all.filter(({ words }) => words > longestWords) };
}

if (import.meta.main) {
  const { all, long } = sentences();
  const share = (of: string) => {
    const total = all.filter(({ at }) => at.endsWith(of));
    const over = long.filter(({ at }) => at.endsWith(of));
    return `${over.length} of ${total.length} (${((100 * over.length) / total.length).toFixed(1)} %)`;
  };
  if (process.argv.includes("--long"))
    for (const { at, text, words } of long.toSorted((a, b) => b.words - a.words))
      console.log(`${words} ${at}: ${text}`);
  console.log(
    `sentences of more than ${longestWords} words: pages ${share(".md")}, doc comments ${share(".ts")}, all ` +
      `${share("")}`,
  );
}
