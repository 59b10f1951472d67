/**
 * A plugin that is replaced while messages are under way loses none of them, and leaves nothing behind: the soak in
 * short.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";

const soak = join(import.meta.dirname, "..", "..", "bench", "soak.ts");

test("thirty plugin swaps under load: one reply per message, and no leaked instance, connection, timer or reference", {
  timeout: 180_000,
}, async () => {
  const child = spawn(process.execPath, ["--conditions=service-gateway-source", soak, "--swaps", "30"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  await once(child, "close");
  console.log(out.split("\n")[0]);
  expect(out).toMatch(/^30 swaps, [1-9]\d+ messages/);
  expect(out).toContain("7 passed, 0 failed");
});
