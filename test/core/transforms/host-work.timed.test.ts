/** Work that the host, or one operation of the engine, does for a transform counts like the transform's own steps. */
import { afterAll, describe, expect, test } from "vitest";
import { operations } from "../../../core/transforms/engine/host.ts";
import { openWorkshop } from "./workshop.ts";

const cpuMs = 300;
/** How much later than its limit a call may end. */
const lateMs = 100;
const memoryMb = 64;
/** What a thread of its own, and what is not yet collected, may take beside the memory of the transform. */
const otherMb = 120;

/**
 * Code that is repeated for ever, by the operation of the host that it needs most. `import` and the like are not among
 * its operations.
 */
const work: Readonly<Record<string, readonly string[]>> = {
  url: [
    'new URL("http://a/" + "a/../".repeat(6_000))',
    'new URL("http://a/?" + "é".repeat(30_000))',
    'new URL("http://a/" + "a/../".repeat(800_000))',
  ],
  "url.set": ['const url = new URL("http://a/"); url.search = "é".repeat(30_000)'],
  "query.parse": ['new URLSearchParams("a=b&".repeat(16_000))', 'new URLSearchParams("&".repeat(4_000_000))'],
  "query.write": ['String(new URLSearchParams(Array.from({ length: 4_000 }, () => ["a", "é"])))'],
  bytes: [
    'Buffer.from("é".repeat(2_000_000))',
    'Buffer.from("ab".repeat(1_000_000), "utf16le")',
    'Buffer.from("ab".repeat(1_000_000), "hex")',
    'new TextEncoder().encode("é".repeat(1_000_000))',
  ],
  text: [
    "Buffer.alloc(1_000_000, 255).toString()",
    'Buffer.alloc(1_000_000, 255).toString("base64")',
    'btoa("a".repeat(1_000_000))',
  ],
  atob: ['atob("abcd".repeat(250_000))'],
  decoder: ['new TextDecoder("utf-8")', 'new TextDecoder("x".repeat(1_000_000))'],
  decode: [
    "new TextDecoder().decode(new Uint8Array(1_000_000).fill(255))",
    'new TextDecoder("shift_jis").decode(new Uint8Array(200_000).fill(255))',
  ],
  digest: ['crypto.createHash("sha512").update("a".repeat(1_000_000)).digest("hex")'],
  hmac: ['crypto.createHmac("sha512", "k").update("a".repeat(1_000_000)).digest("hex")'],
  random: ["crypto.randomBytes(65_536)"],
  integer: ["crypto.randomInt(10)"],
  uuid: ["crypto.randomUUID()"],
  format: [
    'BigInt("9".repeat(4_000)).toLocaleString("en")',
    'BigInt("9".repeat(300_000)).toLocaleString("en")',
    '(1).toLocaleString(Array.from({ length: 100_000 }, () => "de"))',
    'new Intl.DateTimeFormat("de", { timeZone: "x".repeat(1_000_000) })',
    'new Date().toLocaleString("de")',
  ],
  "path.basename": ['path.basename("/".repeat(4_000_000), "a")'],
  "path.dirname": ['path.dirname("/".repeat(4_000_000))'],
  "path.extname": ['path.extname(".".repeat(16_000))'],
  "path.isAbsolute": ['path.isAbsolute("/")'],
  "path.join": ['path.join("a/".repeat(3_000), "../".repeat(3_000))'],
  "path.normalize": ['path.normalize("a/../".repeat(800_000))', 'path.normalize("../".repeat(5_000))'],
  "path.parse": ['path.parse("a/.".repeat(5_000))'],
  "path.format": ['path.format({ dir: "a".repeat(8_000), base: "b" })'],
  "path.resolve": ['path.resolve("a/".repeat(3_000), "../".repeat(3_000))'],
  "path.relative": ['path.relative("a/".repeat(4_000), "a/b".repeat(2_000))'],
  "querystring.parse": ['querystring.parse("a=b&".repeat(16_000))', 'querystring.parse("%".repeat(4_000_000))'],
  "querystring.stringify": ['querystring.stringify({ a: Array.from({ length: 10_000 }, () => "é") })'],
  "querystring.escape": ['querystring.escape("é".repeat(60_000))'],
  "querystring.unescape": ['querystring.unescape("%zz".repeat(20_000))'],
};

/** What leads to the host by other ways, and operations of the engine that do not come to its own check for long. */
const others: Readonly<Record<string, string>> = {
  import: 'await import("./missing-" + i).catch(() => {})',
  "import of a long name": 'await import("./" + "x".repeat(2_000_000) + i).catch(() => {})',
  "import without waiting": 'import("./" + "x".repeat(3_000) + i).catch(() => {})',
  require: 'require("./missing-" + i)',
  "require of a long name": 'require("./" + "x".repeat(2_000_000) + i)',
  "require of what is refused": 'require("node:fs" + i)',
  console: "console.log(i)",
  "console with long lines": 'console.log("x".repeat(1_000_000))',
  timers: "setTimeout(() => {}, 100_000)",
  structuredClone: "structuredClone(Array.from({ length: 10_000 }, () => ({})))",
  "JSON of the engine": 'JSON.parse(JSON.stringify(Array.from({ length: 100_000 }, () => "x")))',
  "texts of the engine": '"x".repeat(10_000_000)',
  "lists of the engine": "new Array(1_000_000).fill(0).sort()",
  "an expression that backtracks": '/^(a+)+$/.test("a".repeat(40) + "b")',
  "a number of the engine": "9n ** 200_000n",
};

const cases = [
  ...Object.entries(work).flatMap(([name, codes]) =>
    codes.map((code, index) => [`${name} ${index + 1}`, code] as const),
  ),
  ...Object.entries(others),
];

const moduleOf = (code: string) => `
import path from "node:path";
import querystring from "node:querystring";
import nodeCrypto from "node:crypto";
import { createRequire } from "./require.cjs";
const crypto = nodeCrypto;
const require = createRequire;
export default async () => {
  for (let i = 0; ; i++) { try { ${code} } catch {} }
};`;

const files = Object.fromEntries(cases.map(([, code], index) => [`case-${index}.mjs`, moduleOf(code)]));
const shop = openWorkshop(
  {
    ...files,
    "require.cjs": "exports.createRequire = (name) => require(name);",
    "loop.mjs": "export default () => { for (;;); };",
    "quick.mjs": 'export default () => ({ message: "quick" });',
  },
  { cpuMs, memoryMb, timeoutSeconds: 5 },
);
afterAll(() => shop.close());

const residentMb = () => process.memoryUsage.rss() / 1_048_576;

async function timed(module: string): Promise<{ readonly fault: { readonly kind: string }; readonly ms: number }> {
  const begun = performance.now();
  const fault = await shop.fault(module);
  return { fault, ms: performance.now() - begun };
}

describe("a transform that makes the host work endlessly", () => {
  test("is tried with every operation of the host", () => {
    expect([...operations.keys()].filter((name) => work[name] === undefined)).toEqual([]);
  });

  test.each(cases.map(([name], index) => [name, `case-${index}.mjs`] as const))(
    "%s: ends at its time limit, within its memory, and does not delay others",
    async (_, module) => {
      await shop.run("quick.mjs");
      // Loading a module is not what is measured.
      shop.settings = { ...shop.settings, cpuMs: 5_000 };
      await shop.transforms.exportsOf(module);
      shop.settings = { ...shop.settings, cpuMs };
      const before = residentMb();
      let most = before;
      let isOver = false;
      let served = 0;
      const others = (async () => {
        while (!isOver) {
          expect(await shop.run("quick.mjs")).toEqual({ message: "quick" });
          served += 1;
          most = Math.max(most, residentMb());
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      })();
      // What the engine's own check takes on this machine, now.
      const loop = await timed("loop.mjs");
      const { fault, ms } = await timed(module);
      isOver = true;
      await others;
      expect(["timeout", "memory"]).toContain(fault.kind);
      expect(ms).toBeLessThan(Math.max(cpuMs, loop.ms) + lateMs);
      expect(most - before).toBeLessThan(memoryMb + otherMb);
      // A host that is busy all the time would serve the first one only.
      expect(served).toBeGreaterThan(1);
    },
  );
});
