/** A transform whose thread gets no processor for a while is not taken for one that computes for too long. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";

const cpuMs = 400;
const pausedMs = 700;

/** Runs a call in a process of its own, which is paused while the code computes; its last line. */
async function pausedRun(code: string): Promise<string> {
  const file = join(import.meta.dirname, "paused-process.ts");
  const child = spawn(process.execPath, ["--conditions=service-gateway-source", file, code, String(cpuMs)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let last = "";
  for await (const line of createInterface({ input: child.stdout })) {
    last = line;
    if (!line.includes("computes")) continue;
    child.kill("SIGSTOP");
    await sleep(pausedMs);
    child.kill("SIGCONT");
  }
  return last;
}

const computing = (ms: number | string) =>
  `export default () => { console.log("computes"); const end = Date.now() + ${ms}; let n = 0;
     while (Date.now() < end) n += 1;
     for (let more = 0; more < 200_000; more += 1) n += 1;
     return { message: "done" }; }`;

test.skipIf(process.platform === "win32")(
  "a call that waits for a processor longer than cpuMs returns its result, and an endless loop still ends",
  async () => {
    // The loop ends soon after the pause, which is longer than its limit.
    expect(await pausedRun(computing(30))).toBe('result {"message":"done"}');
    expect(await pausedRun(computing("Infinity"))).toBe(
      `error It computed for more than ${cpuMs} ms (hooks.transforms.cpuMs)`,
    );
  },
);
