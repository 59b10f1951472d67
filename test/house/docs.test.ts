import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, matchesGlob } from "node:path";
import { describe, expect, test } from "vitest";
import { rules } from "../../core/cli/plugins/check/finding.ts";
import { errorTable } from "../../core/contract/error-table.ts";
import { pluginDeadlines } from "../../core/host/deadline.ts";
import { hookNames } from "../../core/stations/hook-names.ts";
import { hookDeadlines } from "../../core/stations/stations.ts";
import { read, root, sources } from "./sources.ts";

const documents = () => sources("*.md", "{core,plugins,transforms,examples,bench}/**/*.md");

describe("documents", () => {
  test("core/ERRORS.md is the error table; update it with `vitest run test/house -u`", async () => {
    const cell = (text: string) =>
      text
        .replaceAll("{command}", "service")
        .replaceAll("|", "\\|")
        .replace(/\{(\w+)\}/g, "*$1*");
    const rows = Object.entries(errorTable).map(
      ([code, { text, hint }]) => `| \`${code}\` | ${cell(text)} | ${cell(hint)} |`,
    );
    const page = [
      "# Errors",
      "",
      "Every error that can reach a user: its code, what it says, and what to do. Words in italics are filled in.",
      "",
      "| code | says | what to do |",
      "|---|---|---|",
      ...rows,
      "",
    ].join("\n");
    await expect(page).toMatchFileSnapshot(join(root, "core", "ERRORS.md"));
  });

  test("the hook table in ARCHITECTURE.md has one row per hook, in path order, with its deadline", () => {
    const rows = [...read("ARCHITECTURE.md").matchAll(/^\| `([a-z]+)\([^)]*\)` \|.*\| (\d+) s \|$/gm)].map((match) => [
      match[1],
      Number(match[2]) * 1_000,
    ]);
    expect(rows).toEqual(hookNames.map((name) => [name, hookDeadlines[name]]));
  });

  test("the tables of examples/authors/deadlines.md have one row per call into a plugin", () => {
    const rows = [...read("examples/authors/deadlines.md").matchAll(/^\| `(\w+)`[^|]*\| (\d+) s \|/gm)].map((match) => [
      match[1],
      Number(match[2]) * 1_000,
    ]);
    expect(Object.fromEntries(rows)).toEqual(pluginDeadlines);
  });

  test("the table of stations in the manual for authors has one row per hook, in path order, with its deadline", () => {
    const rows = [
      ...read("examples/authors/stations.md").matchAll(/^\| `([a-z]+)\([^)]*\)` \|.*\| (\d+) s(?: to [^|]*)? \|$/gm),
    ].map((match) => [match[1], Number(match[2]) * 1_000]);
    expect(rows).toEqual(hookNames.map((name) => [name, hookDeadlines[name]]));
  });

  test("the table of examples/authors/checks.md has a row per rule of `plugins check`, as printed", () => {
    const rows = [
      ...read("examples/authors/checks.md").matchAll(/^\| `([a-z-]+)` \| (\w+) \| (.+?) \| (.+?) \|$/gm),
    ].map(([, id, severity, summary, fix]) => [id, { severity, summary, fix }]);
    expect(Object.fromEntries(rows)).toEqual(rules);
  });

  test("a page of the manual for authors has at most 200 lines, and the first page links to it", () => {
    const pages = sources("examples/authors/*.md");
    expect(pages.filter((path) => read(path).trimEnd().split("\n").length > 200)).toEqual([]);
    const first = read("examples/authors/README.md");
    const others = pages.map((path) => basename(path)).filter((name) => name !== "README.md");
    expect(others.filter((name) => !first.includes(`](${name})`))).toEqual([]);
  });

  test("README.md explains the product on the first screen and has at most 120 lines", () => {
    const page = read("README.md");
    const [first = ""] = page.split("\n## ");
    expect(page.trimEnd().split("\n").length).toBeLessThanOrEqual(120);
    for (const name of ["Telegram", "webhook", "Ollama", "OpenAI", "Anthropic"]) expect(first).toContain(name);
  });

  test("README.md has the sections that a new user needs, and the first contains the two commands", () => {
    const [, ...parts] = read("README.md").split("\n## ");
    const titles = parts.map((part) => part.split("\n")[0]);
    expect(titles).toEqual(["Try it", "Install", "From the demo to your own bot", "Where to go on"]);
    expect(parts[0]).toMatch(/```sh\nnpm start[^\n]*\nnpm test[^\n]*\n```/);
  });

  test("the pictures in README.md exist and are small", () => {
    const pictures = [...read("README.md").matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, file = ""]) => file);
    expect(pictures).toHaveLength(2);
    for (const file of pictures) expect(statSync(join(root, file)).size).toBeLessThan(60_000);
  });

  test("every relative link points to a file, and every anchor to a heading", () => {
    const slug = (heading: string) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-");
    const dead = documents().flatMap((path) =>
      [...read(path).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(
        ([, file = "", anchor]) => {
          const target = file === "" ? path : join(dirname(path), file);
          if (!existsSync(join(root, target))) return [`${path}: ${file}`];
          if (anchor === undefined) return [];
          const slugs = [...read(target).matchAll(/^#+ (.+)$/gm)].map((match) => slug(match[1] ?? ""));
          return slugs.includes(anchor) ? [] : [`${path}: #${anchor}`];
        },
      ),
    );
    expect(dead).toEqual([]);
  });

  test("a page in the package links only to files in the package, which contains no TypeScript of core", () => {
    const { files } = JSON.parse(read("package.json")) as { readonly files: readonly string[] };
    const isShipped = (path: string) =>
      files.some((name) => path === name || path.startsWith(`${name}/`) || matchesGlob(path, name));
    expect(sources("core/**/*.ts").filter(isShipped)).toEqual([]);
    const pages = documents().filter(isShipped);
    expect(pages).toEqual(expect.arrayContaining(["README.md", "core/ERRORS.md", "plugins/mail/README.md"]));
    const dead = pages.flatMap((path) =>
      [...read(path).matchAll(/\]\((?!https?:|mailto:|#|value:)([^)#\s]+)/g)]
        .map(([, file = ""]) => join(dirname(path), file))
        .filter((target) => !isShipped(target) && !statSync(join(root, target)).isDirectory())
        .map((target) => `${path}: ${target}`),
    );
    expect(dead).toEqual([]);
  });

  test("a page that code, a comment or a template of `plugins create` names exists", () => {
    const named = sources("{core,plugins,transforms}/**/*.{ts,txt}").flatMap((path) =>
      [
        ...read(path).matchAll(
          /(?:node_modules\/\{\{package\}\}\/|[`\s"])((?:core|examples|plugins)\/[\w./-]+\.md)\b/g,
        ),
      ].map(([, page = ""]) => ({ path, page })),
    );
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter(({ page }) => !existsSync(join(root, page)))).toEqual([]);
  });

  test("every plugin has a README", () => {
    const without = sources("plugins/*/index.ts")
      .map(dirname)
      .filter((folder) => !existsSync(join(root, folder, "README.md")));
    expect(without).toEqual([]);
  });
});
