/**
 * Files that are written whole: a power cut leaves the old one or the new one, so the content is flushed before the
 * name is its own.
 */
import fs, {
  chmodSync,
  chownSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { editConfig } from "../../../core/config/editing/edit.ts";
import { makeDirectory, prepareFile, writeWhole } from "../../../core/state/directory.ts";

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

test("state and configuration files are written and flushed under a temporary name, then renamed", async () => {
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

test("files that root writes for a gateway of another user belong to that user", async () => {
  const directory = mkdtempSync(join(tmpdir(), "owner-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  // Only root can give a file away; any other user owns it in any case.
  const own = process.geteuid?.() ?? 0;
  const user = own === 0 ? 65_534 : own;
  const at = (name: string) => join(directory, name);
  writeFileSync(at("config.jsonc"), "{}");
  writeFileSync(at("mine"), "old");
  chmodSync(at("mine"), 0o640);
  for (const path of [directory, at("config.jsonc")]) chownSync(path, user, process.getegid?.() ?? 0);

  writeWhole(at("token"), "new");
  writeWhole(at("like"), "new", statSync(at("mine")));
  makeDirectory(at("a/b"));
  prepareFile(directory, "state.db");
  await editConfig(at("config.jsonc"), "log.level", "debug");
  await editConfig(at("a/new.jsonc"), "log.level", "debug");
  const ownerOf = (name: string) => statSync(at(name)).uid;
  expect(["token", "a", "a/b", "state.db", "config.jsonc", "a/new.jsonc"].map(ownerOf)).toEqual(Array(6).fill(user));
  const { mode, uid } = statSync(at("like"));
  expect([mode & 0o777, uid]).toEqual([0o640, own]);
});

test("a symbolic link at the temporary name is not followed, so root cannot overwrite its target", () => {
  const directory = mkdtempSync(join(tmpdir(), "link-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const [file, other] = [join(directory, "gateway-token"), join(directory, "other")];
  writeFileSync(other, "untouched");
  symlinkSync(other, `${file}.new`);
  writeWhole(file, "new");
  expect([readFileSync(file, "utf8"), readFileSync(other, "utf8")]).toEqual(["new", "untouched"]);
});
