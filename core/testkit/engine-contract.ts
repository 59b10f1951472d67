/** The rules that every engine keeps, as tests. */
import { withEngineBench } from "./engine/bench.ts";
import type { EngineContractOptions } from "./engine/options.ts";
import { appliesToEngine, type EngineRule } from "./engine/rule.ts";
import { serverRules } from "./engine/rules/server.ts";
import { turnRules } from "./engine/rules/turn.ts";
import { defineContract } from "./skips.ts";

/** The rules that apply to an engine, depending on what its server can do. */
export function engineRules(options: EngineContractOptions): readonly EngineRule[] {
  return [...turnRules, ...serverRules].filter((rule) => appliesToEngine(rule, options));
}

/** Tries one rule on an engine of its own. */
export async function tryEngineRule(
  rule: EngineRule,
  options: EngineContractOptions,
  how: { readonly patienceMs?: number } = {},
): Promise<void> {
  await withEngineBench(options, (bench) => rule.run(bench), how);
}

/**
 * Defines the tests that an engine has to pass, as a group of vitest under its id: the stream and the end of a turn, an
 * abort, and what stays open. A model server adds requests, tools, the codes of failures, and secrets. Each test sets
 * up the plugin again. Each fault is a failing test, with a sentence that says what the contract asks.
 *
 * A test that an engine cannot pass is skipped by its title and a reason. A skip without a reason fails.
 *
 * @example
 * engineContract({
 *   engine: parrot,
 *   options: { retries: 0 },
 *   server: { can: ["hang", "unauthorized"], open: openModelServer },
 * });
 */
export function engineContract(options: EngineContractOptions): void {
  const { engine, skip } = options;
  defineContract({ id: engine.id, rules: engineRules(options), skip, attempt: (rule) => tryEngineRule(rule, options) });
}
