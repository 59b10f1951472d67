import { expect, test } from "vitest";
import { renderAgo, renderDuration } from "../../../core/cli/times.ts";

test.each([
  [0, "0 ms"],
  [12.4, "12 ms"],
  [1_400, "1.4 s"],
  [42_000, "42 s"],
  [59_800, "1 min"],
  [180_000, "3 min"],
  [3_600_000, "1 h"],
  [7_500_000, "2 h 5 min"],
  [7_190_000, "2 h"],
  [86_400_000, "1 day"],
  [345_600_000, "4 days"],
])("%d ms is said as %s", (ms, said) => {
  expect(renderDuration(ms)).toBe(said);
});

test.each([
  [1_000, "just now"],
  [180_000, "3 min ago"],
  [-3_420_000, "in 57 min"],
])("a moment %d ms back is %s", (distance, said) => {
  expect(renderAgo(10_000_000 - distance, 10_000_000)).toBe(said);
});
