/**
 * Draws comments, messages and pages at random, to be read aloud and rated: natural, stiff, or needs a second reading.
 * `node test/house/draw.ts SEED` prints 60 comments, 60 messages and 10 pages; the same seed draws the same ones.
 */
import { read, sources, withoutComments } from "./sources.ts";

/** Numbers from 0 to below 1 that depend on the seed alone (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function draw<T>(from: readonly T[], count: number, next: () => number): readonly T[] {
  const left = [...from];
  return Array.from(
    { length: Math.min(count, left.length) },
    () => left.splice(Math.floor(next() * left.length), 1)[0] as T,
  );
}

const files = sources("{core,plugins,transforms}/**/*.ts");
const comments = files.flatMap((path) =>
  [...read(path).matchAll(/\/\*\*([\s\S]*?)\*\/|(?:^|\s)\/\/ ([^\n]+(?:\n\s*\/\/ [^\n]+)*)/g)].map(
    ([, doc, line]) =>
      `${path}: ${(doc ?? line ?? "")
        .replace(/@example[\s\S]*/, "")
        .replace(/\s*\n\s*(?:\*|\/\/)?\s*/g, " ")
        .trim()}`,
  ),
);
const messages = files.flatMap((path) =>
  [...withoutComments(read(path)).matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\\n]|\\.)*)`/g)]
    .map(([, quoted, template]) => quoted ?? template ?? "")
    .filter((text) => text.split(" ").length >= 4 && !/\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE)\b/.test(text))
    .map((text) => `${path}: ${text}`),
);
const pages = sources("*.md", "{core,plugins,transforms,examples}/**/*.md").filter(
  (path) => !/CHANGELOG|SURFACE|CODES|ERRORS/.test(path),
);

const next = numbers(Number(process.argv[2] ?? 1));
for (const [title, all, count] of [
  ["comments", comments, 60],
  ["messages", messages, 60],
  ["pages", pages, 10],
] as const) {
  console.log(`\n${title}, ${count} of ${all.length}\n`);
  for (const [index, one] of draw(all, count, next).entries()) console.log(`${index + 1}. ${one}`);
}
