import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openWorkshop, type Workshop } from "./workshop.ts";

const source = (file: string) => JSON.stringify(join(import.meta.dirname, "../../../core/transforms", file));

/** Seconds: what ends for another reason has all the time that it needs, what never ends is not waited for. */
const enough = 20;
const short = 0.1;
const within = (place: Workshop, timeoutSeconds: number) => {
  place.settings = { ...place.settings, timeoutSeconds, cpuMs: timeoutSeconds * 1_000 };
};

let shop: Workshop;

afterEach(() => within(shop, enough));

beforeAll(() => {
  const body = `if (payload.fine) return { message: "fine" };`;
  const files: Readonly<Record<string, string>> = {
    "loop.mjs": "for (;;);",
    "microtasks.mjs": "for (;;) await null;",
    "sleeps.mjs": "await new Promise((r) => setTimeout(r, 60_000));",
    "regex.mjs": "return { message: String(/^(a+)+$/.test('a'.repeat(40) + 'b')) };",
    "heap.mjs": "const all = []; for (;;) all.push(new Array(10_000).fill({}));",
    "text.mjs": "const all = []; for (let i = 0; ; i++) all.push(('x' + i).repeat(1_000_000) + i);",
    "buffers.mjs":
      "const all = []; for (let i = 0; i < 100; i++) { all.push(Buffer.alloc(10_000_000, 1)); await new " +
      "Promise((r) => setTimeout(r, 5)); } return { message: 'had 1 GB' };",
    "large-buffer.mjs": "const b = Buffer.alloc(1_000_000_000, 1); for (;;) b.fill(2);",
    "waits.mjs": "await new Promise(() => setInterval(() => {}, 1000));",
    "never.mjs": "await new Promise(() => {});",
    "deep.mjs": "const f = () => f() + 1; return f();",
  };
  shop = openWorkshop({}, { timeoutSeconds: enough, memoryMb: 64 });
  for (const [name, text] of Object.entries(files))
    shop.write(name, `export default async ({ payload }) => { ${body} ${text} };`);
  shop.write("hangs-at-load.mjs", "for (;;); export default () => null;");
  shop.write("waits-at-load.mjs", "await new Promise((r) => setTimeout(r, 60_000)); export default () => null;");
});
afterAll(() => shop.close());

describe("a call that exceeds a limit", () => {
  const costs: readonly (readonly [module: string, kind: string])[] = [
    ["loop.mjs", "timeout"],
    ["microtasks.mjs", "timeout"],
    ["sleeps.mjs", "timeout"],
    ["regex.mjs", "timeout"],
    ["never.mjs", "timeout"],
    ["heap.mjs", "memory"],
    ["text.mjs", "memory"],
    ["waits.mjs", "timeout"],
    ["deep.mjs", "threw"],
    ["buffers.mjs", "memory"],
    ["large-buffer.mjs", "memory"],
  ];

  test.each(costs)("in %s fails alone (%s), and the next call runs", async (module, kind) => {
    await shop.transforms.exportsOf(module);
    if (kind === "timeout") within(shop, short);
    expect((await shop.fault(module)).kind).toBe(kind);
    within(shop, enough);
    expect(await shop.run(module, { fine: true })).toEqual({ message: "fine" });
  });

  test("reports what ended it and which setting applied", async () => {
    await shop.transforms.exportsOf("loop.mjs");
    within(shop, short);
    expect((await shop.fault("loop.mjs")).message).toBe("It computed for more than 100 ms (hooks.transforms.cpuMs)");
    expect((await shop.fault("sleeps.mjs")).message).toBe(
      "It did not answer within 0.1 s (hooks.transforms.timeoutSeconds)",
    );
    within(shop, enough);
    expect((await shop.fault("heap.mjs")).message).toBe("It used more than 64 MB (hooks.transforms.memoryMb)");
  });

  test.each([
    ["by a promise", "Promise.resolve().then(() => { for (;;); });"],
    [
      "by memory",
      "const all = []; const more = () => { all.push(Buffer.alloc(10_000_000, 1)); queueMicrotask(more); }; more();",
    ],
  ])("also fails when work after its answer exceeds the limit, %s", async (_, left) => {
    const own = openWorkshop({ "a.mjs": `export default () => { ${left} return { message: "answered" }; };` });
    onTestFinished(() => own.close());
    await own.transforms.exportsOf("a.mjs");
    within(own, 2 * short);
    expect(["timeout", "memory"]).toContain((await own.fault("a.mjs")).kind);
  });

  test("cannot flood the log with empty lines or rejections", async () => {
    const own = openWorkshop({
      "a.mjs": `export const lines = () => { for (let i = 0; i < 100_000; i++) console.log(""); };
      export const late = async () => { for (let i = 0; i < 100_000; i++) Promise.reject(0); await new Promise((r) => setTimeout(r, 50)); };`,
    });
    onTestFinished(() => own.close());
    for (const name of ["lines", "late"]) await own.run("a.mjs", {}, name);
    expect(own.lines.length).toBeLessThanOrEqual(102);
  });

  test("also fails while its module loads", async () => {
    within(shop, short);
    expect(await shop.fault("hangs-at-load.mjs")).toMatchObject({
      kind: "timeout",
      message: expect.stringContaining("more than 100 ms"),
    });
    expect(await shop.fault("waits-at-load.mjs")).toMatchObject({
      kind: "timeout",
      // On a busy machine, the waiting loop itself may compute for that long.
      message: expect.stringMatching(/did not load within 0\.1 s|more than 100 ms/),
    });
  });
});

test("a call that ends its thread fails alone, without a retry; calls waiting there run elsewhere once", async () => {
  const own = openWorkshop(
    {
      // One operation of the engine, which does not come to its own check of the time.
      "power.mjs":
        'export default () => { console.log("power begins"); return { message: String(9n ** ' +
        "20_000_000n).length }; };",
      "waits.mjs": `export default async ({ payload }) => {
        console.log("waits begins"); await new Promise((resolve) => setTimeout(resolve, 1_500)); return { message: payload };
      };`,
    },
    { threads: 1, cpuMs: 200 },
  );
  onTestFinished(() => own.close());
  for (const module of ["power.mjs", "waits.mjs"]) await own.transforms.exportsOf(module);
  const begun = (word: string) =>
    own.lines.filter(({ fields, message }) => `${JSON.stringify(fields)}${message}`.includes(`${word} begins`)).length;
  const waiting = ["a", "b", "c"].map((text) => own.run("waits.mjs", text));
  await expect.poll(() => begun("waits")).toBe(3);
  expect(await own.fault("power.mjs")).toMatchObject({ kind: "timeout" });
  expect(await Promise.all(waiting)).toEqual(["a", "b", "c"].map((message) => ({ message })));
  expect([begun("waits"), begun("power")]).toEqual([6, expect.toSatisfy((count: number) => count <= 1)]);
});

test("the sandbox serves 128 calls at a time", async () => {
  const quick = openWorkshop({ "a.mjs": "export default ({ payload }) => ({ message: payload.text.slice(0, 10) });" });
  onTestFinished(() => quick.close());
  const answers = await Promise.all(Array.from({ length: 128 }, () => quick.run("a.mjs", { text: "x".repeat(2_000) })));
  expect(answers).toHaveLength(128);
});

test("a call is rejected after it has waited 30 s for a thread, and not earlier", async () => {
  let ahead = 0;
  const files = {
    "loop.mjs": "export default () => { for (;;); };",
    "good.mjs": "export default () => ({ message: 'fine' });",
  };
  const one = openWorkshop(files, { threads: 1, idleMs: 50, cpuMs: 500, now: () => performance.now() + ahead });
  onTestFinished(() => one.close());
  const looping = one.fault("loop.mjs");
  const early = one.fault("good.mjs");
  await setImmediate();
  ahead = 31_000;
  const late = one.run("good.mjs");
  expect(await early).toMatchObject({ kind: "timeout", message: "It waited 30 s for a free thread" });
  expect(await late).toEqual({ message: "fine" });
  expect(await looping).toMatchObject({ kind: "timeout" });
});

test.runIf(process.platform === "linux")(
  "a killed gateway leaves no process of a trusted module behind, whether idle, waiting or looping",
  async () => {
    const bodies = {
      "idle.mjs": "null",
      "waiting.mjs": "new Promise(() => setInterval(() => {}, 1000))",
      "looping.mjs": "(() => { for (;;); })()",
    };
    const own = openWorkshop(
      Object.fromEntries(Object.entries(bodies).map(([name, body]) => [name, `export default () => ${body};`])),
    );
    onTestFinished(() => own.close());
    const script = join(own.directory, "parent.ts");
    writeFileSync(
      script,
      `import { createTransforms } from ${source("sandbox.ts")};
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const transforms = createTransforms({ root: () => ${JSON.stringify(own.root)}, settings: () => ({ runtime: "trusted", memoryMb: 64, cpuMs: 60_000, timeoutSeconds: 60, network: false }), log, now: Date.now });
    const names = ${JSON.stringify(Object.keys(bodies))};
    await Promise.all(names.map((name) => transforms.exportsOf(name)));
    for (const module of names) transforms.run({ module, context: { payload: {}, headers: {}, query: {}, path: "", source: "", now: "" } }).catch(() => {});
    setTimeout(() => console.log("up"), 200);
    setInterval(() => {}, 1000);`,
    );
    const parent = spawn(process.execPath, ["--no-warnings", script], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((resolve) => parent.stdout.once("data", resolve));
    const children = readFileSync(`/proc/${parent.pid}/task/${parent.pid}/children`, "utf8").split(" ").filter(Boolean);
    expect(children.length).toBeGreaterThanOrEqual(3);
    parent.kill("SIGKILL");
    await expect.poll(() => children.filter((pid) => isRunning(pid))).toEqual([]);
  },
);

function isRunning(pid: string): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}
