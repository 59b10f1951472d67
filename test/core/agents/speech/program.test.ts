/** Programs that transcribe and speak: what they are handed, and how they are bounded. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { runProgram } from "../../../../core/agents/speech/program.ts";
import { temporaryDirectory } from "../../../support/directory.ts";
import { burst, junkTexts } from "../../../support/junk-texts.ts";

const never = new AbortController().signal;
const run = (code: string, more: Partial<Parameters<typeof runProgram>[0]> = {}) =>
  runProgram({
    command: [process.execPath, "-e", code, "{file}"],
    files: { file: "/tmp/a b;$(x).ogg" },
    timeoutMs: 20_000,
    signal: never,
    ...more,
  });

test("a path is one argument, whatever is in it, and there is no shell", async () => {
  expect(await run("console.log(JSON.stringify(process.argv.slice(1)))")).toBe('["/tmp/a b;$(x).ogg"]\n');
});

test("whatever it prints is its output, and does not disturb the gateway", async () => {
  const file = join(temporaryDirectory(), "junk");
  const texts = junkTexts.filter(({ length }) => length < 50_000);
  const lines = `${texts.join("\n")}\n${"null\n".repeat(burst)}`;
  writeFileSync(file, lines);
  const code = `const text = require("fs").readFileSync(${JSON.stringify(file)});
    process.stderr.write(text);
    process.stdout.write(text)`;
  expect(await run(code)).toBe(lines);
});

test("it inherits no keys of the gateway", async () => {
  vi.stubEnv("OPENAI_API_KEY", "sk-not-for-programs");
  try {
    const names = JSON.parse(await run("console.log(JSON.stringify(Object.keys(process.env)))")) as string[];
    expect(names).toContain("PATH");
    expect(names).not.toContain("OPENAI_API_KEY");
  } finally {
    vi.unstubAllEnvs();
  }
});

test.each([
  ["prints too much", "setInterval(() => process.stdout.write('x'.repeat(65536)), 1)", {}, /printed more than 1 MB$/],
  ["does not end", "setInterval(() => {}, 1000)", { timeoutMs: 300 }, /did not end within 0.3 s$/],
  ["fails", "console.error('a\\nb'); process.exitCode = 4", {}, /ended with code 4: a b$/],
  ["is killed", "process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)", {}, /ended by SIGTERM$/],
])("one that %s is ended and reported", async (_name, code, more, words) => {
  await expect(run(code, more)).rejects.toMatchObject({
    reason: "speech_failed",
    message: expect.stringMatching(words),
  });
});

test.skipIf(!existsSync("/proc/self/stat"))("one that takes too much memory is ended (only on Linux)", async () => {
  const code = "const all = []; setInterval(() => all.push(Buffer.alloc(20 * 1048576, 1)), 20)";
  await expect(run(code, { memoryMb: 150 })).rejects.toThrow("used more than 150 MiB of memory");
});

test("what it starts ends with it", async () => {
  const file = join(temporaryDirectory(), "pid");
  const child =
    "require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })";
  const code = `require('fs').writeFileSync(${JSON.stringify(file)}, String(${child}.pid)); setInterval(() => {}, 1000)`;
  const stop = new AbortController();
  const running = run(code, { signal: stop.signal });
  await vi.waitFor(() => expect(readFileSync(file, "utf8")).toMatch(/\d/), { timeout: 10_000 });
  stop.abort(new Error("stopped"));
  await expect(running).rejects.toThrow("stopped");
  const pid = Number(readFileSync(file, "utf8"));
  await vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 5_000 });
});

/** A process that has ended may still have its entry until its parent asks for it. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
