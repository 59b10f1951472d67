/** The licences of a package and of everything that it brings. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type PluginPackage, readManifest } from "../package/plugin-package.ts";
import { type Finding, finding } from "./finding.ts";
import { literal, placeOfText } from "./source-place.ts";

/** Licences that ask something of the program as a whole. */
const copyleft = /^(?:A?GPL|SSPL|EUPL|OSL)/i;

export function licenceFindings(root: PluginPackage): readonly Finding[] {
  const own = licenceOf(root.manifest.license);
  const brought = [...broughtBy(root).values()].flatMap(({ name, manifest: { version = "", license } }) => {
    const at = placeOfText(new RegExp(`"(?:${literal(name)}|dependencies)"\\s*:`), root.file);
    const licence = licenceOf(license);
    if (licence === undefined)
      return [finding("licence-missing", `The dependency ${name} ${version} has no licence`, at)];
    if (!isCopyleft(licence)) return [];
    return [finding("licence-copyleft", `The dependency ${name} ${version} has the licence ${licence}`, at)];
  });
  return own === undefined
    ? [finding("licence-missing", "The package has no licence", { file: root.file, line: 1 }), ...brought]
    : brought;
}

function licenceOf(given: unknown): string | undefined {
  const text = typeof given === "object" && given !== null && "type" in given ? given.type : given;
  return typeof text === "string" && text.trim() !== "" && text !== "UNLICENSED" ? text : undefined;
}

/** `(MIT OR GPL-3.0)` leaves the choice. */
const isCopyleft = (licence: string) =>
  licence
    .replace(/[()]/g, "")
    .split(/\s+OR\s+/i)
    .every((choice) => choice.split(/\s+AND\s+/i).some((one) => copyleft.test(one.trim())));

interface Brought {
  readonly name: string;
  readonly manifest: PluginPackage["manifest"];
}

/** All that npm installs along, as far as it is installed, by its folder. */
function broughtBy(root: PluginPackage): ReadonlyMap<string, Brought> {
  const found = new Map<string, Brought>();
  const visit = ({ folder, manifest }: Pick<PluginPackage, "folder" | "manifest">): void => {
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      const at = installedAt(name, folder);
      if (at === undefined || found.has(at)) continue;
      const one = { name, manifest: readManifest(join(at, "package.json")) };
      found.set(at, one);
      visit({ folder: at, manifest: one.manifest });
    }
  };
  visit(root);
  return found;
}

function installedAt(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const at = join(folder, "node_modules", name);
    if (existsSync(join(at, "package.json"))) return at;
    if (folder === dirname(folder)) return undefined;
  }
}
