import { expect, test } from "vitest";
import { parseDuration } from "../../../core/config/duration.ts";

test.each([
  ["0", 0],
  ["30m", 1_800_000],
  ["2h", 7_200_000],
  ["10s", 10_000],
  ["1d", 86_400_000],
  ["soon", undefined],
  ["-1m", undefined],
  ["", undefined],
])("parsing the duration %j", (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});
