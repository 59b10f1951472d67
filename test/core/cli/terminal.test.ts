import { styleText } from "node:util";
import { expect, test } from "vitest";
import { createTerminal } from "../../../core/cli/output/terminal.ts";
import { visible, visibleJson, visibleLine } from "../../../core/log/visible.ts";
import { columnsOf } from "../../../core/reports/text-page.ts";
import { linesMatching, read, sources, withoutComments } from "../../house/sources.ts";

test.each([
  ["Ada (1001)", 10],
  [styleText("bold", "Ada", { validateStream: false }), 3],
  ["山田太郎", 8],
  ["한국어", 6],
  ["ｆｕｌｌ", 8],
  ["Zoë", 3],
  ["Jose\u0301", 4],
  ["👩\u200d👩\u200d👧", 2],
  ["🇩🇪", 2],
  ["❤\uFE0F", 2],
  ["שלום", 4],
  ["a\u200bb", 2],
  ["…✓·–", 4],
  ["", 0],
])("%j is %i columns wide", (text, columns) => {
  expect(columnsOf(text)).toBe(columns);
});

test("the columns of a table are aligned for all kinds of names", () => {
  const lines: string[] = [];
  const stdout = { write: (text: string) => lines.push(text) };
  const { table } = createTerminal({ stdout, stderr: stdout } as unknown as NodeJS.Process);
  table([
    ["山田太郎", "answered"],
    ["👩\u200d👩\u200d👧 Fam", "silent"],
    ["Jose\u0301", "failed"],
  ]);
  expect(lines).toEqual(["山田太郎  answered\n", "👩\u200d👩\u200d👧 Fam    silent\n", "Jose\u0301      failed\n"]);
});

/**
 * What a terminal acts on, or does not show: ESC, C1, a line separator of another kind, bidi, joiners, tags, the byte
 * order mark.
 */
const hostile =
  "a\u001b[31m\u009b2J\u007f\u0085\u202e\u2066\u200b\u00ad\ufeff\u{e0041}\u{e007f}\u{1F468}\u200d\u{1F469}b\n\tc";

test.each([undefined, 2])(
  "printed JSON keeps its value and contains nothing that controls a terminal or is invisible (indent %s)",
  (indent) => {
    const value = { [hostile]: [hostile, { text: "ünï 👍 中" }], none: null };
    const text = visibleJson(value, indent);
    expect(JSON.parse(text)).toEqual(value);
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\u{E0000}-\u{E007F}]/u);
    expect(text).toContain("ünï 👍 中");
    expect(visibleJson(undefined)).toBe("null");
  },
);

test("a terminal prints JSON with the same escapes", () => {
  let written = "";
  const stdout = { write: (text: string) => (written += text) };
  const { json } = createTerminal({ stdout, stderr: stdout } as unknown as NodeJS.Process);
  json({ hostile });
  json({ hostile }, { lines: true });
  expect(written.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\u{E0000}-\u{E007F}]/u);
  expect(written.trimEnd().split("\n")).toHaveLength(4);
});

test("text for people shows tag characters, which terminals do not draw", () => {
  expect(visible("ok\u{e0041}\u{e0042}")).toBe("ok\\u{e0041}\\u{e0042}");
  expect(visibleLine("x\u202e\u{e007f}")).toBe("x\\u202e\\u{e007f}");
  expect(visible("👩\u200d👧 ünï")).toBe("👩\u200d👧 ünï");
});

/** JSON that is written, as a line or to the standard output, without the printer. */
const unescaped = /\b(?:line|note|write|print|log)\((?:(?!visible|escapeJson)[^;])*JSON\.stringify/;

test("all commands print JSON through the same function", () => {
  for (const line of ["terminal.line(JSON.stringify(report))", "stdout.write(JSON.stringify(value));"])
    expect(line).toMatch(unescaped);
  expect("terminal.line(visible(JSON.stringify(result, null, 2)));").not.toMatch(unescaped);
  const files = sources("core/cli/**/*.ts", "plugins/*/cli*.ts");
  expect(files.length).toBeGreaterThan(50);
  expect(files.flatMap((path) => linesMatching(path, withoutComments(read(path)), unescaped))).toEqual([]);
});
