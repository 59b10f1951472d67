import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readPast } from "../../../core/reports/logs.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";

test("a search with a bound looks at the newest lines only, over the end of a rotated file", () => {
  const directory = temporaryDirectory();
  onTestFinished(() => removeDirectory(directory));
  const file = join(directory, "gateway.log");
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => `line ${from + index}\n`).join("");
  writeFileSync(`${file}.1`, lines(100, 500));
  writeFileSync(file, lines(500, 600));
  const found = (most?: number) => readPast(file, 1_000, () => true, most).lines;
  expect([found().length, found()[0]]).toEqual([500, "line 100"]);
  // The line at which the bound cuts is left out.
  expect([found(1_000).length, found(1_000)[0], found(500).length]).toEqual([111, "line 489", 55]);
});
