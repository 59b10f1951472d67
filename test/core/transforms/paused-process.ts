/**
 * A process that runs one call of a transform and prints its outcome. The test stops it in the middle: then time passes
 * by the clock, and none by the CPU, as on a busy machine.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTransforms } from "../../../core/transforms/index.ts";

const [, , code = "", cpuMs = ""] = process.argv;
const root = mkdtempSync(join(tmpdir(), "paused-"));
writeFileSync(join(root, "a.js"), code);
const transforms = createTransforms({
  root: () => root,
  settings: () => ({ runtime: "sandbox", memoryMb: 64, cpuMs: Number(cpuMs), timeoutSeconds: 20, network: false }),
  log: { debug() {}, info: (_: object, line: string) => process.stdout.write(`${line}\n`), warn() {}, error() {} },
  now: () => performance.now(),
});
try {
  const context = { payload: {}, headers: {}, path: "a", url: "http://127.0.0.1/hooks/a", query: {} } as never;
  process.stdout.write(`result ${JSON.stringify(await transforms.run({ module: "a.js", context }))}\n`);
} catch (error) {
  process.stdout.write(`error ${(error as Error).message}\n`);
}
await transforms.close();
rmSync(root, { recursive: true });
