import { readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { sendFile, sendPage } from "../../../plugins/console/files.ts";

const page = new URL("../../../plugins/console/page/", import.meta.url);
const scripts = readdirSync(page).flatMap((name) => (name.endsWith(".js") ? name.slice(0, -".js".length) : []));
const all = [...scripts, "preact", "hooks", "htm", "qr"].map((name) => `${name}.js`).concat("style.css", "console.css");

test("all scripts and styles of the console are less than 60 kB compressed, and none parses HTML", async () => {
  const files = await Promise.all(all.map(async (name) => ({ name, body: (await sendFile(name)).body as Buffer })));
  const compressed = files.reduce((sum, { body }) => sum + gzipSync(body).length, 0);
  expect(compressed).toBeLessThan(60_000);
  const own = files.filter(({ name }) => scripts.includes(name.replace(".js", "")));
  const parsing = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySet|https?:\/\//;
  expect(own.filter(({ body }) => parsing.test(body.toString())).map(({ name }) => name)).toEqual([]);
});

test("the page allows its own scripts and no others, and no file outside of it is served", async () => {
  const { headers = {}, body } = await sendPage();
  const policy = headers["content-security-policy"] ?? "";
  expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'sha256-[\w+/]{43}='; style-src 'self';/);
  expect(policy).toContain("frame-ancestors 'none'; require-trusted-types-for 'script'");
  expect(body).toContain('<script type="importmap">{"imports":{"preact":"/console/preact.js"');
  for (const name of ["../index.ts", "..%2findex.ts", "index.html", "libraries", "constructor", ""])
    expect((await sendFile(name)).status).toBe(404);
});
