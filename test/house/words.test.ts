/**
 * The voice of the product: the worst patterns of a text that was thought in another language do not come back into
 * what people read.
 */
import { describe, expect, test } from "vitest";
import { sentences } from "./sentences.ts";
import { linesMatching, read, sources, withoutComments } from "./sources.ts";

const patterns =
  /\bstands? in\b|\b(?<!there )(?:is|are) no (?!longer|more|less|such)(?=\w)|\b(?:whoever|nobody|somebody|everybody|told|tells)\b|counts from|at hand\b|\banew\b|so long\b/i;

/** Where such words are the right ones. */
const allowed: Readonly<Record<string, string>> = {
  "core/untrusted/external.ts": "the patterns of attacks are in their authors' words",
};

/** Texts with a space between quotes, outside of comments: what may be shown. */
const shownTexts = (text: string): readonly string[] =>
  [...withoutComments(text).matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\\n]|\\.)*)`/g)]
    .map(([, quoted, template]) => quoted ?? template ?? "")
    .filter((shown) => shown.includes(" "));

/** `//` comments, as `path:line: text`. A `//` in an address has no white space before it. */
const lineComments = (path: string, text: string): readonly string[] =>
  text.split("\n").flatMap((line, index) => {
    const [, comment] = /(?:^|\s)\/\/ (.*)$/.exec(line) ?? [];
    return comment === undefined ? [] : [`${path}:${index + 1}: ${comment}`];
  });

/** SQL is read by the database only. */
const isQuery = (text: string) => /\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE)\b/.test(text);

describe("wording", () => {
  test("texts for people and models avoid the worst patterns", () => {
    const files = sources("core/**/*.ts", "plugins/**/*.ts", "transforms/*.ts").filter(
      (path) => !path.startsWith("core/testkit/store/"),
    );
    const found = files
      .filter((path) => allowed[path] === undefined)
      .flatMap((path) =>
        shownTexts(read(path))
          .filter((text) => patterns.test(text) && !isQuery(text))
          .map((text) => `${path}: ${text}`),
      );
    expect(found).toEqual([]);
  });

  test("doc comments avoid the worst patterns", () => {
    const files = sources("{core,plugins,transforms}/**/*.ts").filter((path) => allowed[path] === undefined);
    const found = files.flatMap((path) =>
      [...read(path).matchAll(/\/\*\*[\s\S]*?\*\//g)]
        .filter(([comment]) => patterns.test(comment))
        .map(([comment]) => `${path}: ${comment}`),
    );
    expect(found).toEqual([]);
  });

  test("line comments avoid the worst patterns, including those of the benchmarks", () => {
    const files = sources("{core,plugins,transforms,bench}/**/*.ts").filter((path) => allowed[path] === undefined);
    expect(files.flatMap((path) => lineComments(path, read(path)).filter((comment) => patterns.test(comment)))).toEqual(
      [],
    );
  });

  test("pages avoid the worst patterns", () => {
    const pages = sources("*.md", "{core,plugins,transforms,examples}/**/*.md").filter(
      (path) => !/CHANGELOG|SURFACE/.test(path),
    );
    expect(pages.flatMap((path) => linesMatching(path, read(path), patterns))).toEqual([]);
  });

  test("at most a tenth of the sentences in pages and doc comments have more than 25 words", () => {
    const { all, long } = sentences();
    expect(all.length).toBeGreaterThan(5_000);
    for (const ending of [".md", ".ts"]) {
      const count = (some: typeof all) => some.filter(({ at }) => at.endsWith(ending)).length;
      expect(count(long) / count(all)).toBeLessThanOrEqual(0.1);
    }
  });

  test("every glossary term is used in the code", () => {
    const [glossary = ""] = read("core/contract/types.ts").split("*/");
    const words = [...glossary.matchAll(/\*([a-z ]+)\*/g)].map(([, word = ""]) => word);
    expect(words).toEqual(
      expect.arrayContaining(["event", "unit", "lane", "station", "hook point", "webhook", "trace", "code"]),
    );
    const code = sources("core/**/*.ts")
      .map((path) => read(path))
      .join("\n");
    const unused = words.filter(
      (word) => !new RegExp(`\\b${word.replace(" ", "[ -]?")}`, "i").test(code.replace(glossary, "")),
    );
    expect(unused).toEqual([]);
  });

  test("no two factory functions of core have the same name", () => {
    const code = sources("core/**/*.ts")
      .map((path) => read(path))
      .join("\n");
    const makers = [...code.matchAll(/^(?:export )?(?:async )?function (create\w+)/gm)].map(([, name = ""]) => name);
    const twice = [...Map.groupBy(makers, (name) => name)].filter(([, all]) => all.length > 1).map(([name]) => name);
    expect(twice).toEqual([]);
  });

  test("the check detects a text that breaks the rule", () => {
    expect(shownTexts('const x = "nobody waits"; // "nobody reads"').filter((text) => patterns.test(text))).toEqual([
      "nobody waits",
    ]);
    expect(lineComments("a.ts", 'get("http://x"); // nobody waits').filter((text) => patterns.test(text))).toEqual([
      "a.ts:1: nobody waits",
    ]);
    expect(patterns.test("There is no such file.")).toBe(false);
    expect(patterns.test("7 is no id.")).toBe(true);
  });
});
