/** The package as `npm pack` makes it from this repository, for those who use it as its users do. */
import { execFileSync } from "node:child_process";
import { cpSync, globSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What the package holds beside what the build makes. */
const beside = [
  "package.json",
  "README.md",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "LICENSE",
  "examples",
  "plugins",
  "transforms",
];
/** What the build makes its directory of. */
const ofBuild = ["core", "plugins", ".ci", "tsconfig.json", "tsconfig.build.json", "package.json", "package-lock.json"];

/** Everything that the package is made of. */
export const packageSources: readonly string[] = [...new Set([...ofBuild, ...beside])];

/**
 * Makes the directory that is packed, and packs it, without a change to the repository's own `dist`. The types are
 * checked by `npm run check`. Returns the path of the tarball.
 */
export function packPackage(directory: string, destination: string): string {
  for (const name of beside) cpSync(join(root, name), join(directory, name), { recursive: true });
  for (const page of globSync("core/**/*.md", { cwd: root })) cpSync(join(root, page), join(directory, page));
  const dist = join(directory, "dist");
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  execFileSync(process.execPath, [tsc, "-p", join(root, "tsconfig.build.json"), "--noCheck", "--outDir", dist], {
    encoding: "utf8",
  });
  execFileSync(process.execPath, [join(root, ".ci", "build-program.cjs"), dist]);
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", destination], {
    cwd: directory,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [tarball = ""] = readdirSync(destination).filter((name) => name.endsWith(".tgz"));
  return join(destination, tarball);
}
