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

describe("the file of the log", () => {
  test("a file that was moved away is replaced: the next lines are found under the name, once each", async ({ expect }) => {
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

  test("a removed log directory is created again, for its owner only", async ({ expect }) => {
    const log = openLogFile(file);
    rmSync(join(directory, "logs"), { recursive: true });
    log.write("after\n");
    await until(() => expect(text()).toBe("after\n"));
    log.close();
    expect([statSync(join(directory, "logs")).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  test("a state directory that was removed does not come back with the next line", ({ expect }) => {
    const log = openLogFile(file);
    rmSync(directory, { recursive: true });
    log.write("after\n");
    log.close();
    expect(existsSync(directory)).toBe(false);
  });

  test("a file that cannot be opened ends nothing: what was logged waits, and is written when it can be", async ({ expect }) => {
    mkdirSync(file, { recursive: true });
    const log = openLogFile(file);
    log.write("waits\n");
    rmSync(file, { recursive: true });
    vi.advanceTimersByTime(1_000);
    await until(() => expect(text()).toBe("waits\n"));
    log.close();
  });

  test("what cannot be written waits in 4 MiB at most, and close does not wait for room", async ({ expect }) => {
    mkdirSync(file, { recursive: true });
    const log = openLogFile(file);
    const line = `${"x".repeat(1024 * 1024 - 1)}\n`;
    for (let count = 0; count < 6; count++) log.write(line);
    rmSync(file, { recursive: true });
    vi.advanceTimersByTime(1_000);
    await until(() => expect(text()).toHaveLength(4 * line.length));
    log.close();
  });

  test.skipIf(!existsSync("/dev/full"))("on a full disk, close returns", ({ expect }) => {
    const log = openLogFile("/dev/full");
    log.write("one\n");
    log.write("two\n");
    log.close();
    expect(existsSync("/dev/full")).toBe(true);
  });

  test("at 10 MiB the file is renamed, and no line is lost or torn", async ({ expect }) => {
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

  test("close writes what waits", ({ expect }) => {
    const log = openLogFile(file);
    log.write("one\n");
    log.write("two\n");
    log.close();
    log.write("late\n");
    return until(() => expect(text().split("\n").toSorted()).toEqual(["", "one", "two"]));
  });
});
