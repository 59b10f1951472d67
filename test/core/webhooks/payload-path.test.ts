import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  compilePayloadPath,
  PayloadPathError,
  parsePayloadPath,
  renderPayloadPath,
} from "../../../core/webhooks/mapping/payload-path.ts";
import { hostileKey } from "./hostile.ts";

describe("a path into a payload", () => {
  const payload = { a: { b: [{ "c.d": 1 }, null] }, payload: "own", "": "nameless" };

  test.each([
    ["a.b[0]", { "c.d": 1 }],
    [' a.b.0["c.d"] ', 1],
    ["a['b'][ 1 ]", null],
    ["a.b.length", 2],
    ["payload", "own"],
    ['[""]', "nameless"],
    ["a.b[2]", undefined],
    ["a.b.push", undefined],
    ["a.__proto__", undefined],
    ["payload.length", undefined],
    ["a.b.c.d.e", undefined],
  ])("%s", (path, expected) => {
    expect(compilePayloadPath(path)(payload)).toEqual(expected);
  });

  test("an invalid path is an error with its column", () => {
    for (const [path, column] of Object.entries({
      "": 1,
      "a.": 3,
      "a b": 3,
      "a[x]": 2,
      'a["x"': 6,
      "a]": 2,
      "\na..b": 3,
    })) {
      expect(() => compilePayloadPath(path)).toThrow(expect.objectContaining({ name: "PayloadPathError", column }));
    }
  });

  test("each path has one canonical spelling, which parses to the same path", () => {
    expect(renderPayloadPath(parsePayloadPath("a.0['b'][\"c d\"]"))).toBe('a[0].b["c d"]');
    fc.assert(
      fc.property(fc.array(fc.oneof(hostileKey, fc.string()), { minLength: 1 }), (keys) => {
        expect(parsePayloadPath(renderPayloadPath(keys))).toEqual(keys);
      }),
      { numRuns: 1_000 },
    );
  });

  test("any text is either a path or a PayloadPathError", () => {
    const token = fc.constantFrom("a", ".", "[", "]", "0", '"', "'", "\\", " ", "{", "💥", "__proto__");
    fc.assert(
      fc.property(fc.array(token, { maxLength: 12 }), (tokens) => {
        try {
          expect(parsePayloadPath(tokens.join("")).length).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(PayloadPathError);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
