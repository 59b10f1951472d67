import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";

const root = new URL("../../../", import.meta.url);

/** A process of its own: other tests load the libraries into this one. */
const script = `
import { createRequire, registerHooks } from "node:module";
const files = [];
registerHooks({
  load(url, context, next) {
    files.push(url);
    return next(url, context);
  },
});
const { createGateway } = await import("${new URL("core/gateway/gateway.ts", root)}");
const gateway = await createGateway({ configFile: process.argv[2] });
const require = createRequire("${root}");
const loaded = () => Object.keys(require.cache).filter((file) => /node_modules.(?:imapflow|html-to-text)./.test(file)).length;
const before = loaded();
const gmail = files.filter((url) => url.includes("/plugins/mail/gmail/")).length;
await gateway.close();
require("imapflow");
require("html-to-text");
console.log(JSON.stringify({ before, found: loaded() > 0, gmail }));
`;

async function loadedWith(gmail: object): Promise<unknown> {
  const directory = temporaryDirectory();
  const file = join(directory, "config.jsonc");
  const hooks = { enabled: true, token: "hook-token-of-the-test", presets: ["gmail"], gmail };
  writeFileSync(file, JSON.stringify({ gateway: { port: 0 }, state: { dir: "state" }, hooks }));
  const program = join(directory, "program.mjs");
  writeFileSync(program, script);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=service-gateway-source", program, file],
    {
      cwd: root,
    },
  );
  removeDirectory(directory);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}

test("without a mailbox, no mail library and no Gmail code is loaded, even if Gmail mail is handed in", async () => {
  expect(await loadedWith({ model: "local/small" })).toEqual({ before: 0, found: true, gmail: 0 });
});

test("the first Gmail mailbox loads the Gmail code but no mail library", async () => {
  const loaded = await loadedWith({ account: "ada@example.net", credentials: "{}" });
  expect(loaded).toMatchObject({ before: 0, gmail: expect.any(Number) });
  expect(loaded).not.toMatchObject({ gmail: 0 });
});
