/** A thread that is found to be late again while it goes ends once. */
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { startThread } from "../../../core/isolation/plugin-thread.ts";
import { Thread } from "../../../core/transforms/thread.ts";
import { temporaryDirectory } from "../../support/directory.ts";

/** The warnings of the process from now on. */
function warnings(): readonly string[] {
  const found: string[] = [];
  const note = ({ name }: Error) => void found.push(name);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  return found;
}

const nothing = () => {};

test("ending a thread of transforms many times adds no listeners", async () => {
  const found = warnings();
  const thread = new Thread({
    settings: { memoryMb: 64, network: false },
    now: () => performance.now(),
    heard: nothing,
    lost: nothing,
  });
  await Promise.all(Array.from({ length: 20 }, () => thread.end()));
  await new Promise((resolve) => setImmediate(resolve));
  expect(found).toEqual([]);
});

test("ending the thread of a plugin many times adds no listeners", async () => {
  const found = warnings();
  const file = fileURLToPath(import.meta.url);
  const thread = startThread({
    plugin: "guest",
    settings: { source: { name: "guest", file, bundled: false }, cacheDirectory: temporaryDirectory() },
    handlers: {},
  });
  await Promise.all(Array.from({ length: 20 }, (_, number) => thread.end(`reason ${number}`)));
  await new Promise((resolve) => setImmediate(resolve));
  expect(found).toEqual([]);
});
