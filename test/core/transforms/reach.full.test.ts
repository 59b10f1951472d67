import variant from "@jitl/quickjs-ng-wasmfile-release-sync";
import { newQuickJSWASMModuleFromVariant, type QuickJSSyncVariant } from "quickjs-emscripten-core";
import { expect, onTestFinished, test } from "vitest";
import { randomPrograms } from "./random-programs.ts";
import { openWorkshop } from "./workshop.ts";

/**
 * Every object that can be reached from `roots` by names, symbols, prototypes and getters; the names of what is not
 * written in JavaScript.
 */
const walk = `(roots) => {
  const seen = new Set(); const natives = new Set(); const open = [...roots];
  const add = (value) => { if (value !== null && (typeof value === "object" || typeof value === "function") && !seen.has(value)) { seen.add(value); open.push(value); } };
  while (open.length > 0) {
    const value = open.pop();
    add(value);
    if (typeof value === "function" && /\\{\\s*\\[native code\\]/.test(Function.prototype.toString.call(value))) natives.add(value.name);
    add(Object.getPrototypeOf(value));
    for (const key of Reflect.ownKeys(value)) {
      const found = Object.getOwnPropertyDescriptor(value, key);
      add(found.value); add(found.get); add(found.set);
      try { add(value[key]); } catch (error) { add(error); }
    }
  }
  return { count: seen.size, natives: [...natives].sort() };
}`;

/** Beside the language; `examples/reference/transforms.md` lists them. */
const documented =
  "AbortController AbortSignal Buffer Intl TextDecoder TextEncoder URL URLSearchParams atob btoa " +
  "clearInterval clearTimeout console crypto process setInterval setTimeout structuredClone";

async function bareEngine(): Promise<{ readonly natives: readonly string[]; readonly globals: readonly string[] }> {
  const quickjs = await newQuickJSWASMModuleFromVariant(variant as unknown as QuickJSSyncVariant);
  const context = quickjs.newContext();
  const json = context.unwrapResult(
    context.evalCode(
      `JSON.stringify({ ...(${walk})([globalThis, async () => {}, function* () {}, async function* () {}]), ` +
        "globals: Object.getOwnPropertyNames(globalThis) })",
    ),
  );
  return JSON.parse(context.getString(json)) as {
    readonly natives: readonly string[];
    readonly globals: readonly string[];
  };
}

test("a module can reach only the language and the documented globals, no host functions", async () => {
  const shop = openWorkshop({
    "walk.mjs": `import * as crypto from "node:crypto"; import * as buffer from "node:buffer"; import * as path from "node:path"; import * as url from "node:url";
      import * as util from "node:util"; import * as querystring from "node:querystring"; import * as sdk from "service-gateway/sdk";
      const walk = ${walk};
      export default (context) => {
        const { count, natives } = walk([globalThis, context, walk, import.meta, crypto, buffer, path, url, util, querystring, sdk, new URL("http://a/?b"), new Error("x")]);
        return { message: JSON.stringify({ count, natives, globals: Object.getOwnPropertyNames(globalThis) }) };
      };`,
  });
  onTestFinished(() => shop.close());
  const bare = await bareEngine();
  const { message } = (await shop.run("walk.mjs")) as { readonly message: string };
  const found = JSON.parse(message) as {
    readonly count: number;
    readonly natives: readonly string[];
    readonly globals: readonly string[];
  };
  expect(found.count).toBeGreaterThan(500);
  expect(found.natives.filter((name) => !bare.natives.includes(name))).toEqual([]);
  expect(found.globals.filter((name) => !bare.globals.includes(name)).sort()).toEqual(documented.split(" ").sort());
});

test("ten thousand random programs reach nothing beyond the language and the documented globals", async () => {
  // For a module of five hundred programs, beside all that a machine has to do.
  const shop = openWorkshop({}, { timeoutSeconds: 10, cpuMs: 5_000 });
  onTestFinished(() => shop.close());
  // A proxy of a function looks native and has its name.
  shop.write(
    "names.mjs",
    `export default () => { const names = new Set(["anonymous"]); const seen = new Set(); const open = [globalThis];
      while (open.length > 0) { const one = open.pop(); if (one === null || (typeof one !== "object" && typeof one !== "function") || seen.has(one)) continue; seen.add(one); if (typeof one === "function") names.add(one.name); open.push(Object.getPrototypeOf(one)); for (const key of Reflect.ownKeys(one)) { const d = Object.getOwnPropertyDescriptor(one, key); open.push(d.value, d.get, d.set); } }
      return { message: JSON.stringify([...names]) }; };`,
  );
  const known = JSON.parse(
    ((await shop.run("names.mjs")) as { readonly message: string }).message,
  ) as readonly string[];
  const natives = [...(await bareEngine()).natives, ...known];
  expect(natives.filter((name) => name.startsWith("host."))).toEqual([]);
  const batches = randomPrograms({ seed: 20_261_123, count: 10_000, perBatch: 500 });
  let ran = 0;
  const strange: string[] = [];
  for (const [index, programs] of batches.entries()) {
    const name = `batch-${index}.mjs`;
    shop.write(
      name,
      `const allowed = new Set(${JSON.stringify(natives)}); const programs = ${JSON.stringify(programs)};
      const strange = new Set(); const { toString } = Function.prototype; const { apply } = Reflect; const isNative = /\\{\\s*\\[native code\\]/; const { test } = RegExp.prototype; const { add, has } = Set.prototype; const text = String; const Make = Function; const write = JSON.stringify; const of = Array.from; const joined = (list) => { let all = ""; for (let at = 0; at < list.length; at++) all += list[at] + ";"; return all; };
      // A bound function or a promise's own is native too, and made by the program itself.
      const harmless = (name) => name === "" || name.startsWith("bound ");
      let looking = false;
      globalThis.seen = (value) => {
        // A proxy calls this again when it is looked at.
        if (looking) return value;
        looking = true;
        try {
          if (typeof value === "function" && apply(test, isNative, [apply(toString, value, [])]) && !apply(has, allowed, [value.name]) && !harmless(value.name)) apply(add, strange, [text(value.name)]);
          if (typeof value === "string" && value.includes("canary")) apply(add, strange, [value]);
        } catch {}
        looking = false;
        return value;
      };
      export default async () => {
        let ran = 0;
        for (let at = 0; at < programs.length; at++) { try { new Make("seen", "(async () => {" + programs[at] + "})()")(globalThis.seen); } catch {} for (let turn = 0; turn < 6; turn++) await null; ran++; }
        return { message: ran + " " + joined(of(strange)) };
      };`,
    );
    const answer = await shop.run(name).catch((error: Error) => ({ message: `0 ${error.message}` }));
    const [count, names] = String((answer as { readonly message: string }).message).split(" ", 2);
    ran += Number(count);
    if (names !== undefined && names !== "")
      strange.push(`${index}: ${(answer as { readonly message: string }).message}`);
  }
  expect(strange).toEqual([]);
  expect(ran).toBeGreaterThanOrEqual(9_000);
});
