/** Calendar files as mails carry them, and as nobody should. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseCalendar } from "../../../plugins/mail/parts/calendar.ts";
import { expectLinear } from "../../support/linear.ts";

const event = (...lines: readonly string[]) =>
  ["BEGIN:VCALENDAR", "BEGIN:VEVENT", ...lines, "END:VEVENT", "END:VCALENDAR"].join("\r\n");

test.each<[name: string, lines: readonly string[], expected: object]>([
  ["a time in UTC", ["DTSTART:20261127T090000Z"], { start: "2026-11-27 09:00 UTC" }],
  ["a time in a zone", ['DTSTART;TZID="Europe/Berlin":20261127T100000'], { start: "2026-11-27 10:00 Europe/Berlin" }],
  ["a time in no zone", ["DTSTART:20261127T100000"], { start: "2026-11-27 10:00 (no time zone)" }],
  ["a whole day", ["DTSTART;VALUE=DATE:20261127"], { start: "2026-11-27 (all day)" }],
  ["an entry that repeats", ["RRULE:FREQ=DAILY"], { repeats: true }],
  ["a folded line and escapes", ["SUMMARY:One\\, two", "  and\\nthree"], { summary: "One, two and three" }],
  ["a text in place of a time", ["DTSTART:soon"], { start: "soon" }],
  ["a title that reverses what follows", ["SUMMARY:a\u202eb"], { summary: "ab" }],
])("%s", (_, lines, expected) => {
  expect(parseCalendar(event(...lines))).toEqual([expect.objectContaining(expected)]);
});

test("any text is parsed without an error, and at most five entries are read", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => void parseCalendar(`BEGIN:VEVENT\n${text}`)),
  );
  expect(parseCalendar(event("SUMMARY:x").repeat(50))).toHaveLength(5);
});

test.each([
  ["folded lines", "\n "],
  ["colons and quotes", 'A":":"\n'],
  ["events in events", "BEGIN:VEVENT\n"],
  ["backslashes", "SUMMARY:\\\\\n"],
])("the cost of %s grows linearly with their number", async (_, piece) => {
  await expectLinear(parseCalendar, (length) => `BEGIN:VEVENT\n${piece.repeat(length / piece.length)}`, {
    size: 50_000,
    times: 30,
  });
});
