/** Files that are written whole: a power cut leaves the old one or the new one, so the content is flushed before the name is its own. */
import fs, { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { editConfig } from "../../../core/config/editing/edit.ts";
import { writeWhole } from "../../../core/state/directory.ts";

interface Step {
  readonly did: "flush" | "rename";
  /** The file itself, whatever its name. */
  readonly inode: number;
  readonly content: string;
}

/** The flushes and renames of this process, with what the file held at that moment. */
async function watchDisk(directory: string): Promise<readonly Step[]> {
  const steps: Step[] = [];
  const note = (did: Step["did"], inode: number) => {
    const name = fs.readdirSync(directory).find((one) => statSync(join(directory, one)).ino === inode);
    if (name !== undefined) steps.push({ did, inode, content: readFileSync(join(directory, name), "utf8") });
  };
  const probe = await open(directory, "r");
  const handles = Object.getPrototypeOf(probe) as { sync(this: { readonly fd: number }): Promise<void> };
  await probe.close();
  const { fsyncSync, renameSync } = fs;
  const { sync } = handles;
  fs.fsyncSync = (descriptor) => {
    note("flush", fs.fstatSync(descriptor).ino);
    fsyncSync(descriptor);
  };
  fs.renameSync = (from, to) => {
    note("rename", statSync(from).ino);
    renameSync(from, to);
  };
  handles.sync = async function () {
    note("flush", fs.fstatSync(this.fd).ino);
    await sync.call(this);
  };
  syncBuiltinESMExports();
  onTestFinished(() => {
    fs.fsyncSync = fsyncSync;
    fs.renameSync = renameSync;
    handles.sync = sync;
    syncBuiltinESMExports();
  });
  return steps;
}

test("a whole file is flushed under another name and takes its name then: one of the state, and the configuration", async () => {
  const directory = mkdtempSync(join(tmpdir(), "whole-file-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const [token, config] = [join(directory, "gateway-token"), join(directory, "config.jsonc")];
  writeFileSync(token, "old\n");
  writeFileSync(config, '{ "log": { "level": "info" } } // mine\n');
  for (const [file, before, write] of [
    [token, "old\n", () => writeWhole(token, "new\n")],
    [config, '{ "log": { "level": "info" } } // mine\n', () => editConfig(config, "log.level", "debug")],
  ] as const) {
    const steps = await watchDisk(directory);
    const oldInode = statSync(file).ino;
    expect(readFileSync(file, "utf8")).toBe(before);
    await write();
    const content = readFileSync(file, "utf8");
    expect(content).not.toBe(before);
    const inode = statSync(file).ino;
    expect(inode).not.toBe(oldInode);
    expect(steps.filter((step) => step.inode === inode)).toEqual([
      { did: "flush", inode, content },
      { did: "rename", inode, content },
    ]);
  }
});
