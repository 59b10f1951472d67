import { styleText } from "node:util";
import { expect, test } from "vitest";
import { columnsOf, createTerminal } from "../../../core/cli/output/terminal.ts";

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
])("%j takes %i columns", (text, columns) => {
  expect(columnsOf(text)).toBe(columns);
});

test("the columns of a table are straight whatever the names are", () => {
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
