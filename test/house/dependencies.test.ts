import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { neededBy, sizesByDependency } from "../support/installed-size.ts";
import { changedSizes, recordedSizes, withoutSmall } from "./size-table.ts";
import { read, root } from "./sources.ts";

interface LockEntry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
  readonly peer?: boolean;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const lock = JSON.parse(read("package-lock.json")) as { readonly packages: Readonly<Record<string, LockEntry>> };
const { containedLibraries } = createRequire(import.meta.url)("../../.ci/contained-libraries.cjs") as {
  readonly containedLibraries: readonly string[];
};
/** Development dependencies that the build puts into the program. */
const contained = new Set(containedLibraries.flatMap((name) => [...neededBy(lock.packages, name)]));
const production = Object.entries(lock.packages).filter(
  ([path, entry]) => path !== "" && ((entry.dev !== true && entry.devOptional !== true) || contained.has(path)),
);
const installed = production.filter(([path]) => globSync(join(path, "package.json"), { cwd: root }).length > 0);

/** Other licences, each with the reason why it will do. */
const named: Readonly<Record<string, string>> = {
  "node_modules/argparse": "PSF-2.0 of the Python Software Foundation: permissive, asks for no more than its notice",
};

describe("production dependencies", () => {
  test("have permissive licenses", () => {
    const allowed = new Set(["MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "Apache-2.0", "BlueOak-1.0.0"]);
    const alternatives = (licence: string) => licence.replace(/[()]/g, "").split(" OR ");
    const licenceOf = (path: string, entry: LockEntry) =>
      entry.license ??
      (JSON.parse(readFileSync(join(root, path, "package.json"), "utf8")) as { license?: string }).license ??
      "none";
    const odd = installed.filter(
      ([path, entry]) =>
        named[path] === undefined && !alternatives(licenceOf(path, entry)).some((licence) => allowed.has(licence)),
    );
    expect(odd.map(([path, entry]) => `${path}: ${licenceOf(path, entry)}`)).toEqual([]);
  });

  test("run no install scripts", () => {
    expect(production.filter(([, entry]) => entry.hasInstallScript === true).map(([path]) => path)).toEqual([]);
  });

  test("take on disk what bench/README.md says, each with what only it needs", () => {
    const { dependencies } = JSON.parse(read("package.json")) as { readonly dependencies: object };
    const sizes = sizesByDependency(root, lock.packages, Object.keys(dependencies));
    expect(changedSizes(withoutSmall(sizes))).toEqual([]);
  });

  test("take at most 60 MB together with the program", () => {
    const recorded = [...recordedSizes().values()];
    expect(recorded.length).toBeGreaterThan(10);
    expect(recorded.reduce((sum, megabytes) => sum + megabytes)).toBeLessThanOrEqual(60);
  });

  test("are either installed with the program or contained in it", () => {
    const { dependencies, devDependencies } = JSON.parse(read("package.json")) as Record<string, object>;
    expect(containedLibraries.filter((name) => Object.hasOwn(dependencies ?? {}, name))).toEqual([]);
    expect(Object.keys(devDependencies ?? {})).toEqual(expect.arrayContaining([...containedLibraries]));
  });

  test("do not include the packages of single vendors, which users may add", () => {
    const { dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(read("package.json")) as Record<
      string,
      Readonly<Record<string, unknown>>
    >;
    const vendors = ["@ai-sdk/anthropic", "@ai-sdk/google", "@ai-sdk/openai"];
    expect(vendors.filter((name) => Object.hasOwn(dependencies ?? {}, name))).toEqual([]);
    expect(Object.keys(peerDependencies ?? {})).toEqual(expect.arrayContaining(vendors));
    const required = Object.keys(peerDependencies ?? {}).filter(
      (name) => (peerDependenciesMeta?.[name] as { readonly optional?: boolean } | undefined)?.optional !== true,
    );
    expect(required).toEqual([]);
  });

  test("are locked to the versions that package.json names", () => {
    const manifest = JSON.parse(read("package.json")) as Record<string, unknown>;
    const locked = lock.packages[""] as unknown as Record<string, unknown>;
    expect(locked.dependencies).toEqual(manifest.dependencies);
    expect(locked.devDependencies).toEqual(manifest.devDependencies);
  });
});

test("the lock file lists the packages of every platform, so npm ci works on each", () => {
  const locked = new Set(Object.keys(lock.packages).map((path) => path.replace(/^.*node_modules\//, "")));
  const optional = Object.entries(lock.packages).flatMap(([path, entry]) =>
    Object.keys(entry.optionalDependencies ?? {}).map((name) => ({ path, name })),
  );
  expect(optional.map(({ name }) => name)).toContain("@biomejs/cli-darwin-arm64");
  // A version whose platform packages the registry lacks leaves holes here: take the newest that has all.
  expect(optional.filter(({ name }) => !locked.has(name)).map(({ path, name }) => `${path} asks for ${name}`)).toEqual(
    [],
  );
});

test("the tests run on every supported line of Node", () => {
  const { engines, devDependencies } = JSON.parse(read("package.json")) as {
    readonly engines: { readonly node: string };
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  expect(engines.node).toBe(">=24.16 <25 || >=26.1");
  expect(devDependencies.node).toMatch(/^\^26\./);
  const check = read(".ci/run");
  // The newer one by npm, which puts the package's own Node first.
  expect(check).toMatch(/^attempt tests "Node 26" npm run test:all /m);
  expect(check).toMatch(/npm install [^\n]* node@24$/m);
  expect(check).toMatch(
    /^(?:TEST_LIBRARIES=installed )?PATH="\$node24:\$PATH" attempt tests "Node 24" node node_modules\/vitest\/vitest\.mjs run$/m,
  );
});
