/** The name of a new plugin: its package, its id, its key in the configuration. */
import { isBuiltin } from "node:module";
import { coreKeys } from "../../config/plugin-schemas.ts";
import { HostError } from "../../contract/errors.ts";
import { product } from "../../contract/product.ts";
import { bundledPlugins, bundledStores } from "../../host/find.ts";

/** Sources of events that no channel brings. */
const reserved: readonly string[] = ["hooks", "heartbeat", "operator"];

/**
 * A preset is an address below `hooks.path` and a key of `hooks`: the endpoints and the keys that are there without it.
 */
const reservedOfPresets: readonly string[] = [
  "agent",
  "enabled",
  "mappings",
  "path",
  "presets",
  "runs",
  "token",
  "transforms",
  "wake",
];

/** Throws one sentence when a plugin of this kind cannot have the name. */
export function checkPluginName(name: string, kind: string): void {
  const problem = problemOf(name, kind);
  if (problem !== undefined)
    throw new HostError("usage", { reason: `"${name}" cannot be the name of a plugin: ${problem}` });
}

function problemOf(name: string, kind: string): string | undefined {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name) || name.length > 64)
    return "use at most 64 of a to z, 0 to 9 and -, beginning with a letter, such as acme-chat";
  if ([...bundledPlugins(), ...bundledStores()].some((plugin) => plugin.name === name))
    return "a bundled plugin uses it";
  if (isBuiltin(name)) return "a Node module uses it";
  if (name === product.packageName || reserved.includes(name)) return "the gateway uses it itself";
  if (kind === "preset" && reservedOfPresets.includes(name)) return "the hooks of the gateway use it";
  if (kind === "plugin" && coreKeys("top").includes(wordsOf(name).section))
    return "the configuration of the gateway uses it";
  return undefined;
}

/** The forms of a name that a new package contains. */
export function wordsOf(name: string) {
  const words = name.replaceAll("-", " ");
  return {
    id: name,
    title: words.charAt(0).toUpperCase() + words.slice(1),
    /** A chat command, at most 32 characters. */
    command: name.replaceAll("-", "_").slice(0, 32),
    /** A key of the configuration. */
    section: name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
    /** Begins the names of environment variables. */
    variable: name.replaceAll("-", "_").toUpperCase(),
  };
}
