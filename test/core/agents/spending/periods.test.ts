import { expect, test } from "vitest";
import { createPeriods } from "../../../../core/agents/spending/periods.ts";

const hour = 3_600_000;
const spanOf = createPeriods();
const span = (period: "day" | "month", at: string, timezone: string) => {
  const { start, end } = spanOf(period, Date.parse(at), timezone);
  return { start: new Date(start).toISOString(), hours: (end - start) / hour };
};

test("a day begins at midnight of its zone", () => {
  expect(span("day", "2026-11-26T23:30:00Z", "Europe/Berlin")).toEqual({
    start: "2026-11-26T23:00:00.000Z",
    hours: 24,
  });
  expect(span("day", "2026-11-26T22:59:59Z", "Europe/Berlin")).toEqual({
    start: "2026-11-25T23:00:00.000Z",
    hours: 24,
  });
  expect(span("day", "2026-11-26T20:00:00Z", "Asia/Kathmandu")).toEqual({
    start: "2026-11-26T18:15:00.000Z",
    hours: 24,
  });
  expect(span("day", "2026-11-26T09:00:00Z", "Pacific/Kiritimati")).toEqual({
    start: "2026-11-25T10:00:00.000Z",
    hours: 24,
  });
});

test("a day on which the clocks change has 23 or 25 hours", () => {
  expect(span("day", "2026-03-29T12:00:00Z", "Europe/Berlin")).toEqual({
    start: "2026-03-28T23:00:00.000Z",
    hours: 23,
  });
  expect(span("day", "2026-10-25T12:00:00Z", "Europe/Berlin")).toEqual({
    start: "2026-10-24T22:00:00.000Z",
    hours: 25,
  });
});

test("a day begins with its first minute if midnight is skipped or repeated", () => {
  expect(span("day", "2026-04-24T12:00:00Z", "Africa/Cairo")).toEqual({ start: "2026-04-23T22:00:00.000Z", hours: 23 });
  expect(span("day", "2026-10-25T12:00:00Z", "Atlantic/Azores")).toEqual({
    start: "2026-10-25T00:00:00.000Z",
    hours: 25,
  });
});

test("a month begins on its first day, also across the turn of the year", () => {
  expect(span("month", "2026-12-31T22:59:00Z", "Europe/Berlin")).toEqual({
    start: "2026-11-30T23:00:00.000Z",
    hours: 31 * 24,
  });
  expect(span("month", "2026-12-31T23:00:00Z", "Europe/Berlin")).toEqual({
    start: "2026-12-31T23:00:00.000Z",
    hours: 31 * 24,
  });
  expect(span("month", "2026-03-10T00:00:00Z", "Europe/Berlin")).toEqual({
    start: "2026-02-28T23:00:00.000Z",
    hours: 31 * 24 - 1,
  });
});

test("setting the clock back returns to the previous day", () => {
  expect(span("day", "2026-11-26T12:00:00Z", "UTC").start).toBe("2026-11-26T00:00:00.000Z");
  expect(span("day", "2026-11-25T12:00:00Z", "UTC").start).toBe("2026-11-25T00:00:00.000Z");
});
