/** What is wrong with the package of a plugin: what npm would publish, and what it depends on. */
import { execFile } from "node:child_process";
import { relative } from "node:path";
import { promisify } from "node:util";
import satisfies from "semver/functions/satisfies.js";
import { reasonOf } from "../../../contract/errors.ts";
import { packageVersion } from "../../../contract/package.ts";
import { product } from "../../../contract/product.ts";
import type { PluginDefinition } from "../../../sdk/contract.ts";
import type { Manifest, PluginPackage } from "../package/plugin-package.ts";
import { type Finding, finding } from "./finding.ts";
import { licenceFindings } from "./licences.ts";
import { placeOfText } from "./source-place.ts";

const secretFile =
  /(?:^|\/)(?:\.env(?:\..+)?|\.npmrc|\.netrc|id_(?:rsa|ed25519|ecdsa)|[^/]+\.(?:pem|key|p12|pfx|keystore))$/i;
const testFile = /(?:^|\/)(?:tests?|__tests__)\/|\.(?:test|spec)\.[cm]?[jt]sx?$/;

/** Before any of its code runs. */
export function rangeFindings({ file, manifest }: PluginPackage): readonly Finding[] {
  const range = manifest.peerDependencies?.[product.packageName];
  const version = packageVersion();
  if (range === undefined || satisfies(version, range)) return [];
  const required = `${product.packageName} ${range}`;
  const message = `The package requires ${required}, but this is ${version}, so its code was not run`;
  return [finding("host-range", message, placeOfText(new RegExp(`"${product.packageName}"`), file))];
}

export async function packageFindings(
  { file, folder, manifest }: PluginPackage,
  entry: string,
  declared: PluginDefinition,
): Promise<readonly Finding[]> {
  return [
    ...(await contentFindings({ file, folder, manifest }, entry)),
    ...peerFindings(manifest, file),
    ...(manifest.version === undefined || manifest.version === declared.version
      ? []
      : [
          finding(
            "package-version",
            `The package has version ${manifest.version}, its declaration ${declared.version}`,
            placeOfText(/^\s*"version"\s*:/, file),
          ),
        ]),
    ...licenceFindings({ file, folder, manifest }),
  ];
}

async function contentFindings({ file, folder }: PluginPackage, entry: string): Promise<readonly Finding[]> {
  let packed: readonly string[];
  try {
    packed = await packedFiles(folder);
  } catch (error) {
    return [
      finding("package-not-read", `npm cannot list the contents of the package: ${reasonOf(error)}`, { file, line: 1 }),
    ];
  }
  const at = placeOfText(/^\s*"files"\s*:/, file);
  const main = relative(folder, entry).replaceAll("\\", "/");
  const tests = packed.filter((path) => testFile.test(path));
  return [
    ...(packed.includes(main) ? [] : [finding("package-entry", `The package does not contain its entry ${main}`, at)]),
    ...packed
      .filter((path) => secretFile.test(path))
      .map((path) => finding("package-secret", `The package contains ${path}`, at)),
    ...(tests.length === 0 ? [] : [finding("package-tests", `The package contains ${countOf(tests)}`, at)]),
  ];
}

const countOf = ([first = "", ...more]: readonly string[]) =>
  more.length === 0 ? first : `${first} and ${more.length} more test files`;

/** What npm says, which reads `files`, ignore files and its own lists; scripts of the package do not run. */
async function packedFiles(folder: string): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 64 * 1_024 * 1_024,
    shell: process.platform === "win32",
  });
  // Newer versions of npm name the package instead of listing it.
  const [packed] = Object.values(
    JSON.parse(stdout) as Readonly<Record<string, { readonly files: readonly { readonly path: string }[] }>>,
  );
  return (packed?.files ?? []).map(({ path }) => path);
}

function peerFindings(
  { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} }: Manifest,
  file: string,
): readonly Finding[] {
  const name = product.packageName;
  const at = placeOfText(new RegExp(`"(?:${name}|peerDependencies|name)"\\s*:`), file);
  if (dependencies[name] !== undefined)
    return [finding("package-peer", `The package installs its own copy of ${name}`, at)];
  if (peerDependencies[name] === undefined)
    return [finding("package-peer", `The package does not declare which ${name} it works with`, at)];
  if (peerDependenciesMeta[name]?.optional === true) return [];
  return [
    finding("package-peer", `npm installs a second ${name} beside the plugin, because the peer is not optional`, at),
  ];
}
