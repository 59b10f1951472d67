/** Reads the tarball of a package, and writes one of what was checked into a folder. Nothing is unpacked. */
import { rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { isRecord } from "../../../config/checking/validate.ts";
import { HostError } from "../../../contract/errors.ts";
import { type NpmCall, runNpm } from "./npm.ts";
import type { PackageSource } from "./package-source.ts";
import { isVersion, readTarball, type Tarball, tarballLimits, UnusableTarball } from "./tarball.ts";

/** The name of a tarball in its stage, which npm installs. */
export const tarballName = "package.tgz";
/** As npm has downloaded or packed it. */
const receivedName = "received.tgz";

export type NpmPlace = Pick<NpmCall, "env" | "signal">;

/** What the registry says of one version. */
export interface Published {
  readonly name: string;
  readonly version: string;
  readonly integrity: string | undefined;
  /** What it needs of this program. */
  readonly peers: Readonly<Record<string, string>>;
}

const mebibyte = 1_024 * 1_024;

/** Asks the registry which version is meant; without a version, the latest. */
export async function askRegistry(
  { name, version = "latest" }: Pick<Extract<PackageSource, { kind: "registry" }>, "name" | "version">,
  { directory, ...place }: NpmPlace & { readonly directory: string },
): Promise<Published> {
  const what = version === "latest" ? name : `${name}@${version}`;
  const call = { action: `ask the registry for ${what}`, what, directory, ...place };
  const fields = ["name", "version", "dist", "peerDependencies"];
  const answer = await runNpm(["view", `${name}@${version}`, ...fields], call);
  const found = isRecord(answer) ? answer : {};
  const dist = isRecord(found.dist) ? found.dist : {};
  if (found.name !== name || typeof found.version !== "string" || !isVersion(found.version))
    throw new HostError("npm_failed", {
      action: call.action,
      reason:
        answer === undefined ? `the registry has no such version of ${name}` : "its answer is not of this package",
      fix: "Check the name and the version.",
    });
  if (typeof dist.unpackedSize === "number" && dist.unpackedSize > tarballLimits.bytes)
    throw refused(name, `it unpacks to more than ${tarballLimits.bytes / mebibyte} MiB`);
  const peers = isRecord(found.peerDependencies) ? (found.peerDependencies as Published["peers"]) : {};
  const integrity = typeof dist.integrity === "string" ? dist.integrity : undefined;
  return { name, version: found.version, integrity, peers };
}

/** Throws `npm_failed`, or `plugin_refused` for a tarball that is not what the registry has recorded. */
export async function downloadPublished(
  { name, version, integrity }: Published,
  { directory, ...place }: NpmPlace & { readonly directory: string },
): Promise<Tarball> {
  const what = `${name}@${version}`;
  await packInto(what, { action: `download ${what}`, what, directory, ...place }, directory);
  const tarball = await readReceived(what, directory);
  const isSame = tarball.manifest.name === name && tarball.manifest.version === version;
  if (!isSame) throw refused(what, `its tarball is ${tarball.manifest.name} ${tarball.manifest.version}`);
  // Without it, the registry is older than such checksums; npm has compared what there is.
  if (integrity !== undefined && !integrity.split(/\s+/).includes(tarball.integrity))
    throw refused(what, "its content is not what the registry has recorded (integrity mismatch)");
  return tarball;
}

/** From this machine. A folder is packed as its author would do it, but no script of it runs. */
export async function takeLocal(
  { kind, path }: Extract<PackageSource, { readonly path: string }>,
  { directory, ...place }: NpmPlace & { readonly directory: string },
): Promise<Tarball> {
  const what = basename(path);
  if (kind === "tarball") return await readPackage(what, path, directory);
  await packInto(undefined, { action: `pack ${path}`, what, directory: path, ...place }, directory);
  return await readReceived(what, directory);
}

/** `undefined` packs the folder in which npm runs. */
async function packInto(what: string | undefined, call: NpmCall, destination: string): Promise<void> {
  const packed = await runNpm(
    ["pack", ...(what === undefined ? [] : [what]), `--pack-destination=${destination}`],
    call,
  );
  const [first] = Object.values((packed ?? {}) as Readonly<Record<string, { readonly filename?: string }>>);
  // The name that npm prints for a scope is not that of the file.
  const file = (first?.filename ?? "").replace("@", "").replaceAll("/", "-");
  await rename(join(destination, file), join(destination, receivedName));
}

async function readReceived(what: string, directory: string): Promise<Tarball> {
  const file = join(directory, receivedName);
  const tarball = await readPackage(what, file, directory);
  await rm(file);
  return tarball;
}

async function readPackage(what: string, file: string, directory: string): Promise<Tarball> {
  try {
    return await readTarball(file, { copyTo: join(directory, tarballName) });
  } catch (error) {
    if (error instanceof UnusableTarball) throw refused(what, error.message);
    throw error;
  }
}

export const refused = (plugin: string, reason: string, fix = "Ask its author."): HostError =>
  new HostError("plugin_refused", { plugin, reason, fix });
