/** What an installation takes on the disk, by the dependency that brings it. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";

interface LockEntry {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
type Lock = Readonly<Record<string, LockEntry>>;

/** A name, and MB of 1,000,000 bytes. */
export type Size = readonly [name: string, megabytes: number];

/** Every file and directory takes whole blocks, as `du` counts on most file systems. */
const block = 4096;

/** The directory itself, and what is in it and in no `node_modules`, each with its bytes on the disk. */
function* entriesIn(directory: string): Generator<{ readonly path: string; readonly bytes: number }> {
  yield { path: directory, bytes: block };
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory() && entry.name !== "node_modules") yield* entriesIn(path);
    if (entry.isFile()) yield { path, bytes: Math.ceil(statSync(path).size / block) * block };
  }
}

/** The place of a package that another one imports: below it, beside it or above it, as Node looks. */
function placeOf(lock: Lock, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("node_modules") - 1))) {
    const place = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (lock[place] !== undefined) return place;
    if (folder === "") return undefined;
  }
}

/** The places of a package and everything that it needs, in the `packages` of a lock file. */
export function neededBy(lock: Lock, name: string): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (from: string, wanted: string): void => {
    const place = placeOf(lock, from, wanted);
    if (place === undefined || found.has(place)) return;
    found.add(place);
    const { dependencies, optionalDependencies } = lock[place] ?? {};
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) visit(place, needed);
  };
  visit("", name);
  return found;
}

/** Each dependency with what only it needs, and what several need, largest first. */
export function sizesByDependency(directory: string, lock: Lock, dependencies: readonly string[]): readonly Size[] {
  const needs = new Map<string, string[]>();
  for (const name of dependencies)
    for (const place of neededBy(lock, name)) needs.set(place, [...(needs.get(place) ?? []), name]);
  const sizes = new Map<string, number>();
  for (const [place, names] of needs) {
    // A package of another platform is in the lock file only.
    if (!existsSync(join(directory, place))) continue;
    const itself = dependencies.find((name) => place === `node_modules/${name}`);
    const owner = itself ?? (names.length === 1 ? (names[0] ?? "") : "shared dependencies");
    for (const { bytes } of entriesIn(join(directory, place))) sizes.set(owner, (sizes.get(owner) ?? 0) + bytes / 1e6);
  }
  return [...sizes].sort(([, one], [, other]) => other - one);
}

/** The package itself, as it is unpacked in a directory, by what it holds. */
export function sizesOfPackage(directory: string): readonly Size[] {
  const kindOf = (path: string): string => {
    const [top, next = ""] = relative(directory, path).split(sep);
    if (path.endsWith(".d.ts")) return "declarations";
    if (top !== "dist") return "pages, examples, sources to read";
    return ["libraries", "THIRD-PARTY-LICENSES"].includes(next) ? "contained libraries" : "program";
  };
  const sizes = new Map<string, number>();
  for (const { path, bytes } of entriesIn(directory))
    sizes.set(kindOf(path), (sizes.get(kindOf(path)) ?? 0) + bytes / 1e6);
  return [...sizes].sort(([, one], [, other]) => other - one);
}

/** The installation in a directory: the package, and its dependencies as npm has placed them. */
export function sizesOfInstallation(directory: string): readonly Size[] {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(directory, "node_modules", file), "utf8"));
  const { packages } = read(".package-lock.json") as { readonly packages: Lock };
  const { dependencies } = read("service-gateway/package.json") as { readonly dependencies: object };
  return [
    ...sizesOfPackage(join(directory, "node_modules", "service-gateway")),
    ...sizesByDependency(directory, packages, Object.keys(dependencies)),
  ];
}
