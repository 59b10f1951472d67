/** The time to the first line. What is loaded, which is most of it, is held by `loading.test.ts`. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryHome } from "./command.ts";

const main = join(import.meta.dirname, "..", "..", "..", "core", "cli", "main.js");
const rounds = 40;

test.each(["--help", "--version"])("%s takes at most three times as long as an empty Node", (option) => {
  const env = { PATH: process.env.PATH, HOME: temporaryHome(), NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
  const timeOf = (args: readonly string[]) => {
    const started = performance.now();
    expect(spawnSync(process.execPath, args, { env, stdio: "ignore" }).status).toBe(0);
    return performance.now() - started;
  };
  timeOf([main, option]);
  let [empty, whole] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  // What else the machine does may spoil a round; what a start costs it costs in each of them.
  for (let round = 0; round < rounds && !(round >= 3 && whole <= 3 * empty); round += 1) {
    empty = Math.min(empty, timeOf(["-e", "0"]));
    whole = Math.min(whole, timeOf([main, option]));
  }
  expect(whole / empty).toBeLessThanOrEqual(3);
});
