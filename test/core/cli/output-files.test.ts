/** Files of a plugin's folder that change because the plugin was replaced. */
import { expect, test } from "vitest";
import { createOutputFiles } from "../../../core/cli/start/output-files.ts";

/**
 * Replaces the plugin for each change, `pauseMs` after the replacement before; returns what was recognized as an
 * output, and when.
 */
async function replace(changes: readonly (readonly string[])[], pauseMs: number) {
  let time = 0;
  const files = createOutputFiles(() => time);
  const found: (readonly [count: number, file: string])[] = [];
  const saves: string[] = [];
  for (const [index, changed] of changes.entries()) {
    const { saved, outputs } = files.divide(changed);
    for (const file of outputs) found.push([index, file]);
    saves.push(...saved);
    if (saved.length > 0) await files.during(Promise.resolve());
    time += pauseMs;
  }
  return { found, saves };
}

const often = <T>(value: T): readonly T[] => Array.from({ length: 20 }, () => value);

test("a file that changes right after each replacement is treated as an output from the fifth time on", async () => {
  const { found, saves } = await replace(often(["/p/dev.log"]), 40);
  expect(found).toEqual([[5, "/p/dev.log"]]);
  expect(saves).toHaveLength(5);
});

test("a source file or a file that a person saves is never treated as an output", async () => {
  expect((await replace(often(["/p/src/index.ts", "/p/package.json"]), 40)).found).toEqual([]);
  expect((await replace(often(["/p/page.html"]), 1_000)).found).toEqual([]);
});

test("a save beside an output is still noticed, and a pause restarts the count", async () => {
  const log = ["/p/dev.log"];
  const { found, saves } = await replace([...often(log), [...log, "/p/page.html"]], 40);
  expect([found.length, saves.at(-1)]).toEqual([1, "/p/page.html"]);
  expect((await replace([log, log, log, log, ["/p/page.html"], log, log, log, log], 40)).found).toEqual([]);
});
