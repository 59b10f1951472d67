/** The public contract as a report: a change of it is seen in review, and no export goes without a description. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "./sources.ts";
import { type Declared, documentation, exportsOf, find, mentioned, signature } from "./surface.ts";

const doors = {
  "service-gateway/sdk": "core/sdk/index.ts",
  "service-gateway/sdk/channel": "core/sdk/channel.ts",
  "service-gateway/sdk/store": "core/sdk/store.ts",
  "service-gateway/sdk/reading": "core/sdk/reading.ts",
  "service-gateway/sdk/tools": "core/sdk/tools.ts",
  "service-gateway/testkit": "core/testkit/index.ts",
} as const;

const exported = Object.values(doors).flatMap((door) =>
  exportsOf(door).map((name) => ({ name, door, declared: find(door, name) })),
);

/** Types that others name, but that no door exports. */
function inner(): readonly Declared[] {
  const found = new Map<string, Declared>();
  const names = new Set(exported.map(({ name }) => name));
  const queue = exported.flatMap(({ declared }) => (declared === undefined ? [] : [declared]));
  for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
    for (const other of mentioned(one)) {
      if (names.has(other.name) || found.has(other.name)) continue;
      found.set(other.name, other);
      queue.push(other);
    }
  }
  return [...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

describe("the public contract", () => {
  test("core/sdk/SURFACE.md matches the exported API; update it with `vitest run test/house -u`", async () => {
    const block = (declared: Declared | undefined, name: string) => [
      "```ts",
      declared === undefined ? `// ${name}: from TypeBox` : signature(declared),
      "```",
    ];
    const page = [
      "# The surface of the package",
      "",
      "Everything that a plugin, a channel, a transform or a test can import, without its description, and " +
        "then the types that these name.",
      "The descriptions are in the source and in editors. A changed line here is a changed contract: see `sdkVersion`.",
      ...Object.entries(doors).flatMap(([specifier, door]) => [
        "",
        `## ${specifier}`,
        ...exported.filter((one) => one.door === door).flatMap(({ name, declared }) => ["", ...block(declared, name)]),
      ]),
      "",
      "## Types that are named by others",
      ...inner().flatMap((declared) => ["", ...block(declared, declared.name)]),
      "",
    ].join("\n");
    await expect(page).toMatchFileSnapshot(join(root, "core", "sdk", "SURFACE.md"));
  });

  test("the API stays small, with at most 40 names for plugins", () => {
    expect(exportsOf(doors["service-gateway/sdk"]).length).toBeLessThanOrEqual(40);
  });

  test("each export has a description", () => {
    const silent = exported.filter(
      ({ declared }) => declared !== undefined && !/\*\s*\S+/.test(documentation(declared)),
    );
    expect(silent.map(({ name, door }) => `${name} in ${door}`)).toEqual([]);
  });
});
