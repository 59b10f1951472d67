/**
 * `npm run dev` of a created channel, run as its script does, with the bundled program of the tests in place of an
 * installed one.
 */
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

const { TEST_PROGRAM } = process.env;
const root = TEST_PROGRAM === undefined ? join(import.meta.dirname, "..", "..", "..") : dirname(TEST_PROGRAM);
/** Tests on another store have no bundled program. */
const flags = TEST_PROGRAM === undefined ? ["--conditions=service-gateway-source"] : [];

test("piped lines are answered before the command exits", async () => {
  const home = temporaryHome();
  const folder = join(home, "made");
  await run(["plugins", "create", "acme-chat", "--kind", "channel", "--dir", folder], { home });
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "service-gateway"), "dir");
  const dev = spawn(process.execPath, [...flags, "dev.ts"], {
    cwd: folder,
    stdio: ["pipe", "pipe", "inherit"],
  });
  dev.stdin.end("first\nsecond\n");
  const printed = await text(dev.stdout);
  expect(printed.split("\n").slice(1, -1)).toEqual(["bot: first", "bot: second"]);
});
