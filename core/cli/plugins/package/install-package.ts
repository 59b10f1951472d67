/** Installs the tarball of a package into a folder of its own, with the libraries that it needs. */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import satisfies from "semver/functions/satisfies.js";
import { packageVersion } from "../../../contract/package.ts";
import { product } from "../../../contract/product.ts";
import { type NpmPlace, refused, takeLocal, tarballName } from "./fetch-package.ts";
import { runNpm } from "./npm.ts";
import { readManifest } from "./plugin-package.ts";
import type { Tarball } from "./tarball.ts";

/** What a package is, as far as it can be seen without running its code. */
export interface PackageFacts {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** On the disk, with its libraries. */
  readonly bytes: number;
  /** `name version` of each library. */
  readonly libraries: readonly string[];
  /** Modules of the SDK that it imports. */
  readonly doors: readonly string[];
  /** Modules of Node that it imports. */
  readonly node: readonly string[];
  /** Packages whose install scripts were not run. */
  readonly scripts: readonly string[];
}

/** A range, a tag or an alias; not an address, a repository or a path. */
const fromRegistry = /^(?:[^:/]*|npm:(?:@[^:/]+\/)?[^:/]+)$/;

/** Throws `plugin_refused` before npm runs, if the package cannot be a plugin of this program. */
export function checkManifest({ manifest }: Tarball): void {
  const { name, dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = manifest;
  const range = peerDependencies[product.packageName];
  if (range !== undefined && !satisfies(packageVersion(), range))
    throw refused(
      name,
      `it requires ${product.packageName} ${range}, and this is ${packageVersion()}`,
      "Update this program, or add another version of the plugin.",
    );
  const foreign = Object.entries({ ...dependencies, ...optionalDependencies }).find(
    ([, wanted]) => !fromRegistry.test(String(wanted)),
  );
  if (foreign !== undefined)
    throw refused(name, `its dependency ${foreign[0]} comes from ${foreign[1]}, and not from a registry`);
}

/** `directory` contains the tarball. Throws `npm_failed`. */
export async function installPackage(
  { manifest: { name, version }, modules }: Tarball,
  { directory, ...place }: NpmPlace & { readonly directory: string },
): Promise<PackageFacts> {
  writeFileSync(join(directory, "package.json"), `${JSON.stringify({ private: true })}\n`);
  const what = `${name}@${version}`;
  await runNpm(
    [
      ...["install", `./${tarballName}`, "--save=true", "--package-lock=true", "--omit=dev"],
      ...["--install-strategy=hoisted", "--no-audit", "--no-fund"],
      // Libraries of libraries, too, come from a registry.
      ...["--allow-git=none", "--allow-remote=none"],
    ],
    { action: `install ${what}`, what, directory, ...place },
  );
  const folder = join(directory, "node_modules", name);
  const isThere = existsSync(join(folder, "package.json")) && lstatSync(folder).isDirectory();
  const installed = isThere ? readManifest(join(folder, "package.json")) : undefined;
  if (installed?.name !== name || installed.version !== version)
    throw refused(name, "npm has not installed what its tarball contains");
  return { name, version, ...factsOf(directory, name), ...importsOf(modules), licence: licenceOf(installed.license) };
}

/** Takes a tarball apart below a directory, to look at it. */
export async function installTarball(
  path: string,
  { directory, ...place }: NpmPlace & { readonly directory: string },
): Promise<{ readonly name: string; readonly directory: string }> {
  const stage = join(directory, "package");
  mkdirSync(stage);
  const tarball = await takeLocal({ kind: "tarball", path }, { directory: stage, ...place });
  checkManifest(tarball);
  await installPackage(tarball, { directory: stage, ...place });
  return { name: tarball.manifest.name, directory: stage };
}

function licenceOf(given: unknown): string {
  const text = typeof given === "object" && given !== null && "type" in given ? given.type : given;
  return typeof text === "string" && text.trim() !== "" ? text : "none";
}

interface LockedPackage {
  readonly version?: string;
  readonly hasInstallScript?: boolean;
}

function factsOf(directory: string, name: string): Pick<PackageFacts, "bytes" | "libraries" | "scripts"> {
  const { packages = {} } = JSON.parse(readFileSync(join(directory, "package-lock.json"), "utf8")) as {
    readonly packages?: Readonly<Record<string, LockedPackage>>;
  };
  const all = Object.entries(packages)
    .filter(([path]) => path !== "" && existsSync(join(directory, path)))
    .map(([path, locked]) => ({ name: path.replace(/^.*node_modules\//, ""), path, ...locked }));
  return {
    bytes: bytesBelow(join(directory, "node_modules")),
    libraries: all.filter(({ path }) => path !== `node_modules/${name}`).map((one) => `${one.name} ${one.version}`),
    scripts: all.filter(({ hasInstallScript }) => hasInstallScript === true).map((one) => one.name),
  };
}

const bytesBelow = (directory: string): number =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0);

const imported = /(?:\bfrom\s*|\bimport\s*(?:\(\s*)?|\brequire\s*\(\s*)["']([^"'\n]+)["']/g;

/** By the texts of its own modules; what its libraries import is not looked at. */
export function importsOf(modules: readonly string[]): Pick<PackageFacts, "doors" | "node"> {
  const names = new Set(modules.flatMap((text) => [...text.matchAll(imported)].map(([, name = ""]) => name)));
  const all = [...names].sort();
  return {
    doors: all.filter((name) => name.startsWith(`${product.packageName}/`)),
    node: all.filter((name) => isBuiltin(name)).map((name) => name.replace(/^node:/, "")),
  };
}
