import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openWorkshop, type Workshop } from "./workshop.ts";

function workshop(files: Readonly<Record<string, string>>, options: { readonly threads?: number } = {}): Workshop {
  const shop = openWorkshop(files, { runtime: "trusted", timeoutSeconds: 20, ...options });
  onTestFinished(() => shop.close());
  return shop;
}

test("a trusted module has all of Node, prints to the log, and is reloaded after an edit", async () => {
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

test("time and memory limits apply to a trusted module, and its other calls continue", async () => {
  const shop = workshop({
    "a.mjs":
      "export const loops = () => { for (;;); }; export const fills = () => { const all = []; for (;;) " +
      "all.push(new Array(10_000).fill({})); }; export const throws = () => { throw new Error('no'); }; " +
      "export const fine = async () => { await new Promise((r) => setTimeout(r, 50)); return { message: " +
      "'fine' }; };",
  });
  expect((await shop.fault("a.mjs", {}, "fills")).kind).toBe("memory");
  expect(await shop.fault("a.mjs", {}, "throws")).toMatchObject({
    kind: "threw",
    message: "no",
    where: expect.stringContaining("a.mjs:1:"),
  });
  // In the process that the loop ends, so that it takes no time to start. The limit of the loop is not that of the call
  // beside it.
  expect(await shop.run("a.mjs", {}, "fine")).toEqual({ message: "fine" });
  shop.settings = { ...shop.settings, timeoutSeconds: 0.2 };
  const looping = shop.fault("a.mjs", {}, "loops");
  // Once the loop has its limit.
  await setImmediate();
  shop.settings = { ...shop.settings, timeoutSeconds: 20 };
  const fine = shop.run("a.mjs", {}, "fine");
  expect((await looping).message).toBe("It did not answer within 0.2 s (hooks.transforms.timeoutSeconds)");
  expect(await fine).toEqual({ message: "fine" });
});

test("a call that ends its process or waits forever fails alone, before, between or after other calls", async () => {
  const shop = workshop({
    "a.mjs": `export const fine = async ({ payload }) => { await new Promise((r) => setTimeout(r, 40)); return { message: payload.name }; };
      export const exits = () => process.exit(3); export const waits = () => new Promise(() => {});
      export const leaves = () => { setTimeout(() => Promise.reject(new Error("nobody waits for this")), 5); return null; };`,
  });
  const exiting = ["a", "b"].map((name) => shop.run("a.mjs", { name }, "fine"));
  const exit = shop.fault("a.mjs", {}, "exits");
  exiting.push(shop.run("a.mjs", { name: "c" }, "fine"));
  expect(await Promise.all(exiting)).toEqual(["a", "b", "c"].map((message) => ({ message })));
  expect((await exit).message).toBe("Its process ended with code 3");
  // What an earlier call left ends the process of the next one.
  expect(await shop.run("a.mjs", {}, "leaves")).toBe(null);
  expect(await shop.run("a.mjs", { name: "d" }, "fine")).toEqual({ message: "d" });
  expect(await shop.run("a.mjs", { name: "e" }, "fine")).toEqual({ message: "e" });
  shop.settings = { ...shop.settings, timeoutSeconds: 0.1 };
  const late = shop.fault("a.mjs", {}, "waits");
  await setImmediate();
  shop.settings = { ...shop.settings, timeoutSeconds: 20 };
  const beside = shop.run("a.mjs", { name: "f" }, "fine");
  expect((await late).kind).toBe("timeout");
  expect(await beside).toEqual({ message: "f" });
});

test("a module that ends every process does not start one process for each simultaneous call", async () => {
  const shop = workshop({}, { threads: 1 });
  const notes = join(shop.directory, "notes");
  shop.write(
    "a.mjs",
    `import { appendFileSync } from "node:fs";
      appendFileSync(${JSON.stringify(notes)}, "(");
      export default async () => { await new Promise((r) => setTimeout(r, 60)); appendFileSync(${JSON.stringify(notes)}, ")"); process.exit(3); };`,
  );
  const faults = await Promise.all([shop.fault("a.mjs"), shop.fault("a.mjs"), shop.fault("a.mjs")]);
  expect(faults.map(({ message }) => message)).toEqual(Array(3).fill("Its process ended with code 3"));
  expect(readFileSync(notes, "utf8")).toBe("()".repeat(5));
});

test("closing the gateway ends the calls of a trusted module, also those from before an edit", async () => {
  const shop = workshop({ "a.mjs": "export default () => new Promise(() => {});" });
  shop.settings = { ...shop.settings, timeoutSeconds: 2 };
  const before = shop.fault("a.mjs");
  await setImmediate();
  shop.write("a.mjs", "export default () => new Promise(() => {}); // edited");
  const after = shop.fault("a.mjs");
  await setImmediate();
  await shop.close();
  expect([await before, await after].map(({ message }) => message)).toEqual([
    "The gateway closes",
    "The gateway closes",
  ]);
});

test("CommonJS compiled from an ES module has that module's exports in both runtimes", async () => {
  const text =
    'Object.defineProperty(exports, "__esModule", { value: true }); exports.default = () => ({ message: ' +
    '"default" }); exports.other = () => ({ message: "other" });';
  const shop = workshop({ "a.js": text });
  for (const runtime of ["trusted", "sandbox"] as const) {
    shop.settings = { ...shop.settings, runtime };
    expect(await shop.transforms.exportsOf("a.js")).toEqual(["default", "other"]);
    expect(await shop.run("a.js")).toEqual({ message: "default" });
    expect(await shop.run("a.js", {}, "other")).toEqual({ message: "other" });
  }
});

test("a trusted module must also be inside the transforms root", async () => {
  const shop = workshop({});
  expect(await shop.fault("../outside.mjs")).toMatchObject({ kind: "refused" });
});
