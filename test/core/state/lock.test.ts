import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { lockState } from "../../../core/state/lock.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { newDirectory } from "./directory.ts";

test("only one gateway can lock a state directory, even in one process, and the error names the holder", async () => {
  const directory = await newDirectory();
  const lock = lockState(directory);
  expect(() => lockState(directory)).toThrow(
    expect.objectContaining({ code: "state_locked", details: { directory, pid: String(process.pid) } }),
  );
  lock.release();
  lock.release();
  lockState(directory).release();
});

test("a refused attempt in the same process does not release the existing lock", async () => {
  const directory = await newDirectory();
  const lock = lockState(directory);
  expect(() => lockState(directory)).toThrow();
  const other = spawn(process.execPath, [join(import.meta.dirname, "lock-holder.ts"), directory], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void other.kill("SIGKILL"));
  const said = await Promise.race([
    once(other.stdout, "data").then(() => "locked"),
    once(other, "exit").then(() => "refused"),
  ]);
  expect(said).toBe("refused");
  lock.release();
});

// Linux only: there /proc says "no such file or directory" to every new directory.
test.runIf(process.platform === "linux")(
  "a directory that cannot be created is reported without endless retries",
  () => {
    const directory = "/proc/nowhere/state";
    expect(() => lockState(directory)).toThrow(expect.objectContaining({ code: "state_unreadable" }));
  },
);

test("each directory has its own lock", async () => {
  const one = lockState(await newDirectory());
  const two = lockState(await newDirectory());
  one.release();
  two.release();
});

test("a lock lasts exactly as long as its process, even without a reference to its handle", async () => {
  const directory = await newDirectory();
  const holder = spawn(process.execPath, [join(import.meta.dirname, "lock-holder.ts"), directory], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void holder.kill("SIGKILL"));
  await once(holder.stdout, "data");
  expect(() => lockState(directory)).toThrow(
    expect.objectContaining({ code: "state_locked", details: { directory, pid: String(holder.pid) } }),
  );
  holder.kill("SIGKILL");
  await once(holder, "exit");
  lockState(directory).release();
});

test("the lock does not prevent opening the store", async () => {
  const directory = await newDirectory();
  const lock = lockState(directory);
  const store = await openSqliteStore({ directory, now: () => 0 });
  await store.set("n", "k", 1);
  expect(await store.get("n", "k")).toBe(1);
  await store.close();
  expect(() => lockState(directory)).toThrow();
  lock.release();
});

test("only the owner can read the lock files, and the pid file is removed with the lock", async () => {
  const directory = await newDirectory();
  const lock = lockState(directory);
  for (const [name, mode] of [
    [".", 0o700],
    ["lock.db", 0o600],
    ["lock.pid", 0o600],
  ] as const) {
    expect(statSync(join(directory, name)).mode & 0o777).toBe(mode);
  }
  lock.release();
  expect(existsSync(join(directory, "lock.pid"))).toBe(false);
});
