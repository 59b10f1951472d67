import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openWorkshop, type Workshop } from "./workshop.ts";

function workshop(files: Readonly<Record<string, string>>): Workshop {
  const shop = openWorkshop(files, { runtime: "trusted", timeoutSeconds: 20 });
  onTestFinished(() => shop.close());
  return shop;
}

test("a trusted module has all of Node, prints to the log, and is loaded anew after an edit", async () => {
  const shop = workshop({
    "a.ts": `import { defineTransform } from "service-gateway/sdk"; import { writeFileSync } from "node:fs"; enum Level { High = 9 }
      export default defineTransform<{ file: string }>(({ payload }) => { writeFileSync(payload.file, "written"); console.log("printed"); return { message: String(Level.High) }; });`,
  });
  const file = join(shop.directory, "written");
  expect(await shop.run("a.ts", { file })).toEqual({ message: "9" });
  expect(existsSync(file) && readFileSync(file, "utf8")).toBe("written");
  await expect.poll(() => shop.lines.map(({ message }) => message)).toContain("printed");
  shop.write("a.ts", 'export default () => ({ message: "new" });');
  expect(await shop.run("a.ts")).toEqual({ message: "new" });
  expect(await shop.transforms.exportsOf("a.ts")).toEqual(["default"]);
});

test("a trusted module is held to time and memory, and its other calls go on", async () => {
  const shop = workshop({
    "a.mjs":
      "export const loops = () => { for (;;); }; export const fills = () => { const all = []; for (;;) all.push(new Array(10_000).fill({})); }; export const throws = () => { throw new Error('no'); }; export const fine = async () => { await new Promise((r) => setTimeout(r, 50)); return { message: 'fine' }; };",
  });
  expect(await shop.fault("a.mjs", {}, "throws")).toMatchObject({
    kind: "threw",
    message: "no",
    where: expect.stringContaining("a.mjs:1:"),
  });
  expect((await shop.fault("a.mjs", {}, "fills")).kind).toBe("memory");
  // In the process that the loop ends, so that it takes no time to start. The limit of the loop is not that of the call beside it.
  expect(await shop.run("a.mjs", {}, "fine")).toEqual({ message: "fine" });
  shop.settings = { ...shop.settings, timeoutSeconds: 0.3 };
  const looping = shop.fault("a.mjs", {}, "loops");
  // Once the loop has its limit.
  await setImmediate();
  shop.settings = { ...shop.settings, timeoutSeconds: 20 };
  const fine = shop.run("a.mjs", {}, "fine");
  expect((await looping).message).toBe("It did not answer within 0.3 s (hooks.transforms.timeoutSeconds)");
  expect(await fine).toEqual({ message: "fine" });
});

test("CommonJS compiled from an ES module has the exports of that module, in both runtimes", async () => {
  const text =
    'Object.defineProperty(exports, "__esModule", { value: true }); exports.default = () => ({ message: "default" }); exports.other = () => ({ message: "other" });';
  const shop = workshop({ "a.js": text });
  for (const runtime of ["trusted", "sandbox"] as const) {
    shop.settings = { ...shop.settings, runtime };
    expect(await shop.transforms.exportsOf("a.js")).toEqual(["default", "other"]);
    expect(await shop.run("a.js")).toEqual({ message: "default" });
    expect(await shop.run("a.js", {}, "other")).toEqual({ message: "other" });
  }
});

test("a trusted module still has to lie in the transforms root", async () => {
  const shop = workshop({});
  expect(await shop.fault("../outside.mjs")).toMatchObject({ kind: "refused" });
});
