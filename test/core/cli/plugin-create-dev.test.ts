/** `npm run dev` of a created channel, run as its script does, with the program in this repository in place of an installed one. */
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

const root = join(import.meta.dirname, "..", "..", "..");

test("piped lines get their replies before it ends", async () => {
  const home = temporaryHome();
  const folder = join(home, "made");
  await run(["plugins", "create", "acme-chat", "--kind", "channel", "--dir", folder], { home });
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "service-gateway"), "dir");
  const dev = spawn(process.execPath, ["--conditions=service-gateway-source", "dev.ts"], {
    cwd: folder,
    stdio: ["pipe", "pipe", "inherit"],
  });
  dev.stdin.end("first\nsecond\n");
  const printed = await text(dev.stdout);
  expect(printed.split("\n").slice(1, -1)).toEqual(["bot: first", "bot: second"]);
});
