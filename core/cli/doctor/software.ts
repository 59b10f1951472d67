/** Checks plugins, agents, and the checks that plugins bring themselves. */
import { createMentionMatcher, mentionPatterns } from "../../access/mention.ts";
import { agentIds, agentSettings } from "../../config/agents.ts";
import { programCommand } from "../../contract/command.ts";
import type { CheckReport } from "../../host/checks.ts";
import { workerDetail } from "../../host/isolated.ts";
import { visibleLine } from "../../log/visible.ts";
import { checkUnpriced } from "./budgets.ts";
import type { CheckInput } from "./check-input.ts";
import { type Finding, orOk } from "./finding.ts";
import { wrongSkills } from "./skills.ts";

export function checkPlugins({ declared, description }: CheckInput): readonly Finding[] {
  const running = description?.plugins ?? [];
  const found = declared.flatMap(({ id, state, reason, hint }): Finding[] => {
    // An invalid declaration or option is reported as a problem of the configuration.
    const down =
      state === "ready" ? running.find((plugin) => plugin.id === id && plugin.state === "failed") : undefined;
    if (down === undefined) return [];
    const fix = down.hint ?? hint;
    return [
      {
        check: "plugins",
        verdict: "fail",
        reason: visibleLine(down.reason ?? reason ?? `the plugin ${id} failed`, 500),
        fix,
      },
    ];
  });
  for (const { id, worker } of running) {
    const ended = worker && workerDetail(worker);
    if (ended === undefined) continue;
    const fix = `Read the log lines of the plugin: ${programCommand} logs`;
    found.push({
      check: "plugins",
      verdict: worker?.state === "up" ? "warn" : "fail",
      reason: visibleLine(`${id}: ${ended}`, 500),
      fix,
    });
  }
  const count = declared.filter(({ state }) => state === "ready").length;
  return orOk(found, "plugins", `${count} of ${declared.length} are switched on`);
}

/** Longer than any check may take. */
const patienceMs = 30_000;

/** The checks that plugins bring run inside the gateway, where the plugins run. */
export async function checkByPlugins({ gateway }: CheckInput): Promise<readonly Finding[]> {
  const answer = await gateway?.call("POST", "/gateway/checks", { body: {}, patienceMs });
  if (gateway === null || answer?.ok !== true) return [];
  const { checks } = answer.body as { readonly checks: readonly CheckReport[] };
  return checks.map(({ plugin, name, verdict, reason, fix, fixable }): Finding => {
    const what = `let the plugin ${plugin} fix "${visibleLine(name, 80)}"`;
    const run = async () => {
      const mended = await gateway.call("POST", "/gateway/checks", { body: { fix: { plugin, name } }, patienceMs });
      const { checks: reports = [] } = (mended?.body ?? {}) as { readonly checks?: readonly CheckReport[] };
      const report = reports.find((one) => one.plugin === plugin && one.name === name);
      if (report?.done === undefined) throw new Error(report?.reason ?? "the gateway did not answer");
    };
    return {
      check: `${plugin}: ${visibleLine(name, 80)}`,
      verdict,
      reason: visibleLine(reason, 500),
      ...(fix === undefined ? {} : { fix: visibleLine(fix, 500) }),
      ...(fixable ? { repair: { what, edits: false, run } } : {}),
    };
  });
}

export async function checkAgents(input: CheckInput): Promise<readonly Finding[]> {
  const { loaded, accounts, description } = input;
  const { config } = loaded;
  const found: Finding[] = [];
  const check = "agents";
  const mute: string[] = [];
  for (const id of agentIds(config)) {
    const { engine, model } = agentSettings(config, id);
    if (engine === undefined && (model === undefined || (typeof model === "object" && model.primary === undefined)))
      mute.push(id);
    if (engine === undefined || description === null || description.engines.includes(engine)) continue;
    const fix = `Loaded engines: ${description.engines.join(", ")}.`;
    found.push({
      check,
      verdict: "fail",
      path: "agents",
      reason: `the agent ${id} needs the engine ${engine}, which is not loaded`,
      fix,
    });
  }
  if (mute.length > 0) {
    const reason = `no model is configured for ${mute.join(", ")}, so messages are only repeated`;
    const fix =
      `Run \`${programCommand} init\`, or set agents.defaults.model to provider/model. A provider that is known by ` +
      "name needs only its key in the environment.";
    found.push({ check, verdict: "warn", path: "agents.defaults.model", reason, fix });
  }
  found.push(...wrongPatterns(config), ...(await wrongSkills(input)), ...(await checkUnpriced(input)));
  config.bindings.forEach(({ agentId, match: { channel, accountId } }, index) => {
    if (accounts.some((one) => one.channel === channel && (accountId === undefined || one.account === accountId)))
      return;
    const where = accountId === undefined ? channel : `${channel}:${accountId}`;
    const reason =
      `bindings[${index}] routes ${visibleLine(where, 100)} to the agent ${agentId}, but that ` +
      "place is not configured";
    found.push({
      check,
      verdict: "warn",
      path: `bindings[${index}].match`,
      reason,
      fix: "Correct its channel or accountId, or remove it.",
    });
  });
  return orOk(found, check, "each agent has an engine or a model, and every binding names a configured place");
}

/** A gateway logs invalid patterns when it first checks a group message, and continues without them. */
function wrongPatterns(config: CheckInput["loaded"]["config"]): readonly Finding[] {
  const lists = new Map(
    agentIds(config)
      .map((id) => mentionPatterns(config, id))
      .map(({ path, patterns }) => [path, patterns]),
  );
  return [...lists].flatMap(([path, patterns]) =>
    createMentionMatcher(patterns).invalid.map(({ pattern, reason }): Finding => {
      const fix = "Correct it, or remove it: until then it is ignored, and the others apply.";
      const shown = visibleLine(JSON.stringify(pattern), 100);
      return {
        check: "agents",
        verdict: "warn",
        path,
        reason: `${shown} in ${path} cannot be used: ${visibleLine(reason, 300)}`,
        fix,
      };
    }),
  );
}

/** Transforms read untrusted input, so running them outside the sandbox is worth a warning. */
export function checkTransforms({ loaded }: CheckInput): readonly Finding[] {
  const { enabled, mappings, transforms } = loaded.config.hooks;
  const modules = new Set(
    enabled ? mappings.flatMap(({ transform }) => (transform === undefined ? [] : [transform.module])) : [],
  );
  if (modules.size === 0 || transforms.runtime !== "trusted") return [];
  return [
    {
      check: "transforms",
      verdict: "warn",
      reason:
        `hooks.transforms.runtime is "trusted": ${[...modules].join(", ")} can reach files, processes ` +
        "and the network of this machine",
      path: "hooks.transforms.runtime",
      fix: "Remove the key, unless you wrote these files and they need Node's own modules.",
    },
  ];
}
