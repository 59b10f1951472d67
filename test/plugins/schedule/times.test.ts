/**
 * When a plan runs, around the changes of the clocks in Berlin: on 29 March 2026 02:00 becomes 03:00, on 25 October
 * 03:00 becomes 02:00.
 */
import { describe, expect, test } from "vitest";
import type { Times } from "../../../plugins/schedule/plan.ts";
import {
  instantOf,
  newestUpTo,
  nextAfter,
  nextTimes,
  shortestGapMs,
  timesProblem,
} from "../../../plugins/schedule/times.ts";
import { sayTime } from "../../../plugins/schedule/wording.ts";

const timezone = "Europe/Berlin";
const at = (iso: string) => Date.parse(iso);
const next = (times: Times, after: string, count = 3) =>
  nextTimes({ times, timezone }, { after: at(after), anchor: at(after), count }).map((time) =>
    new Date(time).toISOString().slice(5, 16),
  );

describe("when the clocks go forward", () => {
  test("a skipped daily time runs once, after the change", () => {
    expect(next({ cron: "30 2 * * *" }, "2026-03-28T12:00Z")).toEqual(["03-29T01:00", "03-30T00:30", "03-31T00:30"]);
  });

  test("an hourly plan skips no hour", () => {
    expect(next({ cron: "0 * * * *" }, "2026-03-29T00:30Z")).toEqual(["03-29T01:00", "03-29T02:00", "03-29T03:00"]);
  });

  test("a skipped one-time date runs an hour later by the clock", () => {
    expect(sayTime(instantOf("2026-03-29T02:30", timezone) ?? 0, timezone)).toBe(
      "Sun 2026-03-29 03:30 Europe/Berlin (UTC+2)",
    );
  });
});

describe("when the clocks go back", () => {
  test("a daily time in the repeated hour runs once", () => {
    expect(next({ cron: "30 2 * * *" }, "2026-10-24T12:00Z")).toEqual(["10-25T00:30", "10-26T01:30", "10-27T01:30"]);
  });

  test("a daily time checked between the repeated hours also runs once", () => {
    expect(next({ cron: "30 2 * * *" }, "2026-10-25T00:45Z", 1)).toEqual(["10-26T01:30"]);
  });

  test("an hourly plan runs in both of the repeated hours", () => {
    expect(next({ cron: "0 * * * *" }, "2026-10-24T23:30Z")).toEqual(["10-25T00:00", "10-25T01:00", "10-25T02:00"]);
  });

  test("the time is shown with the current offset", () => {
    expect(sayTime(at("2026-10-25T00:30Z"), timezone)).toBe("Sun 2026-10-25 02:30 Europe/Berlin (UTC+2)");
    expect(sayTime(at("2026-10-25T01:30Z"), timezone)).toBe("Sun 2026-10-25 02:30 Europe/Berlin (UTC+1)");
  });
});

test("the newest passed time is found across a clock change", () => {
  const newest = (times: Times, due: string, now: string) =>
    new Date(newestUpTo({ times, timezone }, at(due), at(now))).toISOString().slice(0, 16);
  expect(newest({ cron: "30 2 * * *" }, "2026-10-24T00:30Z", "2026-10-25T23:00Z")).toBe("2026-10-25T00:30");
  expect(newest({ cron: "30 2 * * *" }, "2026-03-28T01:30Z", "2026-03-29T12:00Z")).toBe("2026-03-29T01:00");
  expect(newest({ cron: "0 8 * * 1" }, "2026-06-01T06:00Z", "2026-06-01T06:00Z")).toBe("2026-06-01T06:00");
  expect(newest({ every: "30m" }, "2026-06-01T06:10Z", "2026-06-01T09:00Z")).toBe("2026-06-01T08:40");
});

test("an interval stays aligned with its start", () => {
  const when = { times: { every: "2h" }, timezone };
  const anchor = at("2026-06-01T10:10Z");
  expect(nextAfter(when, anchor, anchor)).toBe(at("2026-06-01T12:10Z"));
  expect(nextAfter(when, at("2026-06-03T12:10Z"), anchor)).toBe(at("2026-06-03T14:10Z"));
  // The clock was set back behind the start.
  expect(nextAfter(when, at("2026-05-01T00:00Z"), anchor)).toBe(at("2026-06-01T12:10Z"));
});

test.each<readonly [Times, string]>([
  [{ cron: "0 8 * *" }, "does not have five fields"],
  [{ cron: "* * * * * *" }, "does not have five fields"],
  [{ cron: "61 8 * * *" }, "is not a cron expression"],
  [{ cron: "0 0 30 2 *" }, "names no time that ever comes"],
  [{ at: "2026-02-30T10:00" }, "is not a date and time"],
  [{ at: "tomorrow" }, "is not a date and time"],
  [{ at: "2026-01-01T10:00" }, "is in the past"],
  [{ every: "10s" }, "must be a time such as 30m"],
])("%j is rejected because it %s", (times, reason) => {
  expect(timesProblem(times, timezone, at("2026-06-01T00:00Z"))?.message).toContain(reason);
});

test("a time is read in the zone of the plan unless it has its own", () => {
  expect(instantOf("2026-07-01 09:00", "Asia/Tokyo")).toBe(at("2026-07-01T00:00Z"));
  expect(instantOf("2026-07-01T09:00+02:00", "Asia/Tokyo")).toBe(at("2026-07-01T07:00Z"));
  expect(timesProblem({ cron: "0 8 * * *" }, "Mars/Base", 0)).toMatchObject({ key: "timezone" });
});

test("the shortest gap between two runs is checked, not the first", () => {
  const gap = (cron: string) => shortestGapMs({ times: { cron }, timezone: "UTC" }, 0);
  expect(gap("0,2 9 * * *")).toBe(120_000);
  expect(gap("*/5 * * * *")).toBe(300_000);
});
