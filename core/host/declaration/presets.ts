/** Checks a plugin's presets before users can enable them, because a user cannot repair a plugin's mistake. */

import { mappingSchema, validateSection } from "../../config/index.ts";
import { PluginError } from "../../contract/index.ts";
import type { PluginDefinition, PresetDefinition, PresetMapping } from "../../sdk/contract.ts";
import { compileParts, type MappingSettings } from "../../webhooks/index.ts";

const idPattern = /^[a-z][a-z0-9-]{0,63}$/;

/** Fields that depend on the user of a mapping. */
const notForPresets = [
  "enabled",
  "transform",
  "signature",
  "agentId",
  "channel",
  "to",
  "model",
  "allowUnsafeExternalContent",
] as const;

export function checkPresets({ id: plugin, presets }: PluginDefinition): void {
  if (presets === undefined) return;
  const refuse = (reason: string): never => {
    throw new PluginError("plugin_invalid", { plugin, reason });
  };
  if (!Array.isArray(presets)) refuse("presets must be a list");
  for (const preset of presets as readonly Partial<PresetDefinition>[]) {
    const { id, path, mappings } = preset;
    if (typeof id !== "string" || !idPattern.test(id))
      refuse("the id of a preset must be a to z, 0 to 9 and -, beginning with a letter");
    if (typeof path !== "string") refuse(`the preset ${id} needs a path`);
    if (!Array.isArray(mappings) || mappings.length === 0) refuse(`the preset ${id} needs a list of mappings`);
    for (const [index, mapping] of (mappings ?? []).entries()) {
      const wrong = mistakeIn(mapping, path ?? "");
      if (wrong !== undefined) refuse(`the preset ${id}, mappings[${index}]${wrong}`);
    }
  }
}

/** Returns what is wrong, to follow the mapping's name; `undefined` if nothing is. */
function mistakeIn(mapping: PresetMapping, path: string): string | undefined {
  const foreign = notForPresets.find((field) => Object.hasOwn(Object(mapping), field));
  if (foreign !== undefined) return `.${foreign}: only a user can set that`;
  const { value, problems } = validateSection(mappingSchema, mapping, "mapping");
  const [problem] = problems;
  if (problem !== undefined) return `${problem.path.slice("mapping".length)}: ${problem.message}`;
  let mistake: string | undefined;
  const settings = { ...value, match: { ...value.match, path } } as MappingSettings;
  compileParts({ id: "", at: "", settings, placeOf: () => "" }, (setting, message) => {
    mistake ??= `.${setting.join(".")}: ${message}`;
  });
  return mistake;
}
