import { createHash, createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWorkshop, type Workshop } from "./workshop.ts";

let shop: Workshop;
const of = async (expression: string): Promise<unknown> => {
  shop.write(
    "a.mjs",
    `import * as path from "node:path"; import * as util from "node:util"; import querystring from ` +
      `"node:querystring"; import * as node from "node:crypto"; export default async () => ({ message: await ` +
      `(${expression}) });`,
  );
  return ((await shop.run("a.mjs")) as { readonly message: unknown }).message;
};

beforeAll(() => {
  shop = openWorkshop();
});
afterAll(() => shop.close());

const hex = "[...new Uint8Array(b)].map((n) => n.toString(16).padStart(2, '0')).join('')";

test.each<readonly [expression: string, value: unknown]>([
  [
    "(() => { const u = new URL('../b?x=1#h', 'https://a.example:8443/c/d'); u.searchParams.append('y', 'é " +
      "&'); u.hash = ''; return u.href; })()",
    "https://a.example:8443/b?x=1&y=%C3%A9+%26",
  ],
  [
    "(() => { const u = new URL('https://user:p@a.example/'); u.hostname = 'b.example'; u.port = '81'; " +
      "return [u.origin, u.username, u.host, JSON.stringify({ u })]; })()",
    ["https://b.example:81", "user", "b.example:81", '{"u":"https://user:p@b.example:81/"}'],
  ],
  ["[URL.canParse('nonsense'), URL.parse('x:y').protocol]", [false, "x:"]],
  [
    "(() => { try { new URL('nonsense'); } catch (e) { return [e instanceof TypeError, e.message]; } })()",
    [true, "Invalid URL"],
  ],
  [
    "[...new URLSearchParams({ a: 1, b: 'two words' })].join('|') + '?' + new URLSearchParams([['c', '3'], " +
      "['c', '4']]).getAll('c')",
    "a,1|b,two words?3,4",
  ],
  ["[...new TextEncoder().encode('é€😀')]", [195, 169, 226, 130, 172, 240, 159, 152, 128]],
  [
    "new TextDecoder('latin1').decode(new Uint8Array([233])) + new TextDecoder().decode(new Uint8Array([255]))",
    "é\ufffd",
  ],
  [
    "(() => { try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])); } catch (e) { " +
      "return e instanceof TypeError; } })()",
    true,
  ],
  [
    "[btoa('hé'), atob('aOk='), Buffer.from('é').toString('base64'), Buffer.from('w6k', " +
      "'base64url').toString(), Buffer.from('ff00', 'hex')[0]]",
    ["aOk=", "hé", "w6k=", "é", 255],
  ],
  [
    "[Buffer.concat([Buffer.from('a'), Buffer.alloc(2, 'b')]).toString(), Buffer.byteLength('é'), " +
      "Buffer.from('a').equals(Buffer.from('a')), Buffer.isBuffer(new Uint8Array(1))]",
    ["abb", 2, true, false],
  ],
  [
    "(() => { const a = { d: new Date(5), m: new Map([[1, new Set([2])]]), l: [1, , 3] }; a.self = a; const " +
      "c = structuredClone(a); return [c.self === c, c.d.getTime(), c.m.get(1).has(2), 1 in c.l]; })()",
    [true, 5, true, false],
  ],
  [
    "(() => { const c = new AbortController(); let heard; c.signal.addEventListener('abort', (e) => { heard " +
      "= e.type; }); c.abort(); return [c.signal.aborted, heard, c.signal.reason.name, " +
      "AbortSignal.any([c.signal]).aborted]; })()",
    [true, "abort", "AbortError", true],
  ],
  [
    "new Promise((r) => { let n = 0; const t = setInterval(() => { n += 1; if (n === 3) { clearInterval(t); " +
      "r(n); } }, 1); })",
    3,
  ],
  [
    `crypto.subtle.digest('SHA-256', new TextEncoder().encode('a')).then((b) => ${hex})`,
    createHash("sha256").update("a").digest("hex"),
  ],
  [
    "crypto.subtle.importKey('raw', new TextEncoder().encode('k'), { name: 'HMAC', hash: 'SHA-256' }, " +
      "false, ['sign', 'verify']).then((key) => crypto.subtle.sign('HMAC', key, new " +
      "TextEncoder().encode('x'))).then((b) => " +
      hex +
      ")",
    createHmac("sha256", "k").update("x").digest("hex"),
  ],
  [
    "[crypto.randomUUID().length, crypto.getRandomValues(new Uint8Array(4)).length, " +
      "node.randomBytes(3).length, node.timingSafeEqual(Buffer.from('a'), Buffer.from('b')), node.hash('md5', " +
      "'a')]",
    [36, 4, 3, false, createHash("md5").update("a").digest("hex")],
  ],
  ["new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' }).format(1234.5)", "€1,234.50"],
  [
    "new Date(0).toLocaleDateString('en', { timeZone: 'UTC', dateStyle: 'long' }) + '|' + " +
      "(1234.5).toLocaleString('de')",
    "January 1, 1970|1.234,5",
  ],
  [
    "[path.join('a', '../b'), path.basename('/x/y.ts', '.ts'), path.resolve('a'), path.relative('/a', '/a/b')]",
    ["b", "y", "/a", "b"],
  ],
  [
    "[querystring.stringify({ a: [1, 2] }), querystring.parse('x=1').x, util.format('%s is %d', 'one', 1, { a: [1] })]",
    ["a=1&a=2", "1", "one is 1 { a: [1] }"],
  ],
  ["typeof fetch", "undefined"],
])("%s", async (expression, value) => {
  expect(await of(expression)).toEqual(value);
});

test("an unavailable Node module is rejected with a hint on how to get it", async () => {
  shop.write("b.mjs", 'import "node:fs"; export default () => null;');
  expect(await shop.fault("b.mjs")).toMatchObject({
    kind: "refused",
    message: expect.stringContaining('hooks.transforms.runtime "trusted"'),
  });
});

test("with the network on, a module that patches built-in prototypes fails alone; its thread goes on", async () => {
  shop.settings = { ...shop.settings, network: true };
  const patches = {
    toJSON: "Object.prototype.toJSON = () => null",
    "a throwing toJSON": "Object.prototype.toJSON = () => { throw new Error('no'); }",
    "fields of the request":
      "Object.defineProperty(Object.prototype, 'url', { get() { throw new Error('no'); }, configurable: true })",
    stringify: "JSON.stringify = () => 'null'",
    "a promise": "Promise.prototype.then = () => { throw new Error('no'); }",
  };
  for (const [name, patch] of Object.entries(patches)) {
    const file = `patch-${Object.keys(patches).indexOf(name)}.mjs`;
    shop.write(
      file,
      `export const well = () => ({ message: "well" });
       export default async () => { ${patch}; try { await fetch("http://127.0.0.1:9/"); return { message: "fetched" }; } catch (e) { return { message: "failed" }; } };`,
    );
    const beside = shop.run(file, {}, "well");
    const outcome = await shop.run(file).then(
      (result) => result,
      (error: { readonly kind: string }) => error.kind,
    );
    // Whatever its own code makes of it, it is not the end of the thread, and nothing was fetched.
    expect(outcome, name).not.toBe("exit");
    expect(outcome, name).not.toEqual({ message: "fetched" });
    expect(await beside, name).toEqual({ message: "well" });
  }
  expect(shop.lines.filter(({ message }) => /thread/.test(message))).toEqual([]);
  shop.settings = { ...shop.settings, network: false };
});

test("with the network on, fetch reaches only public addresses", async () => {
  const server = createServer((_request, response) => response.end("secret")).listen(0, "127.0.0.1");
  const { port } = await new Promise<AddressInfo>((resolve) =>
    server.once("listening", () => resolve(server.address() as AddressInfo)),
  );
  shop.settings = { ...shop.settings, network: true };
  shop.write(
    "f.mjs",
    "export default async ({ payload }) => { try { return { message: await (await " +
      "fetch(payload.url)).text() }; } catch (e) { return { message: e.name + ' ' + e.message }; } };",
  );
  for (const url of [
    `http://127.0.0.1:${port}/`,
    `http://localhost:${port}/`,
    `http://[::1]:${port}/`,
    "http://169.254.169.254/",
    "file:///etc/passwd",
  ]) {
    const { message } = (await shop.run("f.mjs", { url })) as { readonly message: string };
    expect(message).toMatch(/^TypeError The request to .* failed: /);
    expect(message).not.toContain("secret");
  }
  shop.settings = { ...shop.settings, network: false };
  server.close();
});
