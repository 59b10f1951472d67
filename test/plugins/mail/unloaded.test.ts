import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { removeDirectory, temporaryDirectory } from "../../support/gateway.ts";

const root = new URL("../../../", import.meta.url);

/** A process of its own: other tests load the libraries into this one. */
const script = `
import { createRequire } from "node:module";
import { createGateway } from "${new URL("core/gateway/gateway.ts", root)}";
const gateway = await createGateway({ configFile: process.argv[2] });
const require = createRequire("${root}");
const loaded = () => Object.keys(require.cache).filter((file) => /node_modules.(?:imapflow|html-to-text)./.test(file)).length;
const before = loaded();
await gateway.close();
require("imapflow");
require("html-to-text");
console.log(JSON.stringify({ before, found: loaded() > 0 }));
`;

test("without a mailbox neither library of mail is loaded", async () => {
  const directory = temporaryDirectory();
  const file = join(directory, "config.jsonc");
  const hooks = { enabled: true, token: "hook-token-of-the-test", presets: ["gmail"] };
  writeFileSync(file, JSON.stringify({ gateway: { port: 0 }, state: { dir: "state" }, hooks }));
  const program = join(directory, "program.mjs");
  writeFileSync(program, script);
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=source", program, file], {
    cwd: root,
  });
  expect(JSON.parse(stdout)).toEqual({ before: 0, found: true });
  removeDirectory(directory);
});
