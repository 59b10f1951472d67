/** Serves the files of the page, as they are: there is no build. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { RouteAnswer } from "service-gateway/sdk";
import { pageStyleFile } from "service-gateway/sdk/reading";

const page = join(import.meta.dirname, "page");
const types = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", svg: "image/svg+xml" } as const;

/** The package contains the libraries; in the repository they are where npm has put them. */
const libraries: Readonly<Record<string, string>> = {
  "preact.js": "preact/dist/preact.mjs",
  "hooks.js": "preact/hooks/dist/hooks.mjs",
  "htm.js": "htm/dist/htm.mjs",
  "qr.js": "uqr/dist/index.mjs",
};
const libraryFile = (name: string, path: string): string => {
  const contained = join(page, "libraries", name);
  return existsSync(contained) ? contained : join(import.meta.dirname, "..", "..", "node_modules", path);
};

const own = [
  "app",
  "api",
  "live",
  "parts",
  "overview",
  "sign-in",
  "events",
  "why",
  "waiting",
  "config",
  "form",
  "models",
  "panels",
  "plugins",
  "failed",
  "deliveries",
  "workbench",
  "sessions",
  "usage",
  "budgets",
  "logs",
];
const files: ReadonlyMap<string, string> = new Map([
  ...own.map((name) => [`${name}.js`, join(page, `${name}.js`)] as const),
  ...["console.css", "icon.svg"].map((name) => [name, join(page, name)] as const),
  ["style.css", pageStyleFile],
  ...Object.entries(libraries).map(([name, path]) => [name, libraryFile(name, path)] as const),
]);

const importMap = JSON.stringify({
  imports: {
    preact: "/console/preact.js",
    "preact/hooks": "/console/hooks.js",
    htm: "/console/htm.js",
    uqr: "/console/qr.js",
  },
});

const headers = {
  "content-security-policy": [
    "default-src 'none'",
    `script-src 'self' 'sha256-${createHash("sha256").update(importMap).digest("base64")}'`,
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

export async function sendPage(): Promise<RouteAnswer> {
  const text = await readFile(join(page, "index.html"), "utf8");
  return {
    type: "text/html; charset=utf-8",
    headers,
    body: text.replace("<!-- import map -->", () => `<script type="importmap">${importMap}</script>`),
  };
}

export async function sendFile(name: string): Promise<RouteAnswer> {
  const file = files.get(name);
  if (file === undefined)
    return { status: 404, headers, body: { ok: false, error: "There is no such file.", code: "not_found" } };
  const type = types[name.slice(name.lastIndexOf(".") + 1) as keyof typeof types];
  return { type, headers, body: await readFile(file) };
}
