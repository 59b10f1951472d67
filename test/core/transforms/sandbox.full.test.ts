import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { openWorkshop, type Workshop } from "./workshop.ts";

function workshop(...args: Parameters<typeof openWorkshop>): Workshop {
  const shop = openWorkshop(...args);
  onTestFinished(() => shop.close());
  return shop;
}

/** For calls that leave nothing behind. */
let shared: Workshop | undefined;
afterAll(() => shared?.close());

const answers = (text: string) => `export default ${text};`;

describe("a call", () => {
  test("receives a frozen delivery whose field names reach no prototype", async () => {
    const shop = workshop({
      "a.ts": answers(`(c) => {
        const frozen = [c, c.payload, c.payload.list, c.payload.list[0], c.headers, c.query].every(Object.isFrozen);
        return { message: [frozen, c.headers["x-event"], c.headers.constructor, c.query.q, c.path, c.source, c.now, Object.keys(c)].join() };
      }`),
    });
    expect(await shop.run("a.ts", { list: [{ x: 1 }] })).toEqual({
      message: "true,push,,1,ci/done,ci,2026-03-04T05:06:07.000Z,payload,headers,query,path,source,now",
    });
  });

  test("can return nothing, null or fields, synchronously or later", async () => {
    const shop = workshop({
      "a.ts":
        "export const none = () => {}; export const nothing = async () => null; export const fields = async " +
        "() => ({ message: 'm', gone: undefined, list: [1, , 'é\\ud800'] });",
    });
    expect(await shop.run("a.ts", {}, "none")).toBeUndefined();
    expect(await shop.run("a.ts", {}, "nothing")).toBeNull();
    expect(await shop.run("a.ts", {}, "fields")).toEqual({ message: "m", list: [1, null, "é\ud800"] });
  });

  const refused: readonly (readonly [answer: string, why: string])[] = [
    ["'text'", "a string"],
    ["5", "a number"],
    ["false", "a boolean"],
    ["[]", "a list"],
    ["() => 1", "a function"],
    ["({ f() {} })", "The result.f is a function, which JSON cannot represent"],
    ["({ n: 10n })", "a bigint"],
    ["({ s: Symbol() })", "a symbol"],
    ["({ n: NaN })", "The result.n is not a finite number"],
    ["({ get x() { return 1; } })", "The result.x is a getter"],
    ["({ a: [new Date()] })", "The result.a[0] is an object of a class"],
    ["({ m: new Map() })", "an object of a class"],
    ['JSON.parse(\'{"a":{"__proto__":{"x":1}}}\')', "The result.a has a field __proto__"],
    ["(() => { const a = {}; a.a = a; return a; })()", "nested deeper than 64 levels, or contains itself"],
    ["({ m: 'x'.repeat(1_100_000) })", "larger than 1048576 characters"],
    ["({ toJSON() { return { message: 'hidden' }; } })", "toJSON is a function"],
    ["new Proxy({}, { ownKeys() { throw new Error('trap'); } })", "trap"],
  ];

  test.each(refused)("that returns %s is refused", async (answer, why) => {
    shared ??= openWorkshop({
      "a.mjs": refused.map(([text], index) => `export const a${index} = () => ${text};`).join("\n"),
    });
    const name = `a${refused.findIndex(([text]) => text === answer)}`;
    expect(await shared.fault("a.mjs", {}, name)).toMatchObject({
      kind: "result",
      message: expect.stringContaining(why),
    });
  });

  test("that throws an unreadable value or something other than an Error is still reported", async () => {
    const shop = workshop({
      "a.mjs": `export const five = () => { throw 5; }; export const nothing = async () => { throw undefined; };
        export const object = () => { throw { code: 5 }; }; export const nasty = () => { throw { get x() { throw 1; } }; }; export const getter = () => { const e = new Error(); Object.defineProperty(e, "message", { get() { throw e; } }); throw e; };`,
    });
    for (const [name, message] of [
      ["five", "It threw a value that is not an Error: 5"],
      ["nothing", "It threw a value that is not an Error: undefined"],
      ["object", "It threw a value that is not an Error: { code: 5 }"],
      ["nasty", "It threw a value that cannot be described"],
      ["getter", "It threw a value that cannot be described"],
    ]) {
      expect(await shop.fault("a.mjs", {}, name)).toMatchObject({ kind: "threw", message });
    }
    expect(await shop.run("a.mjs", {}, "five").catch(() => "still there")).toBe("still there");
  });

  test("is not affected by what an earlier call patched on prototypes or JSON", async () => {
    const shop = workshop({
      "a.mjs": `export const patch = () => {
        try { JSON.stringify = () => '{"message":"forged"}'; JSON.parse = () => ({}); } catch {}
        for (const { prototype } of [Object, Array, String]) try { prototype.toJSON = () => "forged"; } catch {}
        try { Promise.prototype.then = function () { return 1; }; } catch {}
        Object.keys = () => ["forged"]; Array.isArray = () => false;
        Object.getOwnPropertyDescriptor = () => ({ value: "forged" }); Object.freeze = (x) => x; globalThis.setImmediate = () => {};
        TextEncoder.prototype.encodeInto = () => ({ written: 0 }); TextDecoder.prototype.decode = () => "{}"; try { Uint8Array.prototype.subarray = () => new Uint8Array(0); } catch {}
      };
      export default async ({ payload }) => ({ message: payload.m, list: [payload.m] });`,
    });
    await shop.run("a.mjs", {}, "patch");
    expect(await shop.run("a.mjs", { m: "honest" })).toEqual({ message: "honest", list: ["honest"] });
  });

  test("never receives the promise of an earlier call as its result", async () => {
    const shop = workshop({
      "a.mjs":
        "let free; export const waits = () => new Promise((r) => { free = r; }); export const frees " +
        `= async () => { free({ message: "late" }); await null; return { message: "own" }; };`,
    });
    expect(await shop.fault("a.mjs", {}, "waits")).toMatchObject({
      kind: "timeout",
      message: expect.stringContaining("never settles"),
    });
    expect(await shop.run("a.mjs", {}, "frees")).toEqual({ message: "own" });
  });

  test("prints a bounded amount to the log, with the module name", async () => {
    const shop = workshop({
      "a.mjs":
        "export default () => { console.warn('%s of', 'one', { deep: 1 }); const l = 'x'.repeat(1e6); for " +
        "(let i = 0; i < 100; i++) console.log(l); return { message: 'printed' }; };",
    });
    expect(await shop.run("a.mjs")).toEqual({ message: "printed" });
    expect(shop.lines[0]).toEqual({ level: "warn", fields: { transform: "a.mjs" }, message: "one of { deep: 1 }" });
    expect(shop.lines.reduce((sum, line) => sum + line.message.length, 0)).toBeLessThan(80_000);
    for (let call = 0; call < 40; call++) await shop.run("a.mjs");
    expect(shop.lines.length).toBeLessThanOrEqual(101);
  });

  test("whose timers fail is logged and does not affect other calls", async () => {
    const shop = workshop({
      "a.mjs":
        "export default async ({ payload }) => { if (payload.bad) setTimeout(() => { throw new " +
        "Error('later'); }, 1); await new Promise((r) => setTimeout(r, 20)); return { message: 'fine' }; };",
    });
    expect(await shop.run("a.mjs", { bad: true })).toEqual({ message: "fine" });
    expect(await shop.run("a.mjs")).toEqual({ message: "fine" });
    expect(shop.lines.map(({ message }) => message)).toEqual(["a timer of the transform failed: Error: later"]);
  });

  test("cancels its timers when it ends", async () => {
    const shop = workshop({
      "a.mjs": `let ticks = 0; export const starts = () => { setInterval(() => { ticks += 1; }, 1); return null; };
        export const looks = async () => { await new Promise((r) => setTimeout(r, 30)); return { message: String(ticks) }; };`,
    });
    await shop.run("a.mjs", {}, "starts");
    expect(await shop.run("a.mjs", {}, "looks")).toEqual({ message: "0" });
  });
});

describe("an edited file", () => {
  test("is used from the next call on, be it the module, an import or the target of a link", async () => {
    const shop = workshop({
      "a.ts": 'import { b } from "./b.ts"; export default () => ({ message: b });',
      "b.ts": "export const b = 1;",
      "c1.mjs": answers("() => ({ message: 'c1' })"),
      "c2.mjs": answers("() => ({ message: 'c2' })"),
    });
    expect(await shop.run("a.ts")).toEqual({ message: 1 });
    shop.write("b.ts", "export const b = 2;");
    expect(await shop.run("a.ts")).toEqual({ message: 2 });
    shop.write("a.ts", "export default () => ({ message: 3 });");
    expect(await shop.run("a.ts")).toEqual({ message: 3 });
    symlinkSync("c1.mjs", join(shop.root, "c.mjs"));
    expect(await shop.run("c.mjs")).toEqual({ message: "c1" });
    rmSync(join(shop.root, "c.mjs"));
    symlinkSync("c2.mjs", join(shop.root, "c.mjs"));
    expect(await shop.run("c.mjs")).toEqual({ message: "c2" });
  });

  test("does not affect a running call", async () => {
    const slow =
      "async () => { console.log('begun'); await new Promise((r) => setTimeout(r, 300)); return { message: 'old' }; }";
    const shop = workshop({ "a.mjs": answers(slow) });
    const running = shop.run("a.mjs");
    await expect.poll(() => shop.lines.map(({ message }) => message)).toContain("begun");
    shop.write("a.mjs", answers("() => ({ message: 'new' })"));
    expect(await shop.run("a.mjs")).toEqual({ message: "new" });
    expect(await running).toEqual({ message: "old" });
  });

  test("is used at once when repaired, and no longer when removed or replaced by a link to the outside", async () => {
    const shop = workshop({ "a.ts": "export default (" });
    expect((await shop.fault("a.ts")).kind).toBe("threw");
    shop.write("a.ts", answers("() => ({ message: 'mended' })"));
    await expect.poll(() => shop.run("a.ts").catch(() => undefined)).toEqual({ message: "mended" });
    mkdirSync(join(shop.directory, "outside"));
    writeFileSync(join(shop.directory, "outside/a.ts"), answers("() => ({ message: 'outside' })"));
    rmSync(join(shop.root, "a.ts"));
    symlinkSync("../outside/a.ts", join(shop.root, "a.ts"));
    expect(await shop.fault("a.ts")).toMatchObject({
      kind: "refused",
      message: expect.stringContaining("outside the transforms root"),
    });
    rmSync(join(shop.root, "a.ts"));
    await expect.poll(async () => (await shop.fault("a.ts")).message).toContain("does not exist");
  });

  test("can be loaded once a missing import is added", async () => {
    const shop = workshop({ "a.mjs": 'import { b } from "./b.mjs"; export default () => ({ message: b });' });
    await shop.fault("a.mjs");
    shop.write("b.mjs", "export const b = 'there';");
    await expect.poll(() => shop.run("a.mjs").catch(() => undefined)).toEqual({ message: "there" });
  });
});

describe("threads", () => {
  test("of two modules share nothing: a hang, globals and payloads stay separate", async () => {
    const shop = workshop(
      {
        "hangs.mjs": answers("() => { for (;;); }"),
        "keeps.mjs": answers(
          "({ payload }) => { const had = globalThis.kept; globalThis.kept = payload.secret; " +
            "Array.prototype.map = 1; return { message: String(had) }; }",
        ),
        "looks.mjs": answers("() => ({ message: String(globalThis.kept) + typeof [].map })"),
      },
      { cpuMs: 500 },
    );
    const hanging = shop.fault("hangs.mjs");
    expect(await shop.run("keeps.mjs", { secret: "s" })).toEqual({ message: "undefined" });
    expect(await shop.run("looks.mjs")).toEqual({ message: "undefinedfunction" });
    expect((await hanging).kind).toBe("timeout");
  });

  test("start calls of other modules while one computes, and let waiting calls run side by side", async () => {
    const shop = workshop({
      "loops.mjs": answers("() => { for (;;); }"),
      "waits.mjs": answers("async () => { await new Promise((r) => setTimeout(r, 200)); return { message: 'x' }; }"),
      "quick.mjs": answers("() => ({ message: 'quick' })"),
    });
    shop.settings = { ...shop.settings, cpuMs: 20_000, timeoutSeconds: 60 };
    for (const name of ["loops.mjs", "waits.mjs", "quick.mjs"]) await shop.transforms.exportsOf(name);
    const ended: string[] = [];
    const loops = Array.from({ length: 4 }, () =>
      shop.fault("loops.mjs").then(({ kind }) => ended.push(`loop: ${kind}`)),
    );
    expect(await shop.run("quick.mjs")).toEqual({ message: "quick" });
    await Promise.all(Array.from({ length: 20 }, () => shop.run("waits.mjs").then(() => ended.push("wait"))));
    // Twenty waits one after the other, or behind a loop, would take longer than the first loop.
    expect(ended).toEqual(Array.from({ length: 20 }, () => "wait"));
    await shop.transforms.close();
    await Promise.all(loops);
    expect(ended.filter((one) => one.startsWith("loop"))).toEqual(Array.from({ length: 4 }, () => "loop: refused"));
  });

  test("drop the old module after an edit", async () => {
    const shop = workshop({
      "a.mjs": answers("() => ({ message: String((globalThis.n = (globalThis.n ?? 0) + 1)) })"),
    });
    expect(await shop.run("a.mjs")).toEqual({ message: "1" });
    expect(await shop.run("a.mjs")).toEqual({ message: "2" });
    shop.write(
      "a.mjs",
      `// again\n${answers("() => ({ message: String((globalThis.n = (globalThis.n ?? 0) + 1)) })")}`,
    );
    expect(await shop.run("a.mjs")).toEqual({ message: "1" });
  });

  test("adopt changed settings", async () => {
    const shop = workshop({ "a.mjs": answers("() => ({ message: typeof fetch })") });
    expect(await shop.run("a.mjs")).toEqual({ message: "undefined" });
    shop.settings = { ...shop.settings, network: true };
    expect(await shop.run("a.mjs")).toEqual({ message: "function" });
  });

  test("end with the sandbox, which rejects waiting calls", async () => {
    const shop = workshop({ "a.mjs": answers("() => new Promise(() => setInterval(() => {}, 1000))") });
    await shop.transforms.exportsOf("a.mjs");
    const running = shop.fault("a.mjs");
    await shop.transforms.close();
    expect(await running).toMatchObject({ kind: "refused", message: "The gateway closes" });
    expect(await shop.fault("a.mjs")).toMatchObject({ kind: "refused", message: "The gateway closes" });
  });
});
