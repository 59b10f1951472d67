import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { read, root } from "./sources.ts";

/**
 * Files that the tables of a text name, in order. A short name is looked for beside those that came before it, and
 * above them.
 */
function filesOf(table: string): readonly string[] {
  const found: string[] = [];
  for (const [, name = ""] of table.matchAll(/`([\w./-]+\.ts)`/g)) {
    const places = found.toReversed().flatMap((path) => foldersOf(path));
    const path = [name, ...places.map((folder) => join(folder, name))].find((place) => existsSync(join(root, place)));
    found.push(path ?? `not found: ${name}`);
  }
  return found;
}

function foldersOf(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === "." ? [] : [folder, ...foldersOf(folder)];
}

/** The tables of the section, each under its own name. */
function waysOf(text: string): ReadonlyMap<string, readonly string[]> {
  const [, section = ""] = text.split("## Three ways, file by file\n");
  const parts = (section.split("\n## ")[0] ?? "").split(/^\*\*(.+?)\*\*/m).slice(1);
  const lines = (part: string) => part.split("\n").filter((line) => line.startsWith("|"));
  return new Map(
    parts.flatMap((name, index) =>
      index % 2 === 0 ? [[name, filesOf(lines(parts[index + 1] ?? "").join("\n"))]] : [],
    ),
  );
}

test("each path in ARCHITECTURE.md leads through existing files and visits none twice", () => {
  const ways = waysOf(read("ARCHITECTURE.md"));
  expect([...ways.keys()]).toEqual(["A webhook", "A chat update", "A reply"]);
  for (const [name, files] of ways) {
    expect(files.length, name).toBeGreaterThan(8);
    expect(files.filter((file, index) => !existsSync(join(root, file)) || files.indexOf(file) !== index)).toEqual([]);
  }
});

test("a webhook passes through at most 22 files", () => {
  expect(waysOf(read("ARCHITECTURE.md")).get("A webhook")?.length).toBeLessThanOrEqual(22);
});
