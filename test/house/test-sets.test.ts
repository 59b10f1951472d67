/** The two sets of tests: `npm test` has an example of every rule, `npm run test:all` the long ones as well. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { read, root, sources } from "./sources.ts";

const isLong = (path: string) => /\.(?:full|timed|cost)\.test\.ts$/.test(path);

/** The folder of a room's tests: `test/core/access`, `test/plugins/mail`, `test/e2e`. */
const roomOf = (path: string) =>
  path
    .split("/")
    .slice(0, /^test\/(?:core|plugins)\//.test(path) ? 3 : 2)
    .join("/");

const directoriesIn = (path: string) =>
  readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${path}/${name}`);

test("a module with long tests also has plain ones", () => {
  const rooms = Map.groupBy(sources("test/**/*.test.ts"), roomOf);
  expect(rooms.size).toBeGreaterThan(30);
  const without = [...rooms].filter(([, files]) => files.some(isLong) && files.every(isLong)).map(([room]) => room);
  expect(without).toEqual([]);
});

test("each module and each plugin has its own test directory", () => {
  const rooms = [...directoriesIn("core"), ...directoriesIn("plugins")];
  expect(rooms.length).toBeGreaterThan(30);
  expect(rooms.filter((room) => !existsSync(join(root, "test", room)))).toEqual([]);
});

test("each directory in test/core and test/plugins belongs to a module or a plugin", () => {
  const folders = [...directoriesIn("test/core"), ...directoriesIn("test/plugins")];
  expect(folders.filter((folder) => !existsSync(join(root, folder.slice("test/".length))))).toEqual([]);
  expect(sources("test/{core,plugins}/*.test.ts")).toEqual([]);
});

test("npm test runs the plain tests, and npm run test:all runs every file", () => {
  const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> };
  expect(scripts.test).toBe("vitest run --project plain");
  expect(scripts["test:all"]).toBe("vitest run");
  expect(read(".ci/run")).toMatch(/ npm run test:all /);
});
