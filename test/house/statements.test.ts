import { describe, expect, test } from "vitest";
import { read, sources } from "./sources.ts";
import { titlesOf } from "./test-titles.ts";

interface Row {
  readonly at: string;
  readonly statement: string;
  readonly file: string;
  readonly title: string;
  /** Names the row of a table of cases. */
  readonly example: string;
}

const pages = sources("test/statements/*.md").filter((path) => !path.endsWith("/README.md"));
const bars = /(?<!\\)\|/;
const cellsOf = (line: string) =>
  line
    .split(bars)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));

const lines = pages.flatMap((page) =>
  read(page)
    .split("\n")
    .flatMap((line, index) =>
      line.startsWith("|") && !/^\|(?: statement \||---)/.test(line) ? [{ at: `${page}:${index + 1}`, line }] : [],
    ),
);
const rows: readonly Row[] = lines.map(({ at, line }) => {
  const [statement = "", file = "", title = "", example = ""] = cellsOf(line);
  return { at, statement, file: file.replaceAll("`", ""), title, example };
});

const known = new Map(
  [...new Set(rows.map(({ file }) => file))].map(
    (file) => [file, sources(file).length === 1 ? titlesOf(file) : undefined] as const,
  ),
);

describe("the statements of the specification", () => {
  test("each has four cells, and only the case can be empty", () => {
    const broken = lines.filter(({ line }) => cellsOf(line).length !== 4).map(({ at }) => at);
    const empty = rows.filter((row) => row.statement === "" || row.file === "" || row.title === "").map(({ at }) => at);
    expect([...broken, ...empty]).toEqual([]);
    expect(rows.length).toBeGreaterThan(354);
  });

  test("none is listed twice", () => {
    const plain = (text: string) =>
      text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]+/gu, " ")
        .trim();
    const seen = Map.groupBy(rows, ({ statement }) => plain(statement));
    expect([...seen.values()].filter((same) => same.length > 1).map((same) => same.map(({ at }) => at))).toEqual([]);
  });

  test("each names an existing test by its full title", () => {
    const missing = rows.filter(({ file, title }) => known.get(file)?.includes(title) !== true);
    expect(missing.map(({ at, file, title }) => `${at}: ${file}: ${title}`)).toEqual([]);
  });

  test("each case occurs in its file", () => {
    const absent = rows.filter(
      ({ file, example }) => example !== "" && known.has(file) && !read(file).includes(example),
    );
    expect(absent.map(({ at, example }) => `${at}: ${example}`)).toEqual([]);
  });

  test("titles in a file are read together with their groups", () => {
    expect(titlesOf("test/house/statements.test.ts")).toContain(
      "the statements of the specification > none is listed twice",
    );
  });
});
