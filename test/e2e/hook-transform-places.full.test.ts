/** Where a transform failed: its file and line, in the log, in `why` and in a dry run, with either runtime. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { run } from "../core/cli/command-runner.ts";
import { temporaryDirectory } from "../support/directory.ts";
import { closeHookGateways, startHookGateway } from "./hook-room.ts";

afterAll(closeHookGateways);

const transforms = {
  "throws.ts": "const deep = () => {\n  throw new Error('no such thing');\n};\nexport default () => deep();\n",
  "loops.ts": "export default () => {\n  for (;;);\n};\n",
  "grows.ts": "const all = [];\nexport default () => {\n  for (;;) all.push('x'.repeat(1_000_000) + all.length);\n};\n",
  "broken.ts": "export default () => {\n  const a = ;\n};\n",
};
const mappings = Object.keys(transforms).map((module) => ({
  match: { path: module.slice(0, -3) },
  transform: { module },
  deliver: false,
}));

test.each([
  [
    "sandbox",
    [
      ["throws", /no such thing \(throws\.ts:2:\d+\)/],
      ["loops", /cpuMs\) \(loops\.ts:\d+:\d+\)/],
      // The engine knows no line any more once its memory is full.
      ["grows", /memoryMb\) \(grows\.ts\)/],
      ["broken", /broken\.ts:2/],
    ],
  ],
  [
    "trusted",
    [
      ["throws", /no such thing \(throws\.ts:2:\d+\)/],
      ["broken", /broken\.ts:2/],
    ],
  ],
  // A loop keeps a processor busy until its time is over.
  ["trusted", [["loops", /timeoutSeconds\) \(loops\.ts\)/]], 1],
] as const)(
  "with the runtime %s, why, hooks test and the log report the place of a failure in a transform",
  async (runtime, failures, timeoutSeconds: number = 3) => {
    // The work of the host counts too, so a memory of the usual size is not full within a short limit.
    // A process of its own needs more than an engine in a thread.
    const memoryMb = runtime === "trusted" ? 64 : 16;
    const limits = { runtime, memoryMb, cpuMs: 1_000, timeoutSeconds };
    const room = await startHookGateway({ transforms, hooks: { mappings, transforms: limits } });
    const files = ["--config", room.host.configFile, "--state", room.stateDirectory];
    const command = async (...args: readonly string[]) =>
      (await run([...args, ...files], { home: temporaryDirectory() })).out;
    const payload = join(temporaryDirectory(), "payload.json");
    writeFileSync(payload, "{}");
    for (const [path, place] of failures) {
      expect(await room.post(path, {})).toMatchObject({ status: 500, json: { code: "mapping_failed" } });
      await expect.poll(() => command("why", "last")).toMatch(place);
      expect(await command("hooks", "test", path, payload)).toMatch(place);
      const log = () => readFileSync(join(room.stateDirectory, "logs", "gateway.log"), "utf8");
      await expect
        .poll(() =>
          log()
            .split("\n")
            .filter((line) => line.includes("failed in its mapping"))
            .at(-1),
        )
        .toMatch(place);
    }
  },
  60_000,
);
