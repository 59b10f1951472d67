import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Snapshot, takeSnapshot } from "../../../core/transforms/snapshot.ts";

let directory: string;
let root: string;
let count = 0;

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "snapshot-")));
  root = join(directory, "transforms");
  mkdirSync(join(root, "mail"), { recursive: true });
  writeFileSync(join(root, "a.ts"), "a");
  writeFileSync(join(root, "mail/b.ts"), "b");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const take = (previous?: Snapshot) => takeSnapshot({ realRoot: root, directory: join(directory, `copy-${count++}`), previous });

test("the copy is private: nobody but the owner enters it", async () => {
  const { directory: copy } = await take();
  expect(statSync(copy).mode & 0o777).toBe(0o700);
  expect(statSync(join(copy, "mail")).mode & 0o777).toBe(0o700);
  expect(statSync(join(copy, "a.ts")).mode & 0o777).toBe(0o600);
});

test("a file that changes afterwards is what it was in the copy", async () => {
  const copy = await take();
  writeFileSync(join(root, "a.ts"), "changed");
  expect(readFileSync(join(copy.directory, "a.ts"), "utf8")).toBe("a");
});

test("a link that ends inside leads to the same place of the copy", async () => {
  symlinkSync("mail/b.ts", join(root, "file.ts"));
  symlinkSync(join(root, "mail"), join(root, "folder"));
  symlinkSync(".", join(root, "mail/self"));
  const copy = await take();
  for (const path of ["file.ts", "folder/b.ts", "mail/self/b.ts"])
    expect(realpathSync(join(copy.directory, path))).toBe(join(copy.directory, "mail/b.ts"));
});

test("what leads outside, or is no file, is left out, with the rule", async () => {
  symlinkSync("/etc", join(root, "etc"));
  symlinkSync("gone", join(root, "gone.ts"));
  const copy = await take();
  expect(Object.fromEntries(copy.refused)).toEqual({
    etc: "is a symbolic link that ends outside the transforms root",
    "gone.ts": "is a symbolic link to nothing (gone)",
  });
  expect(existsSync(join(copy.directory, "etc"))).toBe(false);
});

test("a file that did not change is not copied again, and one that did is", async () => {
  const first = await take();
  writeFileSync(join(root, "a.ts"), "changed");
  const second = await take(first);
  expect(lstatSync(join(second.directory, "mail/b.ts")).ino).toBe(lstatSync(join(first.directory, "mail/b.ts")).ino);
  expect(readFileSync(join(second.directory, "a.ts"), "utf8")).toBe("changed");
  expect(readFileSync(join(first.directory, "a.ts"), "utf8")).toBe("a");
});

test("a hard link is copied like any file: writing to the copy is not writing to it", async () => {
  writeFileSync(join(directory, "elsewhere.ts"), "x");
  linkSync(join(directory, "elsewhere.ts"), join(root, "hard.ts"));
  const copy = await take();
  expect(lstatSync(join(copy.directory, "hard.ts")).nlink).toBe(1);
});

test("more than 64 MB is refused, and the half copy is gone", async () => {
  writeFileSync(join(root, "large.bin"), "");
  truncateSync(join(root, "large.bin"), 65 * 1024 * 1024);
  const place = join(directory, `copy-${count}`);
  await expect(take()).rejects.toThrow("is too large: at most 5000 files and 64 MB, packages included");
  expect(existsSync(place)).toBe(false);
});

test("more than 5,000 files are refused", async () => {
  mkdirSync(join(root, "many"));
  for (let index = 0; index < 5_000; index++) writeFileSync(join(root, "many", `${index}.txt`), "");
  await expect(take()).rejects.toThrow("at most 5000 files");
});

test("a folder that is swapped for a link while it is read is not followed", async () => {
  mkdirSync(join(directory, "outside"));
  writeFileSync(join(directory, "outside/b.ts"), "secret");
  // Many folders, so that the swap falls into the middle.
  for (let index = 0; index < 300; index++) {
    mkdirSync(join(root, `d${index}`));
    writeFileSync(join(root, `d${index}`, "b.ts"), "b");
  }
  let swapped = 0;
  const swapping = setInterval(() => {
    for (let index = 0; index < 10 && swapped < 300; index++) {
      const place = join(root, `d${299 - swapped++}`);
      rmSync(place, { recursive: true });
      symlinkSync(join(directory, "outside"), place);
    }
  }, 1);
  const copy = await take();
  clearInterval(swapping);
  for (let index = 0; index < 300; index++) {
    const file = join(copy.directory, `d${index}`, "b.ts");
    if (existsSync(file)) expect(readFileSync(file, "utf8")).toBe("b");
  }
});
