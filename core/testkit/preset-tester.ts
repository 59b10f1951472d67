/**
 * Tests a plugin's presets: posts deliveries and compares the results, under a configuration that contains only the
 * preset.
 */
import { describe, expect, test } from "vitest";
import { checkConfig } from "../config/index.ts";
import type { Json } from "../contract/index.ts";
import { checkDeclaration, schemasOf } from "../host/index.ts";
import type { PluginDefinition } from "../sdk/contract.ts";
import {
  chooseMapping,
  compileMappings,
  hookPolicies,
  type MappedDeps,
  type MappedRun,
  MappingFailure,
  planRuns,
  visibleHeaders,
} from "../webhooks/index.ts";

/** One delivery and the expected result. */
export interface PresetCase {
  /** Default: its number. */
  readonly name?: string;
  /** The body: JSON, or a text exactly as posted (a form, plain text). */
  readonly payload: Json;
  /** Names in any case. `content-type` selects among mappings with different body types; default JSON. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Default: the path of the plugin's first preset. */
  readonly path?: string;
  /** ISO 8601; default `2026-01-02T03:04:05.678Z`. */
  readonly now?: string;
  /**
   * What runs, in order. For a run: `action` (`agent`), `message` without its wrapper and the fields of the request
   * (`name`, `sessionKey`, `deliver`, ...). For a wake: `action` (`wake`), `text` and `mode`. Only the listed fields
   * are compared, with `toMatchObject`. An empty list means that nothing runs. Or the code in the answer to the sender;
   * `not_found` if no mapping takes the delivery.
   */
  readonly expect: readonly object[] | { readonly code: string };
}

/** Tests a plugin with presets, inside a vitest file. */
export interface PresetTester {
  /**
   * Defines one test for each case, and one that checks the declaration, in a `describe` named after the plugin's id.
   * Uses the default policy and only the agent `main`; generated session keys begin with `hook:test-`. The call itself
   * never throws: a violation is a failing test.
   *
   * @example
   * presetTester.run(uptime, [
   *   {
   *     payload: { monitor: "site", status: "down" },
   *     expect: [{ message: "site is down", sessionKey: "hook:uptime:site" }],
   *   },
   *   { payload: "no JSON", expect: { code: "invalid_json" } },
   * ]);
   */
  run(plugin: PluginDefinition, cases: readonly PresetCase[]): void;
}

/**
 * Tests a plugin's presets with deliveries and their expected results.
 *
 * @example
 * presetTester.run(uptime, [{ payload: { monitor: "site" }, expect: [{ name: "Uptime" }] }]);
 */
export const presetTester: PresetTester = {
  run(plugin, cases) {
    describe(plugin.id, () => {
      test("the declaration is valid", () => {
        expect(checkDeclaration(plugin.id, plugin)).toBe(plugin);
        expect(compile(plugin).table.problems).toEqual([]);
      });
      for (const [index, one] of cases.entries()) {
        test(one.name ?? `case ${index + 1}`, async () => {
          expect(await outcomeOf(plugin, one)).toMatchObject(one.expect);
        });
      }
    });
  },
};

function compile(plugin: PluginDefinition) {
  const { presets = [] } = plugin;
  const text = JSON.stringify({ hooks: { presets: presets.map(({ id }) => id) } });
  const { config, problems } = checkConfig({ text, file: "preset.json", env: {}, schemas: schemasOf([plugin]) });
  const policies = hookPolicies(() => config, {
    channels: () => [],
    available: () => false,
    meant: () => undefined,
    platformProblem: () => undefined,
  });
  const table = compileMappings({
    ...policies,
    hooks: config.hooks,
    problems,
    presets: new Map(presets.map((preset) => [preset.id, preset])),
    secret: String,
    checkTransform: () => undefined,
  });
  let ids = 0;
  const deps: MappedDeps = {
    ...policies,
    channels: { ...policies.channels, hasLastRecipient: async () => false },
    settings: () => config.hooks,
    newId() {
      ids += 1;
      return `test-${ids}`;
    },
    transform: async () => undefined,
  };
  return { table, deps };
}

async function outcomeOf(plugin: PluginDefinition, one: PresetCase): Promise<unknown> {
  const { table, deps } = compile(plugin);
  const headers = Object.fromEntries(
    Object.entries(one.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const path = one.path ?? plugin.presets?.[0]?.path ?? "";
  const body = Buffer.from(typeof one.payload === "string" ? one.payload : JSON.stringify(one.payload));
  const query = Object.assign(Object.create(null), one.query);
  const posted = {
    path,
    body,
    query,
    type: headers,
    headers: visibleHeaders(headers, table.hiddenHeaders),
    now: one.now ?? "2026-01-02T03:04:05.678Z",
  };
  try {
    const chosen = chooseMapping(table.way(path).mappings, posted);
    if (chosen === undefined) return { code: "not_found" };
    return (await planRuns(chosen.mapping, chosen.delivery, deps)).runs.map(describeRun);
  } catch (error) {
    const code = error instanceof MappingFailure ? error.problem.code : (error as { readonly code?: unknown }).code;
    if (typeof code !== "string") throw error;
    return { code };
  }
}

function describeRun(run: MappedRun): object {
  return run.action === "wake"
    ? { action: run.action, ...run.wake }
    : { action: run.action, message: run.asked.message, ...run.asked.request };
}
