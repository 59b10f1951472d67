/** The file of the log survives what happens to files: a full disk, a name that leads elsewhere, and removal. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test, vi } from "vitest";
import { openLogFile } from "../../../core/log/log-file.ts";

let directory: string;
let file: string;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  directory = mkdtempSync(join(tmpdir(), "log-"));
  file = join(directory, "logs", "gateway.log");
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true, force: true });
});

const text = (name = file) => (existsSync(name) ? readFileSync(name, "utf8") : "");
const until = async (check: () => void) => await vi.waitFor(check, { interval: 2 });

describe("the log file", () => {
  test("is created again after it was moved away: later lines go to the new file, once each", async ({ expect }) => {
    const log = openLogFile(file);
    log.write("one\n");
    await until(() => expect(text()).toBe("one\n"));
    renameSync(file, `${file}-today`);
    vi.advanceTimersByTime(1_000);
    log.write("two\n");
    await until(() => expect(text()).toBe("two\n"));
    log.close();
    expect(text(`${file}-today`)).toBe("one\n");
  });

  test("is created again, readable by its owner only, after the log directory was removed", async ({ expect }) => {
    const log = openLogFile(file);
    rmSync(join(directory, "logs"), { recursive: true });
    log.write("after\n");
    await until(() => expect(text()).toBe("after\n"));
    log.close();
    expect([statSync(join(directory, "logs")).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  test("does not recreate a removed state directory", ({ expect }) => {
    const log = openLogFile(file);
    rmSync(directory, { recursive: true });
    log.write("after\n");
    log.close();
    expect(existsSync(directory)).toBe(false);
  });

  test("that cannot be opened stops nothing: lines wait and are written later", async ({ expect }) => {
    mkdirSync(file, { recursive: true });
    const log = openLogFile(file);
    log.write("waits\n");
    rmSync(file, { recursive: true });
    vi.advanceTimersByTime(1_000);
    await until(() => expect(text()).toBe("waits\n"));
    log.close();
  });

  test("buffers at most 4 MiB of unwritable lines, and close does not wait for disk space", async ({ expect }) => {
    mkdirSync(file, { recursive: true });
    const log = openLogFile(file);
    const line = `${"x".repeat(1024 * 1024 - 1)}\n`;
    for (let count = 0; count < 6; count++) log.write(line);
    rmSync(file, { recursive: true });
    vi.advanceTimersByTime(1_000);
    await until(() => expect(text()).toHaveLength(4 * line.length));
    log.close();
  });

  test.skipIf(!existsSync("/dev/full"))("does not block close on a full disk", ({ expect }) => {
    const log = openLogFile("/dev/full");
    log.write("one\n");
    log.write("two\n");
    log.close();
    expect(existsSync("/dev/full")).toBe(true);
  });

  test("is renamed at 10 MiB without losing or tearing a line", async ({ expect }) => {
    mkdirSync(join(directory, "logs"));
    writeFileSync(file, `${"x".repeat(10 * 1024 * 1024 - 8)}\n`);
    const log = openLogFile(file);
    log.write("fits\n");
    await until(() => expect(text().endsWith("\nfits\n")).toBe(true));
    log.write("next\n");
    log.write("last\n");
    await until(() => expect(text()).toBe("next\nlast\n"));
    expect(text(`${file}.1`).endsWith("x\nfits\n")).toBe(true);
    log.close();
  });

  test("receives all waiting lines on close", ({ expect }) => {
    const log = openLogFile(file);
    log.write("one\n");
    log.write("two\n");
    log.close();
    log.write("late\n");
    return until(() => expect(text().split("\n").toSorted()).toEqual(["", "one", "two"]));
  });
});
