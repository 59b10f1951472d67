/** Reads the tarball of a package before npm unpacks it: it comes from outside, and may be made to do harm. */
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { type ArchiveEntry, faultOf, readArchive, shownName, UnsafeArchive } from "../../../archives/reader.ts";
import { type ArchiveWriter, createArchive } from "../../../archives/writer.ts";
import { parseJsonText } from "../../../config/json-text.ts";
import type { Manifest } from "./plugin-package.ts";

const mebibyte = 1_024 * 1_024;

interface Limits {
  readonly packedBytes: number;
  readonly bytes: number;
  readonly files: number;
}

export const tarballLimits: Limits = { packedBytes: 64 * mebibyte, bytes: 256 * mebibyte, files: 20_000 };

/** Of one file whose text is read. */
const maxTextBytes = mebibyte;

export interface Tarball {
  readonly manifest: Manifest & { readonly name: string; readonly version: string };
  /** `sha512-...`, as in the lock file of npm. */
  readonly integrity: string;
  /** Unpacked. */
  readonly bytes: number;
  readonly files: number;
  /** The texts of the modules, without those of libraries that the package contains. */
  readonly modules: readonly string[];
}

/** The tarball cannot be the package of a plugin. The message is a reason without a full stop. */
export class UnusableTarball extends Error {}

const refuse = (reason: string): never => {
  throw new UnusableTarball(reason);
};

/**
 * Throws `UnusableTarball`. `copyTo` receives another archive of exactly the files that were read and checked here:
 * programs differ in how they read an archive that was made to deceive, so npm does not get the original.
 */
export async function readTarball(
  file: string,
  { limits = tarballLimits, copyTo }: { readonly limits?: Limits; readonly copyTo?: string } = {},
): Promise<Tarball> {
  const { size } = await stat(file);
  if (size > limits.packedBytes) refuse(`it has more than ${limits.packedBytes / mebibyte} MiB`);
  const packed = await readFile(file);
  const integrity = `sha512-${createHash("sha512").update(packed).digest("base64")}`;
  const copy = copyTo === undefined ? undefined : createArchive(copyTo);
  try {
    const contents = await contentsOf(readArchive([packed], { bytes: limits.bytes, entries: limits.files }), copy);
    await copy?.finish();
    return { ...contents, integrity };
  } catch (error) {
    await copy?.abort();
    if (error instanceof UnusableTarball) throw error;
    if (error instanceof UnsafeArchive) return refuse(error.message);
    return refuse(`it is not the tarball of a package (${faultOf(error)})`);
  }
}

async function contentsOf(
  entries: AsyncIterable<ArchiveEntry>,
  copy: ArchiveWriter | undefined,
): Promise<Omit<Tarball, "integrity">> {
  let [bytes, files] = [0, 0];
  let manifest: string | undefined;
  let folder: string | undefined;
  const modules: string[] = [];
  for await (const { name, size, isDirectory, isExecutable, content } of entries) {
    const [first = "", ...rest] = name.split("/");
    folder ??= first;
    const path = rest.join("/");
    // npm takes the first folder off each path, whatever its name.
    if (first !== folder || (path === "" && !isDirectory)) refuse(`${shownName(name)} in it is not in its folder`);
    if (/[. ](?:\/|$)/.test(path)) refuse(`${shownName(name)} in it ends with a space or a full stop`);
    if (isDirectory) continue;
    const isRead = (path === manifestName || isModule(path)) && size <= maxTextBytes;
    const text: Uint8Array[] | undefined = isRead ? [] : undefined;
    const mode = isExecutable ? 0o755 : 0o644;
    const read = collected(content, text);
    if (copy === undefined) for await (const _ of read);
    else await copy.add({ name: `package/${path}`, size, mode, modifiedAt: new Date(0) }, read);
    bytes += size;
    files += 1;
    const whole = Buffer.concat(text ?? []).toString("utf8");
    if (path === manifestName) manifest = whole;
    else if (text !== undefined) modules.push(whole);
  }
  if (manifest === undefined) return refuse("it contains no package.json");
  return { manifest: readManifest(manifest), bytes, files, modules };
}

async function* collected(
  content: AsyncIterable<Uint8Array>,
  into: Uint8Array[] | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    into?.push(chunk);
    yield chunk;
  }
}

const manifestName = "package.json";
const isModule = (path: string) => /\.[cm]?[jt]s$/.test(path) && !/(?:^|\/)node_modules\//.test(path);

const packageName = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;

/** Whether npm accepts it as the name of a package. */
export const isPackageName = (name: string): boolean =>
  name.length <= 214 && packageName.test(name) && !/^(?:node_modules|favicon\.ico|-.*)$/.test(name);

export const isVersion = (version: string): boolean => /^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/.test(version);

function readManifest(text: string): Tarball["manifest"] {
  const value = parseJsonText(text);
  if (value === undefined) return refuse("its package.json is not JSON");
  const manifest = value as Partial<Tarball["manifest"]> | null;
  const { name, version } = manifest ?? {};
  if (typeof name !== "string" || !isPackageName(name)) return refuse("its package.json has no valid name");
  if (typeof version !== "string" || !isVersion(version)) return refuse("its package.json has no valid version");
  return { ...manifest, name, version };
}
