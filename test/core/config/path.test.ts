import { expect, test } from "vitest";
import { getPath, parsePath, renderPath } from "../../../core/config/path.ts";

test.each([
  ["", []],
  ["a.b[0].c", ["a", "b", 0, "c"]],
  ["channels.chat.groups.-100123.enabled", ["channels", "chat", "groups", "-100123", "enabled"]],
  ['a["b.c"].d', ["a", "b.c", "d"]],
  ['["a \\"b\\""]', ['a "b"']],
  ["list.0", ["list", "0"]],
])("%j is parsed", (text, segments) => {
  expect(parsePath(text)).toEqual(segments);
  if (text !== "list.0") expect(parsePath(renderPath(segments))).toEqual(segments);
});

test.each([
  "a..b",
  ".a",
  "a.",
  "a[",
  "a[-1]",
  "a[x]",
  "a b",
  "__proto__.x",
  "a.constructor",
  'a["prototype"]',
  "a]b",
  'a["x"',
])("%j is not a valid path", (text) => {
  expect(parsePath(text)).toBeUndefined();
});

test("only own properties are read", () => {
  const value = { a: [{ b: 1 }], "x.y": 2 };
  expect(getPath(value, "a[0].b")).toBe(1);
  expect(getPath(value, "a.0.b")).toBe(1);
  expect(getPath(value, 'missing["x"]')).toBeUndefined();
  expect(getPath(value, "a.length")).toBeUndefined();
  expect(getPath(value, "toString")).toBeUndefined();
  expect(getPath(value, ["__proto__"])).toBeUndefined();
  expect(getPath(value, '["x.y"]')).toBe(2);
});
