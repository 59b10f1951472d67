import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { commandFor } from "../../../core/contract/command.ts";
import { read, sources, withoutComments } from "../../house/sources.ts";
import { run, temporaryHome } from "../cli/command.ts";

/** A global installation: the program, and a directory of the search path with the given names for it. */
function installation(names: readonly string[]): {
  readonly module: string;
  readonly bin: string;
  readonly script: (name: string) => string;
} {
  const root = mkdtempSync(join(tmpdir(), "service-names-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const module = join(root, "main.js");
  const bin = join(root, "bin");
  mkdirSync(bin);
  writeFileSync(module, "");
  for (const name of names) symlinkSync(module, join(bin, name));
  return { module, bin, script: (name) => join(bin, name) };
}

/** A system's own `service`, in a directory of its own. */
function strangers(): string {
  const directory = mkdtempSync(join(tmpdir(), "service-system-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "service"), "#!/bin/sh\necho of the system\n");
  chmodSync(join(directory, "service"), 0o755);
  return directory;
}

test("the command is the name it was called by if the shell resolves that name to this program", () => {
  const { module, bin, script } = installation(["service", "service-gateway"]);
  expect(commandFor({ module, script: script("service"), path: bin })).toBe("service");
  expect(commandFor({ module, script: script("service-gateway"), path: bin })).toBe("service-gateway");
});

test("the command is service-gateway if `service` is another program", () => {
  const { module, bin, script } = installation(["service", "service-gateway"]);
  expect(commandFor({ module, script: script("service"), path: `${strangers()}:${bin}` })).toBe("service-gateway");
  expect(commandFor({ module, script: module, path: bin }), "started by its file").toBe("service-gateway");
});

test("the command is npx if the path has neither name; directories added by npm are ignored", () => {
  const { module, bin, script } = installation([]);
  expect(commandFor({ module, script: script("service"), path: bin })).toBe("npx service-gateway");
  expect(commandFor({ module, script: undefined, path: undefined })).toBe("npx service-gateway");
  const local = join(installation([]).bin, "node_modules", ".bin");
  mkdirSync(local, { recursive: true });
  for (const name of ["service", "service-gateway"]) symlinkSync(module, join(local, name));
  expect(commandFor({ module, script: join(local, "service"), path: local })).toBe("npx service-gateway");
});

test("in a clone, the command in help and hints is npm's, and it works", async () => {
  const home = temporaryHome();
  const { out } = await run(["why", "--help"], { home });
  expect(out).toContain("npm run -s service -- why last");
  const { err } = await run(["why"], { home });
  expect(err).toContain("`npm run -s service -- dev`");
  const { status, stdout } = spawnSync("npm", ["run", "-s", "service", "--", "status"], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: home, NO_COLOR: "1" },
  });
  expect([status, stdout]).toEqual([0, expect.stringContaining("not running")]);
}, 30_000);

test("no text of the program names a command that may belong to another program", () => {
  const verbs =
    "config|doctor|pairing|logs|why|hooks|plugins|sessions|gateway|dev|status|transforms|channels|message|devices";
  // The program has a command of the name `service`, too.
  const fixed = new RegExp(`(?<!\\{(?:programCommand|command)\\} )\\bservice (?:${verbs})\\b`);
  const files = sources("{core,plugins}/**/*.ts").filter((file) => !file.startsWith("core/config/schema"));
  const found = files.flatMap((file) =>
    withoutComments(read(file))
      .split("\n")
      .filter((line) => fixed.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});
