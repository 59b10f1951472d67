import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { packTar, unpackTar } from "modern-tar";
import { describe, expect, onTestFinished, test } from "vitest";
import { checkManifest, importsOf } from "../../../core/cli/plugins/package/install-package.ts";
import { packageSource } from "../../../core/cli/plugins/package/package-source.ts";
import { readTarball, tarballLimits } from "../../../core/cli/plugins/package/tarball.ts";
import { integrityOf, paxRecord, pluginTarball, type TarEntry, tarballOf, tarOf } from "../../support/tarball.ts";

function written(bytes: Buffer): { readonly directory: string; readonly file: string } {
  const directory = mkdtempSync(join(tmpdir(), "service-tarball-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "a b.tgz");
  writeFileSync(file, bytes);
  return { directory, file };
}

const manifest: TarEntry = { path: "package/package.json", text: '{ "name": "acme-chat", "version": "1.0.0" }' };
const read = (entries: readonly TarEntry[], limits = tarballLimits) =>
  readTarball(written(tarballOf(entries)).file, { limits });

describe("the tarball of a package", () => {
  test("is read with its name, version, checksum, size and modules, and nothing is written", async () => {
    const bytes = pluginTarball({ name: "@acme/chat", version: "1.2.3-beta.1" });
    const { directory, file } = written(bytes);
    const { manifest: found, integrity, files, modules } = await readTarball(file);
    expect([found.name, found.version, files]).toEqual(["@acme/chat", "1.2.3-beta.1", 2]);
    expect(integrity).toBe(integrityOf(bytes));
    expect(modules).toEqual([expect.stringContaining("definePlugin")]);
    expect(readdirSync(directory)).toEqual(["a b.tgz"]);
  });

  test.each([
    ["a path with ..", { path: "package/../../escaped.js" }, /leads out of the directory/],
    ["an absolute path", { path: "/etc/cron.d/acme" }, /path is absolute/],
    ["a backslash with ..", { path: "package\\..\\..\\escaped.js" }, /contains a backslash/],
    ["a symbolic link", { path: "package/link.js", type: "2", link: "/etc/passwd" }, /is a symlink, not a file/],
    ["a hard link", { path: "package/link.js", type: "1", link: "package/index.js" }, /is a link, not a file/],
    ["a device", { path: "package/null", type: "3" }, /is a character device, not a file/],
    ["a second package.json", manifest, /twice/],
    ["a second package.json where case is ignored", { path: "package/Package.JSON" }, /twice/],
    ["a second package.json on Windows", { path: "package/package.json " }, /ends with a space/],
    ["a second package.json, in another folder", { ...manifest, path: "other/package.json" }, /not in its folder/],
    ["a file beside its folder", { path: "index.js" }, /not in its folder/],
  ] as const)("with %s is refused", async (_, entry, reason) => {
    await expect(read([manifest, entry])).rejects.toThrow(reason);
  });

  test("with a long path that leads out of the package is refused", async () => {
    const path = "package/../../escaped.js";
    const record = `${path.length + 9} path=${path}\n`;
    await expect(read([manifest, { path: "x", type: "x", text: record }, { path: "package/a.js" }])).rejects.toThrow(
      /leads out of the directory/,
    );
    await expect(
      read([manifest, { path: "x", type: "L", text: `${path}\0` }, { path: "package/a.js" }]),
    ).rejects.toThrow(/leads out of the directory/);
  });

  test("that unpacks to too much, or to too many files, is refused", async () => {
    const large = { path: "package/large.bin", text: Buffer.alloc(3 * 1_024 * 1_024) };
    await expect(read([manifest, large], { ...tarballLimits, bytes: 2 * 1_024 * 1_024 })).rejects.toThrow(/2 MiB/);
    // The size in the header is enough: what follows it is not read.
    await expect(read([manifest, { ...large, text: "", size: 8 * 1_024 ** 3 - 1 }])).rejects.toThrow(/256 MiB/);
    const many = Array.from({ length: 4 }, (_, index) => ({ path: `package/${index}.js` }));
    await expect(read([manifest, ...many], { ...tarballLimits, files: 3 })).rejects.toThrow(/more than 3 files/);
  });

  test("that is no package is refused with the reason", async () => {
    await expect(readTarball(written(Buffer.from("no gzip")).file)).rejects.toThrow(/not the tarball of a package/);
    await expect(readTarball(written(gzipSync(tarOf([manifest]).subarray(0, 530))).file)).rejects.toThrow(/cut off/);
    await expect(read([{ path: "package/index.js" }])).rejects.toThrow(/contains no package\.json/);
    const withManifest = (text: string) => read([{ path: "package/package.json", text }]);
    await expect(withManifest("{")).rejects.toThrow(/not JSON/);
    await expect(withManifest('{ "name": "--help", "version": "1.0.0" }')).rejects.toThrow(/no valid name/);
    await expect(withManifest('{ "name": "../escaped", "version": "1.0.0" }')).rejects.toThrow(/no valid name/);
    await expect(withManifest('{ "name": "acme", "version": "1.0.0;ls" }')).rejects.toThrow(/no valid version/);
  });
});

/** Programs differ in what they find in these, so npm must not get them. */
const hidden = tarOf([{ path: "package/hidden.js" }]);
test.each<readonly [string, readonly TarEntry[], string]>([
  ["a directory with a size", [{ path: "package/more/", type: "5", text: hidden }], "hidden.js"],
  ["a file whose path ends with a slash", [{ path: "package/more/", text: hidden }, { path: "package/a.js" }], "a.js"],
  ["a file with a target", [{ path: "package/a.txt", link: "x", text: hidden }], "a.txt"],
  [
    "an attribute of two lines",
    [
      { path: "x", type: "x", text: paxRecord("comment", `\n${paxRecord("path", "package/hidden.js").trimEnd()}`) },
      { path: "package/a.js" },
    ],
    "a.js",
  ],
  [
    "two sets of attributes",
    [
      { path: "x", type: "x", text: paxRecord("path", "package/hidden.js") },
      { path: "x", type: "x", text: paxRecord("comment", "none") },
      { path: "package/a.js" },
    ],
    "a.js",
  ],
])("npm gets a plain archive of what was checked in place of one with %s", async (_, entries, name) => {
  const { directory, file } = written(tarballOf([manifest, ...entries]));
  const copyTo = join(directory, "copy.tgz");
  const { files, modules } = await readTarball(file, { copyTo });
  const copy = await unpackTar(gunzipSync(readFileSync(copyTo)), { strict: true });
  expect(copy.map(({ header }) => [header.type, header.name, header.linkname, header.pax])).toEqual([
    ["file", "package/package.json", "", undefined],
    ["file", `package/${name}`, "", undefined],
  ]);
  expect([files, modules.length]).toEqual([2, name.endsWith(".js") ? 1 : 0]);
});

test("an executable file stays one, and the others get the usual mode", async () => {
  const body = String(manifest.text);
  const packed = await packTar([
    { header: { name: "package/package.json", size: body.length, mode: 0o600 }, body },
    { header: { name: "package/run.sh", size: 2, mode: 0o4711 }, body: "ok" },
  ]);
  const { directory, file } = written(gzipSync(packed));
  const copyTo = join(directory, "copy.tgz");
  await readTarball(file, { copyTo });
  const copy = await unpackTar(gunzipSync(readFileSync(copyTo)));
  expect(copy.map(({ header }) => [header.name, header.mode])).toEqual([
    ["package/package.json", 0o644],
    ["package/run.sh", 0o755],
  ]);
});

test("a dependency that comes from elsewhere than a registry is refused before npm runs", async () => {
  const check = async (wanted: string) =>
    checkManifest(
      await readTarball(written(pluginTarball({ name: "acme", manifest: { dependencies: { other: wanted } } })).file),
    );
  for (const wanted of ["git+https://example.com/x.git", "acme/other", "file:../..", "https://example.com/x.tgz"])
    await expect(check(wanted)).rejects.toThrow(/other comes from .* and not from a registry/);
  for (const wanted of ["^1.0.0", "latest", "", "npm:@acme/other@^2", "1 || 2"]) await check(wanted);
});

test("a package that needs a newer program is refused before its code runs", async () => {
  const peerDependencies = { "service-gateway": "^99.0.0" };
  const tarball = await readTarball(written(pluginTarball({ name: "acme", manifest: { peerDependencies } })).file);
  expect(() => checkManifest(tarball)).toThrow(/requires service-gateway \^99\.0\.0, and this is/);
});

test("a registry name, a folder and a tarball are distinguished", () => {
  const { directory, file } = written(Buffer.alloc(1));
  expect(packageSource("acme-chat")).toEqual({ kind: "registry", name: "acme-chat", version: undefined });
  expect(packageSource("@acme/chat@1.2.0")).toEqual({ kind: "registry", name: "@acme/chat", version: "1.2.0" });
  expect(packageSource(file)).toEqual({ kind: "tarball", path: file });
  expect(packageSource(directory)).toEqual({ kind: "folder", path: directory });
  for (const wrong of [
    "--registry=x",
    "-g",
    "acme chat",
    "acme@^1 || 2",
    "https://x.org/a.tgz",
    "git+ssh://x",
    "",
    "@",
  ])
    expect(() => packageSource(wrong), wrong).toThrow(/neither a package of the registry/);
  expect(() => packageSource("./nowhere.tgz")).toThrow(/does not exist/);
});

test("the modules that a plugin imports are found, and hostile text does not hold the command up", () => {
  const texts = [`import a from "node:fs"; import("service-gateway/sdk"); import "os"; require ( 'node:net' )`];
  const found = { doors: ["service-gateway/sdk"], node: ["fs", "net", "os"] };
  expect(importsOf(texts)).toEqual({ ...found, node: expect.arrayContaining(found.node) });
  expect(importsOf([`import${" ".repeat(300_000)}x`])).toEqual({ doors: [], node: [] });
});
