import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkModule } from "../../../core/transforms/check.ts";
import { resolveModule, resolveTransformsRoot } from "../../../core/transforms/root.ts";

let directory: string;
let root: string;

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "root-")));
  root = join(directory, "transforms");
  mkdirSync(join(root, "mail"), { recursive: true });
  mkdirSync(join(directory, "outside"));
  for (const file of ["transforms/a.ts", "transforms/mail/b.mjs", "outside/x.ts"])
    writeFileSync(join(directory, file), "");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe("the name of a module", () => {
  test.each(["a.ts", "./a.ts", "mail/b.mjs", "mail//b.mjs"])("%s is a file inside the root", (module) => {
    expect(resolveModule(root, module).realRoot).toBe(root);
  });

  test.each([
    ["/etc/passwd.ts", "must be a relative path, not an absolute one"],
    ["../outside/x.ts", 'must not contain ".."'],
    ["mail/../a.ts", 'must not contain ".."'],
    ["~/a.ts", 'must not begin with "~"'],
    ["mail\\b.mjs", "must not contain a backslash"],
    ["C:\\x.ts", "must not contain a backslash"],
    ["C:/x.ts", "not a URL or a drive"],
    ["file:///a.ts", "not a URL or a drive"],
    ["data:text/javascript,1.ts", "not a URL or a drive"],
    ["node:fs", "not a URL or a drive"],
    ["a.ts\0.js", "must not contain a NUL"],
    ["", "must not be empty"],
    ["  ", "must not be empty"],
    ["a.sh", "must end in .ts, .mts, .js or .mjs"],
    ["a", "must end in .ts, .mts, .js or .mjs"],
  ])("%j is refused: %s", (module, rule) => {
    expect(() => resolveModule(root, module)).toThrow(rule);
  });

  test.each([undefined, null, 1, {}, ["a.ts"]])("%j, which is not a text, is refused", (module) => {
    expect(() => resolveModule(root, module)).toThrow("must be a text");
  });

  test("a missing file has an error of its own, because it can be added later", () => {
    expect(checkModule("new.ts", { configDirectory: directory })).toMatchObject({
      missing: true,
      message: expect.stringContaining("does not exist"),
    });
    expect(checkModule("../new.ts", { configDirectory: directory })).toMatchObject({ missing: false });
    expect(checkModule("a.ts", { configDirectory: directory })).toBeUndefined();
  });

  test("a directory is not a module", () => {
    mkdirSync(join(root, "folder.ts"));
    expect(() => resolveModule(root, "folder.ts")).toThrow("is not a file");
  });
});

describe("symbolic links", () => {
  test("a link with its target inside the root is allowed", () => {
    symlinkSync("mail/b.mjs", join(root, "link.mjs"));
    expect(resolveModule(root, "link.mjs").file).toBe(join(root, "mail/b.mjs"));
  });

  test.each([
    ["to a file outside", () => symlinkSync(join(directory, "outside/x.ts"), join(root, "x.ts")), "x.ts"],
    ["to a folder outside", () => symlinkSync("../outside", join(root, "folder")), "folder/x.ts"],
    [
      "over another link",
      () => {
        symlinkSync("../outside", join(root, "one"));
        symlinkSync("one", join(root, "two"));
      },
      "two/x.ts",
    ],
  ])("a link %s is refused by name", (_, make, module) => {
    make();
    expect(() => resolveModule(root, module)).toThrow("that ends outside the transforms root");
  });

  test("a root whose name starts like the real root is another directory", () => {
    mkdirSync(`${root}-evil`);
    writeFileSync(join(`${root}-evil`, "x.ts"), "");
    symlinkSync("../transforms-evil/x.ts", join(root, "x.ts"));
    expect(() => resolveModule(root, "x.ts")).toThrow("outside");
  });
});

describe("hooks.transformsDir", () => {
  const resolved = (transformsDir?: string) => resolveTransformsRoot({ configDirectory: directory, transformsDir });

  test("defaults to the directory transforms beside the configuration", () => expect(resolved()).toBe(root));
  test.each(["mail", "./mail", "new/deeper"])("%s is relative to that directory", (given) =>
    expect(resolved(given)).toBe(join(root, given)),
  );
  test("can be absolute if it is inside the root", () => expect(resolved(join(root, "mail"))).toBe(join(root, "mail")));

  test.each(["..", "../outside", "/tmp", "mail/../../outside", "~/transforms", "file:///tmp", "a\\b", "a\0"])(
    "%j is refused",
    (given) => {
      expect(() => resolved(given)).toThrow(/lies outside the transforms root|must not contain a backslash or a NUL/);
    },
  );

  test("a link that leads outside is refused, even before its target exists", () => {
    symlinkSync("../outside", join(root, "link"));
    expect(() => resolved("link")).toThrow("a symbolic link leads there");
    expect(() => resolved("link/new")).toThrow("a symbolic link leads there");
  });
});
