import { execFileSync } from "node:child_process";
import { basename, dirname, extname } from "node:path";
import { describe, expect, test } from "vitest";
import { longLines } from "./long-lines.ts";
import { linesMatching, read, root, sources, withoutComments } from "./sources.ts";

/** Files above 360 lines, each with the reason why it is one subject. */
const longFiles: Readonly<Record<string, string>> = {
  "core/contract/error-table.ts": "one table: every error of the gateway, with its text and hint",
  "core/contract/types.ts": "the vocabulary, in path order",
  "transforms/github.ts": "users copy it as one file, and its sixty events are one table",
  "transforms/stripe.ts": "users copy it as one file, and its events are one table",
};

/** Where the clock and chance may be read; everywhere else they are handed in. */
const composition = [/^core\/cli\//, /^core\/gateway\.ts$/, /^bench\//, /^test\//];

const topLevel = [
  ".ci",
  ".dependency-cruiser.cjs",
  ".gitignore",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "LICENSE",
  "README.md",
  "SECURITY.md",
  "bench",
  "biome.json",
  "core",
  "examples",
  "knip.json",
  "package-lock.json",
  "package.json",
  "plugins",
  "test",
  "transforms",
  "tsconfig.build.json",
  "tsconfig.json",
  "vitest.config.ts",
];

const code = () => sources("{core,plugins,transforms,examples,bench,test,.ci}/**/*.{ts,mts,mjs,cjs,js,css,html}");

describe("layout", () => {
  test("the top level contains only what the product and its tools need", () => {
    const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
      cwd: root,
      encoding: "utf8",
    });
    const names = new Set(
      tracked
        .trim()
        .split("\n")
        .map((path) => path.split("/")[0]),
    );
    expect([...names].filter((name) => name !== undefined && !topLevel.includes(name))).toEqual([]);
  });

  test("files are named in kebab-case", () => {
    const odd = code().filter(
      (path) => !path.split("/").every((part) => /^\.?[a-z0-9]+(?:[.-][a-z0-9]+)*$/.test(part)),
    );
    expect(odd).toEqual([]);
  });

  test("no file is named utils, helpers or common", () => {
    const vague = code().filter((path) => /^(utils?|helpers?|common|misc)$/.test(basename(path, extname(path))));
    expect(vague).toEqual([]);
  });

  test("a file of more than 360 lines has a documented reason", () => {
    const long = sources("{core,plugins,transforms,examples}/**/*.ts").filter(
      (path) => read(path).split("\n").length > 361,
    );
    expect(long.filter((path) => longFiles[path] === undefined)).toEqual([]);
    expect(Object.keys(longFiles).filter((path) => !long.includes(path))).toEqual([]);
  });

  test("a directory has at most 25 files, so it can be read at a glance", () => {
    const folders = Map.groupBy(sources("{core,plugins}/**/*.ts"), (path) => dirname(path));
    const crowded = [...folders]
      .filter(([, files]) => files.length > 25)
      .map(([folder, files]) => `${folder}: ${files.length}`);
    expect(crowded).toEqual([]);
  });

  test("a line has at most 120 columns, except for a literal that cannot be broken", () => {
    const files = sources("{core,plugins,transforms,examples,bench,test,.ci}/**/*.{ts,js}").filter(
      // Recorded data, and programs that must not be read.
      (path) => !path.startsWith("test/fixtures/"),
    );
    expect(files.flatMap((path) => longLines(path, read(path)).map((line) => `${path}:${line}`))).toEqual([]);
  });

  test("a long line is found unless a pattern, a template or a word fills it", () => {
    const word = "x".repeat(110);
    const prose = "prose ".repeat(20);
    for (const text of [`const a = ["${prose}"];`, `// ${prose}`, `const ${word} = b + c;`])
      expect(longLines("a.ts", `\n${text}`)).toEqual([2]);
    for (const text of [`const a = "${word}";`, `const a = /${prose}/;`]) expect(longLines("a.ts", text)).toEqual([]);
    const template = `const a = \`\n${prose}\`;`;
    expect([longLines("a.ts", template), longLines("test/a.ts", template)]).toEqual([[2], []]);
  });

  test("no test or comment is left unfinished, skipped or focused", () => {
    const marks = new RegExp(
      `\\b(${["TO", "FIX"].map((half) => `${half}${half === "TO" ? "DO" : "ME"}`).join("|")}|XXX|HACK)\\b`,
    );
    const skipped = new RegExp(`\\b(?:test|it|describe)\\.(${["skip", "only", "todo"].join("|")})\\b`);
    const left = code().flatMap((path) => [
      ...linesMatching(path, read(path), marks),
      ...(path.startsWith("test/") ? linesMatching(path, read(path), skipped) : []),
    ]);
    expect(left.filter((line) => !line.startsWith("test/house/layout.test.ts"))).toEqual([]);
  });

  test("no module creates an `Intl` object when it loads, since its data can take up to 8 MB", () => {
    const made = sources("{core,plugins,transforms}/**/*.ts").flatMap((path) =>
      linesMatching(path, withoutComments(read(path)), /^(?:export )?(?:const|let) .*new Intl\./),
    );
    expect(made).toEqual([]);
  });

  test("time and randomness are injected rather than read directly", () => {
    const found = sources("{core,plugins,transforms,bench,test}/**/*.ts")
      .filter((path) => !composition.some((place) => place.test(path)))
      .flatMap((path) =>
        linesMatching(path, withoutComments(read(path)), /\b(?:Date\.now|Math\.random)\(|\bnew Date\(\)/),
      );
    expect(found).toEqual([]);
  });
});
