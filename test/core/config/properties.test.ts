import fc from "fast-check";
import { findNodeAtLocation, type Node, parse, parseTree } from "jsonc-parser";
import { expect, test } from "vitest";
import { editText } from "../../../core/config/editing/edit-text.ts";
import { getPath } from "../../../core/config/path.ts";
import { checkConfig } from "../../../core/config/reading/load.ts";
import { HostError } from "../../../core/contract/errors.ts";

const check = (text: string) => checkConfig({ text, file: "/nowhere/config.jsonc", env: {} });

const sections = [
  "gateway",
  "hooks",
  "channels",
  "session",
  "messages",
  "commands",
  "agents",
  "bindings",
  "models",
  "plugins",
  "__proto__",
  "constructor",
];
const keys = [
  "enabled",
  "token",
  "list",
  "defaults",
  "entries",
  "accounts",
  "groups",
  "x",
  "mappings",
  "__proto__",
  "constructor",
  "prototype",
  "id",
  "match",
];
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, 0, -1, 1e300, "", "*", "open", "pairing", "../x", { env: "toString" }, { file: "/" }),
    fc.string({ maxLength: 5 }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(fc.constantFrom(...keys), tie("value")), { maxLength: 4 }).map((pairs) => ({ pairs })),
  ),
})).value;

/** `__proto__` as a key of the text, and not of an object here. */
function print(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(print).join(",")}]`;
  if (typeof value === "object" && value !== null && "pairs" in value) {
    return `{${(value.pairs as [string, unknown][]).map(([key, inner]) => `${JSON.stringify(key)}:${print(inner)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

test("loading any file throws only HostError and never reaches a prototype", () => {
  const before = Object.getOwnPropertyNames(Object.prototype).join();
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...sections), json), { maxLength: 5 }), (pairs) => {
      const { config, problems } = check(print({ pairs }));
      expect(config.gateway.port).toBeTypeOf("number");
      expect(config.agents.defaults.heartbeat.every).toBeTypeOf("string");
      expect(Object.isFrozen(config)).toBe(true);
      for (const problem of problems) expect(problem.path).not.toBe("");
    }),
    { numRuns: 400 },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.string({ unit: fc.constantFrom("{", "}", "[", "]", '"', ":", ",", "/", "*", "\n", "a", "1") }),
      ),
      (text) => {
        try {
          check(text);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(HostError);
        }
      },
    ),
    { numRuns: 1_000 },
  );
  expect(Object.getOwnPropertyNames(Object.prototype).join()).toBe(before);
});

const blank = fc.constantFrom("", " ", "\n  ", "// note\n", "/* note */", " /* note */ ", " // note\n    ");

/** A text with comments in every gap; each gets a number, so that a lost one is seen. */
const commented = fc
  .tuple(
    fc.array(
      fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.constantFrom("1", '"x"', "{}", "[]", '{ "k": 1 }', "[1, 2]")),
      {
        maxLength: 4,
      },
    ),
    fc.array(blank, { minLength: 30, maxLength: 30 }),
    fc.boolean(),
  )
  .map(([pairs, blanks, trailing]) => {
    let used = 0;
    const gap = () => (blanks[used] ?? "").replace("note", `note${used++}.`);
    const unique = [...new Map(pairs)];
    const body = unique.map(
      ([key, value], index) =>
        `${gap()}"${key}"${gap()}:${gap()}${value}${gap()}${index < unique.length - 1 || trailing ? "," : ""}`,
    );
    return `${gap()}{${body.join("")}${gap()}}${gap()}`;
  });

test("an edit makes only the requested change and keeps every comment outside the replaced value", () => {
  fc.assert(
    fc.property(
      commented,
      fc.constantFrom("a", "b", "c", "d", "e"),
      fc.constantFrom(undefined, 5, "y", [1, 3], [2], { k: 2 }, { z: [] }),
      (text, key, value) => {
        const before = parse(text) as Record<string, unknown>;
        const after = editText(text, [key], value);
        const expected = { ...before, [key]: value };
        if (value === undefined) delete expected[key];
        const errors: unknown[] = [];
        expect(parse(after, errors as never, { allowTrailingComma: true })).toEqual(expected);
        expect(errors).toEqual([]);
        // A comment between a key and its value goes with a removed property.
        const removed = value === undefined ? findNodeAtLocation(parseTree(text) as Node, [key])?.parent : undefined;
        const own = removed ? text.slice(removed.offset, removed.offset + removed.length) : "";
        for (const [note] of text.matchAll(/note\d+\./g)) if (!own.includes(note)) expect(after).toContain(note);
        expect(getPath(parse(after), [key])).toEqual(value);
      },
    ),
    { numRuns: 1_000 },
  );
});
