import fc from "fast-check";
import { expect, test } from "vitest";
import { exactDigits, parseExactJson } from "../../../core/contract/exact-json.ts";

const read = (text: string) => JSON.stringify(parseExactJson(text));

test.each([
  ["12345678901234567890", "12345678901234567890"],
  ["1000000000000000000000000", "1000000000000000000000000"],
  ["[1e400]", "[1e400]"],
  ["-1E+400", "-1E+400"],
  ["1e-400", "1e-400"],
  ["12345678901234567890.5", "12345678901234567890.5"],
  ["0.12345678901234567890123", "0.12345678901234567890123"],
  ["1e99999999999999999999", "1e99999999999999999999"],
])("a number that JavaScript cannot represent keeps its digits: %s", (sent, written) => {
  expect(read(sent)).toBe(written);
});

test.each([
  "1.50",
  "1e3",
  "0.1",
  "1e+308",
  "0e999",
  "9007199254740991",
  "0.00000000000000000000",
  '"1e400"',
  '"9e999 "',
])("other values are parsed as JSON.parse does: %s", (sent) => {
  expect(read(sent)).toBe(JSON.stringify(JSON.parse(sent)));
  expect(exactDigits(parseExactJson(sent))).toBeUndefined();
});

test("each number is read back as written, and an integer beyond 2^53 keeps its digits", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      const written = JSON.stringify(number);
      const isLarge = /^-?\d+$/.test(written) && !Number.isSafeInteger(number);
      const found = parseExactJson(`{"n": ${written} }`) as { readonly n: unknown };
      expect(isLarge ? exactDigits(found.n) : found.n).toEqual(isLarge ? written : JSON.parse(written));
    }),
    { numRuns: 2_000, examples: [[2 ** 53], [-(2 ** 53)], [2 ** 53 - 1], [1e20], [1e21]] },
  );
});

test("a number keeps its digits regardless of surrounding strings, and digits in strings are unchanged", () => {
  const digits = "98765432109876543210";
  const texts = fc.oneof(fc.string(), fc.constantFrom("\\", '"', `\\"`, ` ${digits}`, `,${digits},`, ":1e400", "\\\\"));
  fc.assert(
    fc.property(fc.array(texts, { maxLength: 6 }), fc.array(texts, { maxLength: 6 }), (before, after) => {
      const list = [...before, "", ...after].map((text) => JSON.stringify(text));
      const numbers = [
        ...before.map((text) => JSON.stringify(text)),
        digits,
        ...after.map((text) => JSON.stringify(text)),
      ];
      expect(read(`[${list.join(", ")}]`)).toBe(`[${list.join(",")}]`);
      expect(read(`[${numbers.join(", ")}]`)).toBe(`[${numbers.join(",")}]`);
    }),
    { numRuns: 1_000 },
  );
});
