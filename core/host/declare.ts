/**
 * Checks what a plugin declares before any other code of the plugin runs, and the order in which plugins need each
 * other.
 */
import type { PluginDefinition } from "../sdk/contract.ts";
import { checkMembers } from "./declaration/members.ts";
import { checkPresets } from "./declaration/presets.ts";
import { checkSections } from "./declaration/sections.ts";

/** The default export as a declaration. Throws a `PluginError` with the plugin's name and the problem. */
export function checkDeclaration(name: string, exported: unknown): PluginDefinition {
  const definition = checkMembers(name, exported);
  checkPresets(definition);
  checkSections(definition);
  return definition;
}

/** Sorts plugins so that required ones come first, and returns those whose requirements are missing. */
export function inRequiredOrder<T extends { readonly definition: PluginDefinition }>(
  plugins: readonly T[],
): { readonly ordered: readonly T[]; readonly missing: ReadonlyMap<T, string> } {
  const ordered: T[] = [];
  const placed = new Set<string>();
  let rest = [...plugins];
  for (;;) {
    const ready = rest.filter((plugin) => (plugin.definition.requires ?? []).every((id) => placed.has(id)));
    if (ready.length === 0) break;
    for (const plugin of ready) {
      ordered.push(plugin);
      placed.add(plugin.definition.id);
    }
    rest = rest.filter((plugin) => !ready.includes(plugin));
  }
  const missing = new Map(
    rest.map((plugin) => [plugin, (plugin.definition.requires ?? []).find((id) => !placed.has(id)) ?? ""]),
  );
  return { ordered, missing };
}
