import { expect, test } from "vitest";
import { parseSince, renderAgo, renderDuration } from "../../../core/cli/output/times.ts";

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
])("%d ms is shown as %s", (ms, said) => {
  expect(renderDuration(ms)).toBe(said);
});

test.each([
  [1_000, "just now"],
  [180_000, "3 min ago"],
  [-3_420_000, "in 57 min"],
])("a time %d ms ago is shown as %s", (distance, said) => {
  expect(renderAgo(10_000_000 - distance, 10_000_000)).toBe(said);
});

const now = new Date(2026, 10, 20, 14, 3).getTime();

test.each([
  ["90s", now - 90_000],
  ["30m", now - 30 * 60_000],
  ["2h", now - 2 * 3_600_000],
  ["3 d", now - 3 * 86_400_000],
  ["today", new Date(2026, 10, 20).getTime()],
  ["Yesterday", new Date(2026, 10, 19).getTime()],
  ["2026-11-18", new Date(2026, 10, 18).getTime()],
  ["2026-11-18 09:30", new Date(2026, 10, 18, 9, 30).getTime()],
  ["2026-11-18T09:30:00Z", Date.UTC(2026, 10, 18, 9, 30)],
])("--since %s is accepted as a time", (text, at) => {
  expect(parseSince(text, now)).toBe(at);
});

test.each(["", "soon", "2026-13-01", "2026-02-31", "2026-02-30T12:00", "3 fortnights", "12"])(
  "--since %j is rejected",
  (text) => {
    expect(() => parseSince(text, now)).toThrow(/is not a time/);
  },
);
