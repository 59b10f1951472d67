// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are code of transforms.
/** The line that an error of a transform is reported at, as users read it: right, or left out. */
import { afterAll, describe, expect, test } from "vitest";
import { placeOf, TransformError } from "../../../core/transforms/error.ts";
import { codeOnly, decoratorLine } from "../../../core/transforms/modules/code-only.ts";
import { openWorkshop } from "./workshop.ts";

const cases: readonly (readonly [rule: string, file: string, code: string, place: string])[] = [
  [
    "a property of undefined",
    "a.js",
    "export default (c) => {\n  const a = c.payload;\n  return { message: a.x.y };\n};\n",
    "a.js:3",
  ],
  [
    "after a call",
    "b.js",
    "export default (c) => {\n  String(c);\n  const a = c.payload;\n\n  return { message: a.x.y };\n};\n",
    "b.js:5",
  ],
  [
    "in TypeScript",
    "c.ts",
    "interface P {\n  x?: { y: string };\n}\nexport default (c: { payload: P }) => {\n  return { message: " +
      "c.payload.x!.y };\n};\n",
    "c.ts:5",
  ],
  [
    "of null, by its name in brackets",
    "d.js",
    'export default (c) => {\n  const a = null;\n  return { message: a["y"] };\n};\n',
    "d.js:3",
  ],
  ["that is set", "e.js", "export default (c) => {\n  let a;\n  a.y = 5;\n};\n", "e.js:3"],
  [
    "in a template",
    "f.js",
    "export default (c) => {\n  const a = c.payload;\n  return { message: `${a.x.y}` };\n};\n",
    "f.js:3",
  ],
  [
    "in a file that has it in comments and texts too",
    "g.js",
    '// c.x.y\nconst text = "a.y"; /* .y */ const t = `b.y`;\nexport default (c) => {\n\n  return { ' +
      "message: c.x.y + text + t };\n};\n",
    "g.js:5",
  ],
  [
    "of a variable that does not exist",
    "h.js",
    "export default () => {\n  const a = 1;\n  return { message: missing + a };\n};\n",
    "h.js:3",
  ],
  [
    "in a function of another name",
    "i.js",
    "function inner(a) {\n  const b = a;\n  return b.x.y;\n}\nexport default (c) => ({ message: inner(c) });\n",
    "i.js:3",
  ],
  [
    "at one of two lines",
    "j.js",
    "export default (c) => {\n  const a = c.payload;\n  const b = a.y;\n  return { message: b.y };\n};\n",
    "somewhere in the function default, j.js, line 3 or 4",
  ],
  [
    "at a line that its name does not tell",
    "k.js",
    "export default (c) => {\n  const { a } = c.nothing;\n  return { message: a };\n};\n",
    "somewhere in the function default, k.js",
  ],
  ["that is thrown", "l.js", "export default () => {\n  const a = 1;\n  throw new Error('no' + a);\n};\n", "l.js:3:"],
  ["of a call", "m.js", "export default (c) => {\n  const a = 1;\n  return c.nothing(a);\n};\n", "m.js:3:"],
];

const shop = openWorkshop(Object.fromEntries(cases.map(([, file, code]) => [file, code])));
afterAll(() => shop.close());

describe("an error is reported at its place", () => {
  test.each(cases)("%s", async (_, file, __, place) => {
    const { where } = await shop.fault(file);
    const found = placeOf(new TransformError("threw", "", { where }), { module: file, root: shop.root });
    expect(place.endsWith(":") ? found.startsWith(place) : found === place, `${found} instead of ${place}`).toBe(true);
  });

  test("each call reports its own line, also when another call fails elsewhere", async () => {
    const own = openWorkshop({
      "a.js": "export default (c) => {\n  const a = c.payload;\n  if (a.q) return a.x.z;\n  return a.x.y;\n};\n",
    });
    try {
      for (const [payload, line] of [
        [{}, 4],
        [{ q: 1 }, 3],
        [{}, 4],
      ] as const) {
        expect((await own.fault("a.js", payload)).where).toContain(`a.js:${line})`);
      }
    } finally {
      await own.close();
    }
  });
});

describe("decorators", () => {
  test.each(["ts", "js"])("are rejected with a message that names them, in .%s", async (ending) => {
    const type = ending === "ts" ? ": any" : "";
    const code =
      `function deco()${type} { return () => 42; }\n/** @param x */\nclass D { @deco m() { ` +
      `return 1; } }\nexport default () => ({ message: String(new D().m()) });\n`;
    const own = openWorkshop({
      [`dec.${ending}`]: code,
      "enum.ts": `enum E { A }\n@deco class C {}\nexport default () => null;\n`,
    });
    try {
      expect((await own.fault(`dec.${ending}`)).message).toBe(
        `dec.${ending}:3: transforms have no decorators. Call the function yourself, or compile the file to ` +
          "JavaScript first",
      );
      expect((await own.fault("enum.ts")).message).toMatch(/^enum\.ts:2: transforms have no decorators/);
    } finally {
      await own.close();
    }
  });

  test.each([
    ["a text", 'const a = "@b";'],
    ["a template", "const a = `@b ${`@c`} @d`;"],
    ["a comment", "/** @param b */ // @c\nconst a = 1;"],
    ["a regular expression", "const a = /@b['\"`]/.test(x); const c = 1 / 2; // @d"],
    ["a template with braces", "const a = `${{ b: `@c` }.b} @d`; const e = { f: 1 };"],
  ])("an at sign in %s is not a decorator", (_, code) => {
    expect(decoratorLine(code)).toBeUndefined();
    expect(codeOnly(code)).toHaveLength(code.length);
  });

  test("a long file is scanned quickly", () => {
    const long = "/** @param a */ const a = `x${1}` + '@b' / 2;\n".repeat(20_000);
    const begun = performance.now();
    expect(decoratorLine(long)).toBeUndefined();
    expect(performance.now() - begun).toBeLessThan(3_000);
  });
});
