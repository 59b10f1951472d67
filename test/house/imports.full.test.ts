import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type IConfiguration, type ICruiseResult, cruise as runCruiser } from "dependency-cruiser";
import { describe, expect, test } from "vitest";
import { root } from "./sources.ts";

type Pattern = string | readonly string[];

interface Rule {
  readonly name: string;
  readonly from: { readonly path?: Pattern; readonly pathNot?: Pattern };
  readonly to: { readonly path?: Pattern };
}

const configuration: Required<IConfiguration> = createRequire(import.meta.url)("../../.dependency-cruiser.cjs");
const forbidden = configuration.forbidden as unknown as readonly Rule[];

async function cruise(directory: string): Promise<ICruiseResult> {
  const { options, ...ruleSet } = configuration;
  const { enhancedResolveOptions, ...cruiseOptions } = options;
  const folders = ["core", "plugins", "transforms", "examples", "bench"].filter((folder) =>
    existsSync(join(directory, folder)),
  );
  const { output } = await runCruiser(
    folders,
    { ...cruiseOptions, baseDir: directory, ruleSet, validate: true },
    { ...enhancedResolveOptions },
  );
  return output as ICruiseResult;
}

let cruised: Promise<ICruiseResult> | undefined;
/** The house itself; asked once. */
const house = (): Promise<ICruiseResult> => {
  cruised ??= cruise(root);
  return cruised;
};

const patterns = (value: Pattern | undefined) => (value === undefined ? [] : [value].flat());

describe("import rules", () => {
  test("the import checker understands TypeScript types, re-exports and dynamic imports", async () => {
    const directory = mkdtempSync(join(tmpdir(), "house-"));
    try {
      mkdirSync(join(directory, "core"));
      writeFileSync(join(directory, "package.json"), "{}");
      for (const name of ["a", "b", "c", "d", "e", "f"])
        writeFileSync(join(directory, "core", `${name}.ts`), "export type T = string;\n");
      const source = [
        'import { a } from "./a.ts";',
        'import type { T } from "./b.ts";',
        'import {\n  type T as C,\n} from "./c.ts";',
        'export * from "./d.ts";',
        'import "./e.ts";',
        'const f = await import("./f.ts");',
        "console.log(a as T as C, f);",
      ].join("\n");
      writeFileSync(join(directory, "core", "index.ts"), source);
      const { modules } = await cruise(directory);
      const seen = modules
        .find((module) => module.source === "core/index.ts")
        ?.dependencies.map(({ resolved }) => resolved);
      expect(seen?.sort()).toEqual(["a", "b", "c", "d", "e", "f"].map((name) => `core/${name}.ts`));
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  test("each rule still matches files, so a moved directory cannot disable it", async () => {
    const { modules } = await house();
    const files = modules.map((module) => module.source);
    const targets = new Set([
      ...files,
      ...modules.flatMap((module) => module.dependencies.map((dependency) => dependency.resolved)),
    ]);
    const idle = forbidden.flatMap(({ name, from, to }) => {
      const alternatives = [...patterns(from.path), ...patterns(from.pathNot)].flatMap((pattern) =>
        pattern.split("|^"),
      );
      const unmatched =
        alternatives.length > 0 &&
        !patterns(from.path).some((pattern) => files.some((file) => new RegExp(pattern).test(file)));
      const importers = name.startsWith("one-importer") ? patterns(from.pathNot) : [];
      const gone =
        importers.length > 0 && !importers.some((pattern) => files.some((file) => new RegExp(pattern).test(file)));
      const package_ = name.startsWith("one-importer") ? patterns(to.path) : [];
      const unused =
        package_.length > 0 &&
        ![...targets].some((target) => package_.some((pattern) => new RegExp(pattern).test(target)));
      return unmatched || gone || unused ? [name] : [];
    });
    expect(idle).toEqual([]);
  });

  test("each rule reports a file that breaks it", async () => {
    const directory = mkdtempSync(join(tmpdir(), "house-"));
    const write = (path: string, text = "export {};\n") => {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), text);
    };
    const packages = [
      "tapable",
      "jiti",
      "pino",
      "fastify",
      "grammy",
      "ipaddr.js",
      "ai",
      "@ai-sdk/mcp",
      "commander",
      "croner",
      "modern-tar",
      "pg",
      "quickjs-emscripten-core",
    ];
    try {
      write("package.json", JSON.stringify({ name: "x", dependencies: { pino: "1" }, devDependencies: { dev: "1" } }));
      for (const id of [...packages, "dev"]) {
        write(`node_modules/${id}/package.json`, JSON.stringify({ name: id, version: "1.0.0", main: "index.js" }));
        write(`node_modules/${id}/index.js`, "");
      }
      write("core/contract/types.ts", 'import type { A } from "./errors.ts";\n');
      write("core/contract/errors.ts", 'import type { B } from "./types.ts";\n');
      for (const name of forbidden.flatMap((rule) =>
        rule.name.startsWith("goes-down-") ? [rule.name.slice("goes-down-".length)] : [],
      ))
        write(`core/${name}/broken.ts`, 'import "../penthouse/index.ts";\n');
      const doors = forbidden.flatMap((rule) =>
        rule.name.startsWith("door-of-") ? [rule.name.slice("door-of-".length)] : [],
      );
      for (const room of doors) write(`core/${room}/inside.ts`);
      write("core/penthouse/guest.ts", doors.map((room) => `import "../${room}/inside.ts";\n`).join(""));
      write("core/penthouse/index.ts");
      write("core/webhooks/one/a.ts", 'import "../two/b.ts";\n');
      write("core/webhooks/two/b.ts");
      write("core/webhooks/two/c.ts", 'import "../one/d.ts";\n');
      write("core/webhooks/one/d.ts");
      write(
        "core/gateway/gateway.ts",
        'import "./lost.ts";\nimport "dev";\nimport type {} from "service-gateway/sdk";\n',
      );
      write("core/path/index.ts");
      write("core/path/turn.ts");
      write("core/sdk/contract.ts");
      write("core/cli/status.ts");
      write("core/state/store.ts", 'import "./sqlite/index.ts";\nimport "../cli/status.ts";\n');
      write("core/state/sqlite/index.ts", 'import "../../path/index.ts";\nimport "../../path/turn.ts";\n');
      write("core/media/outbound.ts", 'import "../cli/status.ts";\n');
      write("core/agents/fetch.ts", 'import "../media/outbound.ts";\n');
      write("core/orphan.ts");
      write("core/many.ts", [...packages, "node:sqlite"].map((id) => `import "${id}";\n`).join(""));
      write("core/uses-plugin.ts", 'import type { P } from "../plugins/one/index.ts";\nimport "./many.ts";\n');
      write(
        "plugins/one/index.ts",
        'import type { S } from "../../core/sdk/contract.ts";\nimport "../two/index.ts";\n',
      );
      write("plugins/two/index.ts");
      const { summary } = await cruise(directory);
      const fired = new Set(summary.violations.map((violation) => violation.rule.name));
      expect(forbidden.map((rule) => rule.name).filter((name) => !fired.has(name))).toEqual([]);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  test("the rooms, layers and dependencies of core stay few enough to follow", async () => {
    const { modules } = await house();
    const roomOf = (file: string) => /^core\/([^/.]+)/.exec(file)?.[1];
    const below = new Map<string, Set<string>>();
    for (const { source, dependencies } of modules) {
      const from = roomOf(source);
      if (from === undefined) continue;
      const rooms = below.get(from) ?? new Set();
      below.set(from, rooms);
      for (const { resolved } of dependencies) {
        const to = roomOf(resolved);
        if (to !== undefined && to !== from) rooms.add(to);
      }
    }
    const floorOf = (room: string): number => Math.max(-1, ...[...(below.get(room) ?? [])].map(floorOf)) + 1;
    const floors = Math.max(...[...below.keys()].map(floorOf)) + 1;
    // Every room with a source of its own hears it through `listeners`, which imports nothing: these arrows tell a
    // reader nothing.
    const arrows = [...below.values()].reduce(
      (sum, rooms) => sum + [...rooms].filter((room) => room !== "listeners").length,
      0,
    );
    expect(below.size).toBeLessThanOrEqual(28);
    expect(floors).toBeLessThanOrEqual(13);
    expect(arrows).toBeLessThanOrEqual(162);
  });

  test("the repository follows its rules", async () => {
    const { summary } = await house();
    expect(summary.violations.map((violation) => `${violation.rule.name}: ${violation.from}`)).toEqual([]);
  });
});
