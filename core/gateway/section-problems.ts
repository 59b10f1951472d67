/** Problems in the sections of plugins that only the plugins find. */
import { agentIds, type CheckedConfig, type GatewayConfig, type Problem, renderPath } from "../config/index.ts";
import { type Json, reasonOf } from "../contract/index.ts";
import type { PluginDefinition } from "../sdk/contract.ts";

/** The time zone for people who chose none. */
export function timezoneOf({ agents }: Pick<GatewayConfig, "agents">): string {
  return agents.defaults.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The problems of one plugin's section. An error switches off the part of the section that it is in. */
export async function sectionProblems(
  { id, section }: PluginDefinition,
  { checkable }: Pick<CheckedConfig, "checkable">,
): Promise<readonly Problem[]> {
  if (section?.check === undefined) return [];
  const { key } = section;
  const settings = (checkable as unknown as Readonly<Record<string, Json | undefined>>)[key];
  if (settings === undefined || Object.keys(settings as object).length === 0) return [];
  try {
    const found = await section.check(settings, {
      agents: agentIds(checkable),
      channels: Object.keys(checkable.channels),
      timezone: timezoneOf(checkable),
      now: Date.now(),
    });
    return found.map(({ path, message, hint, warning }): Problem => {
      const problem = { path: renderPath([key, ...path]), message, hint };
      if (warning === true) return { severity: "warning", ...problem };
      return { severity: "error", ...problem, section: renderPath([key, ...path.slice(0, 1)]) };
    });
  } catch (error) {
    return [{ severity: "error", path: key, message: `the plugin ${id} could not check it: ${reasonOf(error)}` }];
  }
}
