import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { namedPlugin } from "../../../core/host/find.ts";
import { createLoader } from "../../../core/host/load.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";

function folderOf(files: Readonly<Record<string, string>>): string {
  const directory = temporaryDirectory();
  onTestFinished(() => removeDirectory(directory));
  write(directory, files);
  return directory;
}

function write(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
}

describe("a plugin's code", () => {
  const ownSdk = {
    "node_modules/service-gateway/package.json": '{ "type": "module", "exports": { "./sdk": "./sdk.js" } }',
    "node_modules/service-gateway/sdk.js": 'export const sdkVersion = "of the plugin\'s own copy";',
  };

  test.each([
    [
      "ES modules in JavaScript",
      {
        "package.json": '{ "type": "module" }',
        "index.js":
          'import { sdkVersion } from "service-gateway/sdk"; import { word } from "./word.js"; export ' +
          "default { sdkVersion, word };",
        "word.js": 'export const word = "WORD";',
      },
    ],
    [
      "CommonJS",
      {
        "index.js":
          'module.exports = { sdkVersion: require("service-gateway/sdk").sdkVersion, word: require("./word").word };',
        "word.js": 'exports.word = "WORD";',
      },
    ],
    [
      "TypeScript beside JavaScript",
      {
        "package.json": '{ "type": "module" }',
        "index.ts":
          'import { sdkVersion } from "service-gateway/sdk"; import { word } from "./word.mjs"; export ' +
          "default { sdkVersion, word: word as string };",
        "word.mjs": 'export const word = "WORD";',
      },
    ],
  ])("%s: it gets the running SDK, and an edited file is loaded again", async (_, files) => {
    const directory = folderOf({ ...files, ...ownSdk });
    const linked = `${directory}-link`;
    symlinkSync(directory, linked);
    onTestFinished(() => removeDirectory(linked));
    const loader = createLoader({ cacheDirectory: join(directory, "cache"), fresh: false });
    const source = namedPlugin(linked, directory);
    const { sdkVersion } = await import("../../../core/sdk/index.ts");

    expect(await loader.load(source)).toEqual({ sdkVersion, word: "WORD" });
    const [name = "", text = ""] = Object.entries(files).find(([, code]) => code.includes("WORD")) ?? [];
    write(directory, { [name]: text.replace("WORD", "EDITED") });
    expect(await loader.load(source, { again: true })).toEqual({ sdkVersion, word: "EDITED" });
  });

  test("compiled CommonJS has its default export, and a module with only other exports has none", async () => {
    const directory = folderOf({
      "compiled.cjs":
        'Object.defineProperty(exports, "__esModule", { value: true }); exports.default = { id: "compiled" };',
      "named.mjs": 'export const id = "named";',
      "empty.cjs": "",
    });
    const loader = createLoader({ cacheDirectory: join(directory, "cache"), fresh: false });
    const load = (name: string) => loader.load(namedPlugin(join(directory, name), directory));
    expect(await load("compiled.cjs")).toEqual({ id: "compiled" });
    expect(await load("named.mjs")).toBeUndefined();
    expect(await load("empty.cjs")).toBeUndefined();
  });
});

describe("a package", () => {
  const manifest = (exports: unknown) => JSON.stringify({ name: "acme", type: "module", exports });
  const files = { "node_modules/acme/dist/index.js": "", "node_modules/acme/dist/other.js": "" };

  test.each([
    [{ ".": { types: "./dist/index.d.ts", import: "./dist/index.js" } }, "acme", "dist/index.js"],
    [{ import: { node: "./dist/index.js" } }, "acme", "dist/index.js"],
    [{ browser: "./dist/other.js", default: "./dist/index.js" }, "acme", "dist/index.js"],
    [{ "./other": { import: "./dist/other.js" } }, "acme/other", "dist/other.js"],
  ])("is found by the exports %j", (exports, name, file) => {
    const directory = folderOf({ ...files, "node_modules/acme/package.json": manifest(exports) });
    const folder = join(directory, "node_modules/acme");
    expect(namedPlugin(name, directory).file).toBe(join(folder, file));
    if (name === "acme")
      expect(namedPlugin("./node_modules/acme", directory)).toMatchObject({ file: join(folder, file), folder });
  });

  test.each(["acme", "./node_modules/acme"])("that is not built is reported as such: %s", (name) => {
    const directory = folderOf({ "node_modules/acme/package.json": manifest({ import: "./dist/index.js" }) });
    expect(() => namedPlugin(name, directory)).toThrow(
      `the module that ${join(directory, "node_modules/acme/package.json")} names does not exist; build the package`,
    );
  });

  test("without an export for the requested name is rejected", () => {
    const directory = folderOf({
      ...files,
      "node_modules/acme/package.json": manifest({ ".": { import: "./dist/index.js" } }),
    });
    expect(() => namedPlugin("acme/other", directory)).toThrow("'./other' is not defined");
  });
});
