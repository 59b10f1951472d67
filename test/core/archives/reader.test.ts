/** Archives that no honest program has made: what is refused, and what each entry is called. */
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { readArchive, UnsafeArchive } from "../../../core/archives/index.ts";
import { paxRecord, type TarEntry, tarballOf, tarOf } from "../../support/tarball.ts";

const limits = { bytes: 1_048_576, entries: 100 };

async function readAll(packed: Uint8Array, most = limits): Promise<readonly (readonly [string, string])[]> {
  const found: (readonly [string, string])[] = [];
  for await (const { name, content } of readArchive([packed], most))
    found.push([name, await new Response(content).text()]);
  return found;
}

const pax = (key: string, value: string): TarEntry => ({ path: "x", type: "x", text: paxRecord(key, value) });
const longName = (name: string): TarEntry => ({ path: "x", type: "L", text: `${name}\0` });
const base256 = (...bytes: readonly number[]) => Buffer.from([...Array(12 - bytes.length).fill(0), ...bytes]);
const positive = base256(4);
positive[0] = 0x80;

test.each<readonly [string, readonly TarEntry[], string]>([
  ["an attribute", [pax("path", "a/long"), { path: "short", text: "text" }], "a/long"],
  [
    "an attribute, which replaces the prefix too",
    [pax("path", "a/b"), { path: "c", prefix: "p", text: "text" }],
    "a/b",
  ],
  ["the prefix of the header", [{ path: "c", prefix: "a/b", text: "text" }], "a/b/c"],
  ["a long name of GNU", [longName("a/long"), { path: "short", text: "text" }], "a/long"],
  ["a long name before attributes", [longName("a/b"), pax("mtime", "1"), { path: "c", text: "text" }], "a/b"],
  ["a header with a size in base 256", [{ path: "a/b", text: "text", size: positive }], "a/b"],
  ["a header with a target, which a file has not", [{ path: "a/b", link: "/etc/passwd", text: "text" }], "a/b"],
])("the name of an entry comes from %s", async (_, entries, name) => {
  const after = { path: "after", text: "more" };
  expect(await readAll(tarballOf([...entries, after]))).toEqual([
    [name, "text"],
    ["after", "more"],
  ]);
});

test.each<readonly [string, readonly TarEntry[], RegExp]>([
  ["an absolute path in an attribute", [pax("path", "/etc/x"), { path: "a" }], /its path is absolute/],
  ["an absolute path in the prefix", [{ path: "etc/x", prefix: "/" }], /its path is absolute/],
  ["a path that leads out by its prefix", [{ path: "x", prefix: "a/../.." }], /leads out of the directory/],
  ["a path that leads out by a long name", [longName("a/../../x"), { path: "a" }], /leads out of the directory/],
  ["a NUL in a name", [pax("path", "a\0b"), { path: "a" }], /a control character/],
  ["a line feed in a name", [longName("a\nb"), { path: "a" }], /a control character/],
  ["a name without characters", [{ path: "" }], /not a plain one/],
  ["a dot in a path", [{ path: "./a" }], /not a plain one/],
  ["a name that is too long", [longName(`${"a/".repeat(3_000)}b`), { path: "a" }], /its name is too long/],
  ["two names that differ in case", [{ path: "a/b" }, { path: "A/B" }], /contains "A\/B" twice/],
  ["two names that differ in accents", [{ path: "e\u0301" }, { path: "\u00e9" }], /twice/],
  ["a file with the name of a directory", [{ path: "a/", type: "5" }, { path: "a" }], /twice/],
  ["a sparse file", [pax("GNU.sparse.major", "1"), { path: "a" }], /is a sparse file/],
  [
    "a link by a long target",
    [
      { path: "x", type: "K", text: "/etc\0" },
      { path: "a", type: "2" },
    ],
    /is a symlink/,
  ],
  ["a block device", [{ path: "a", type: "4" }], /is a block device, not a file/],
  ["a size over the limit", [{ path: "a", size: 8 ** 10 }], /unpacks to more than 1 MiB/],
])("%s is refused", async (_, entries, reason) => {
  const attempt = readAll(tarballOf(entries));
  await expect(attempt).rejects.toThrow(reason);
  await expect(attempt).rejects.toBeInstanceOf(UnsafeArchive);
});

test.each<readonly [string, Uint8Array, RegExp]>([
  ["a negative size", tarballOf([{ path: "a", size: Buffer.alloc(12, 0xff) }]), /too large/],
  ["a size that is no number", tarballOf([{ path: "a", size: Buffer.from("9zz") }]), /Invalid tar number/],
  [
    "a checksum that is not that of its header",
    gzipSync(Buffer.from(tarOf([{ path: "a" }])).fill("b", 0, 1)),
    /checksum/,
  ],
  ["an end in the middle", gzipSync(tarOf([{ path: "a", text: "text" }]).subarray(0, 600)), /truncated/],
  ["an end without its mark", gzipSync(tarOf([{ path: "a", text: "text" }]).subarray(0, 1_024)), /truncated/],
  ["an entry after its end", gzipSync(Buffer.concat([tarOf([{ path: "a" }]), tarOf([{ path: "b" }])])), /Invalid EOF/],
  [
    "a single empty block inside",
    gzipSync(Buffer.concat([Buffer.alloc(512), tarOf([{ path: "b" }])])),
    /Invalid tar header/,
  ],
  ["half of its gzip", tarballOf([{ path: "a", text: "text" }]).subarray(0, 60), /unexpected end/],
])("an archive with %s cannot be read", async (_, packed, reason) => {
  await expect(readAll(packed)).rejects.toThrow(reason);
});

test("what gzip hides does not get into memory: the size of the whole archive counts, attributes too", async () => {
  const attributes = Array.from({ length: 20 }, () => pax("comment", "x".repeat(9_000)));
  const packed = tarballOf([...attributes, { path: "a" }]);
  await expect(readAll(packed, { ...limits, bytes: 131_072 })).rejects.toThrow(/unpacks to more than/);
  expect(await readAll(packed)).toEqual([["a", ""]]);
});

test("an entry whose content is not read is skipped", async () => {
  const packed = tarballOf([
    { path: "a", text: Buffer.alloc(700_000, "x") },
    { path: "b", text: "text" },
  ]);
  const names: string[] = [];
  for await (const { name } of readArchive([packed], limits)) names.push(name);
  expect(names).toEqual(["a", "b"]);
  const few = (async () => {
    for await (const _ of readArchive([packed], { ...limits, entries: 1 }));
  })();
  await expect(few).rejects.toThrow(/more than 1 files/);
});
