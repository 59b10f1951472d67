import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWorkshop, type Workshop } from "./workshop.ts";

let shop: Workshop;
const files: Readonly<Record<string, string>> = {
  "plain.ts":
    'import { defineTransform, type TransformContext } from "service-gateway/sdk"; import type { Gone } ' +
    'from "./types-only.ts";\nexport default defineTransform(({ payload }: TransformContext) => ({ message: ' +
    "String((payload as { x: number }).x satisfies number) }));",
  "extensions.mts":
    'import { a } from "./lib/a"; import { b } from "./lib/b.js"; import { c } from "./lib"; export default ' +
    "() => ({ message: a + b + c });",
  "lib/a.ts": 'export const a: string = "a";',
  "lib/b.ts": 'export const b: string = "b";',
  "lib/index.ts": 'export const c: string = "c";',
  "plain.js": 'import data from "./data.json" with { type: "json" }; export default () => ({ message: data.text });',
  "data.json": '{ "text": "json" }',
  "common.js":
    'const { basename } = require("node:path"); const { a } = require("./lib/a.ts"); module.exports = ({ ' +
    'path }) => ({ message: basename(path) + a + require("./data.json").text });',
  "was-module.js":
    'Object.defineProperty(exports, "__esModule", { value: true }); exports.default = () => ({ message: ' +
    '"default of a compiled file" });',
  "named.ts":
    "export const one = () => ({ message: 'one' }); export async function two() { return { message: 'two' " +
    "}; } export const three = 3;",
  "enum.ts": `import path, { sep } from "node:path"; import whole, { part } from "common-package"; import { Level } from "./level";
enum Colour { Red = 1 } namespace Names { export const own = "n"; } class Box { constructor(readonly size: number) {} }
export default async () => { const late = await import("./late.ts"); return { message: [Colour.Red, Names.own, new Box(2).size, path.sep === sep, whole.part, part, Level.High, late.default].join() }; };`,
  "level.ts": "export enum Level { High = 9 }",
  "late.ts": "enum Late { Seven = 7 } export default Late.Seven;",
  "packages.mjs":
    'import whole, { part } from "common-package"; import esm, { named } from "@scope/esm"; import inner ' +
    'from "common-package/inner.js"; export default () => ({ message: [whole.part, part, esm, named, ' +
    "inner.deep()].join() });",
  "node_modules/common-package/package.json": '{ "name": "common-package", "main": "./main.js" }',
  "node_modules/common-package/main.js": 'exports.part = "part"; exports.env = typeof process.env.NODE_ENV;',
  "node_modules/common-package/inner.js":
    'const a = require("./cycle-a"); exports.deep = () => a.name + require("./cycle-b").seen;',
  "node_modules/common-package/cycle-a.js": 'exports.name = "a"; exports.b = require("./cycle-b");',
  "node_modules/common-package/cycle-b.js": 'exports.seen = "b" + require("./cycle-a").name;',
  "node_modules/@scope/esm/package.json": '{ "name": "@scope/esm", "type": "module", "exports": "./index.js" }',
  "node_modules/@scope/esm/index.js": 'export default "esm"; export const named = "named";',
  "crypto.ts":
    'import { createHash, createHmac, timingSafeEqual, randomUUID } from "node:crypto"; export default () ' +
    '=> ({ message: [createHash("sha256").update("a").update("b").digest("hex").slice(0, 8), ' +
    'createHmac("sha1", "k").update("x").digest("base64"), timingSafeEqual(Buffer.from("a"), ' +
    'Buffer.from("a")), randomUUID().length].join() });',
  "web.mjs":
    'export default async () => { const t = await new Promise((r) => setTimeout(r, 2, "later")); return { ' +
    'message: [t, new URL("https://e.example/a?b=1").searchParams.get("b"), structuredClone({ a: 1 }).a, ' +
    'btoa("x"), new TextDecoder().decode(new TextEncoder().encode("é")), typeof crypto.subtle, ' +
    'Intl.NumberFormat("de").format(1.5)].join() }; };',
  "syntax.ts": "const fine = 1;\nexport default (() => {\n",
  "syntax.mjs": "export default (() => {\n",
  "throws.ts": "// one\nexport default () => {\n  throw new RangeError('too far');\n};",
  "late-module.ts": "export default 1;",
  "missing.ts": 'import "./nowhere.ts"; export default () => null;',
  "top.mjs": "throw new Error('at the top');",
};

beforeAll(() => {
  shop = openWorkshop(files);
});
afterAll(() => shop.close());

test.each([
  ["plain.ts", "1"],
  ["extensions.mts", "abc"],
  ["plain.js", "json"],
  ["common.js", "doneajson"],
  ["was-module.js", "default of a compiled file"],
  ["enum.ts", "1,n,2,true,part,part,9,7"],
  ["packages.mjs", "part,part,esm,named,aba"],
  ["crypto.ts", "fb8e20fc,9phk9wIbqEsuHuWXoZ0JPpVTx7g=,true,36"],
  ["web.mjs", "later,1,1,eA==,é,object,1,5"],
])("the module %s runs", async (module, message) => {
  const answer = (await shop.run(module, { x: 1 })) as { message: string };
  if (module === "crypto.ts") expect(answer.message).toMatch(/^fb8e20fc,[\w+/]{27}=,true,36$/);
  else expect(answer.message).toBe(message);
});

test("an export is called by its name; the error for an unknown one lists the exports", async () => {
  expect(await shop.run("named.ts", {}, "one")).toEqual({ message: "one" });
  expect(await shop.run("named.ts", {}, "two")).toEqual({ message: "two" });
  expect(await shop.fault("named.ts", {}, "three")).toMatchObject({
    kind: "threw",
    message:
      'The module exports no function named "three"; it exports one, two, which a mapping names with transform.export',
  });
  expect(await shop.fault("named.ts")).toMatchObject({
    message: expect.stringMatching(/no function as its default export; it exports one, two, which a mapping names/),
  });
  expect(await shop.transforms.exportsOf("named.ts")).toEqual(["one", "two"]);
});

test("errors are reported with the file and line of the user's source", async () => {
  expect(await shop.fault("throws.ts")).toMatchObject({
    kind: "threw",
    message: "RangeError: too far",
    where: expect.stringMatching(/transforms\/throws\.ts:3:\d+\)?$/),
  });
  expect(await shop.fault("syntax.ts")).toMatchObject({
    kind: "threw",
    message: expect.stringMatching(/^syntax\.ts:2: /),
  });
  expect(await shop.fault("syntax.mjs")).toMatchObject({
    kind: "threw",
    message: expect.stringContaining("SyntaxError"),
  });
  expect(await shop.fault("missing.ts")).toMatchObject({
    kind: "threw",
    message: "Cannot find module './nowhere.ts' imported from missing.ts",
  });
  expect(await shop.fault("top.mjs")).toMatchObject({ kind: "threw", message: "at the top" });
});

test("the example of the README runs as printed", async () => {
  const readme = readFileSync(join(import.meta.dirname, "../../../examples/reference/transforms.md"), "utf8");
  shop.write("build.ts", /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? "");
  expect(await shop.run("build.ts", { build: { state: "passed", url: "" } })).toBeNull();
  const failed = { build: { state: "failed", url: "https://ci.example/7" } };
  expect(await shop.run("build.ts", failed)).toEqual({ message: "The build is failed: https://ci.example/7" });
});
