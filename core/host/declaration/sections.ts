/** Checks the parts of the configuration that a plugin declares: its section, and the settings of its presets. */
import { coreKeys } from "../../config/index.ts";
import { PluginError } from "../../contract/index.ts";
import type { PluginDefinition } from "../../sdk/contract.ts";

const keyPattern = /^[a-z][a-zA-Z0-9]{0,63}$/;

export function checkSections({ id: plugin, section, presets = [] }: PluginDefinition): void {
  const refuse = (reason: string, field: string): never => {
    throw new PluginError("plugin_invalid", { plugin, reason, field });
  };
  const problem = section === undefined ? undefined : sectionProblem(section);
  if (problem !== undefined) refuse(problem, "section");
  for (const { id, settings } of presets) {
    if (settings === undefined) continue;
    const properties = (settings as { readonly properties?: unknown } | null)?.properties;
    if (typeof properties !== "object" || properties === null)
      refuse(`the settings of the preset ${id} must be a TypeBox object`, "settings");
    const taken = Object.keys(properties as object).find((key) => coreKeys("preset").includes(key));
    if (taken !== undefined)
      refuse(`the settings of the preset ${id} contain ${taken}, which every preset has`, "settings");
    if (coreKeys("hooks").includes(id))
      refuse(`the id of the preset ${id} is a key of hooks, so it cannot have settings`, "presets");
  }
}

/** The end of a sentence about the plugin. Types alone are not enough, because plugins run without a type check. */
function sectionProblem(section: unknown): string | undefined {
  if (typeof section !== "object" || section === null) return "its section must be an object with a key and a schema";
  const { key, of, schema, otherNames = [], check } = section as Readonly<Record<string, unknown>>;
  if (typeof key !== "string" || !keyPattern.test(key))
    return "the key of its section must be a to z, A to Z and 0 to 9, beginning with a lower-case letter";
  if (of !== undefined && of !== "agents") return `of, in its section ${key}, must be "agents" or absent`;
  const where = of === "agents" ? "agents" : "top";
  if (coreKeys(where).includes(key)) return `the key of its section is ${key}, which is one of the gateway's own`;
  if (typeof schema !== "object" || schema === null) return `its section ${key} has no TypeBox schema`;
  if (!Array.isArray(otherNames) || !otherNames.every((name) => typeof name === "string"))
    return `otherNames of its section ${key} must be a list of texts`;
  return check !== undefined && typeof check !== "function"
    ? `check of its section ${key} must be a function`
    : undefined;
}
