import fc from "fast-check";
import { expect, test } from "vitest";
import { documents } from "./documents.ts";
import { faultOf } from "./outgoing.ts";
import { crossing, readAsPlatform, readAsStranger } from "./readers.ts";

test("10,000 random documents are sent completely, within limits, and read alike by two independent parsers", () => {
  fc.assert(
    fc.property(
      documents,
      fc.integer({ min: 8, max: 400 }),
      fc.constantFrom("length", "newline"),
      (markdown, limit, mode) => {
        const fault = faultOf(markdown, { limit, mode });
        if (fault !== undefined) throw new Error(fault);
      },
    ),
    { numRuns: 10_000 },
  );
}, 120_000);

test("the checks detect faults", () => {
  expect(() => readAsPlatform("<b>a<i>b</b>c</i>")).toThrow(/end tag/);
  expect(() => readAsPlatform("<div>a</div>")).toThrow(/Unsupported start tag/);
  expect(() => readAsPlatform("<code>a<b>b</b></code>")).toThrow(/leaves out styles/);
  expect(() => readAsStranger("<u>a</u>")).toThrow(/nobody wrote/);
  expect(readAsStranger("  a <b>b</b>\n  <pre>c</pre>").styles).toEqual(["bold 4-5", "pre 8-9"]);
  const ranges = [
    { type: "bold", start: 0, end: 4 },
    { type: "italic", start: 2, end: 6 },
  ];
  expect(crossing({ text: "", styles: [], ranges })).toBeDefined();
});
