/** The variables that the configuration needs, in a file for the service, which does not see those of a shell. */
import { existsSync, readFileSync } from "node:fs";
import { isRecord } from "../../config/checking/validate.ts";
import { knownProviderIds } from "../../config/known-providers.ts";
import { providerSettings } from "../../config/model-providers.ts";
import { usesProvider } from "../../config/used-providers.ts";
import { writeWhole } from "../../state/directory.ts";
import type { CommandContext } from "../context.ts";
import { loadDeclared, readyPlugins } from "../plugins/declarations.ts";

const head = "# Variables for the gateway's service, such as keys. Restart it after a change.";

/** Adds what this shell has and the file has not. Resolves with the names. Existing lines stay. */
export async function writeEnvironment(context: CommandContext, file: string): Promise<readonly string[]> {
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  const has = (name: string) => new RegExp(`^\\s*(?:export\\s+)?${name}=`, "m").test(before);
  const added = [...(await neededVariables(context))].filter((name) => !has(name) && isUsable(context.env[name]));
  if (added.length === 0) return [];
  const start = before === "" ? `${head}\n` : before.endsWith("\n") ? before : `${before}\n`;
  const lines = added.map((name) => `${name}=${quoted(context.env[name] ?? "")}\n`);
  writeWhole(file, start + lines.join(""));
  return added;
}

/** A value with line breaks cannot be in such a file. */
const isUsable = (value: string | undefined): boolean => value !== undefined && value !== "" && !/[\r\n]/.test(value);

/** Single quotes have the same meaning for systemd and for Node. */
const quoted = (value: string): string =>
  value.includes("'") ? `"${value.replace(/["\\$`]/g, "\\$&")}"` : `'${value}'`;

async function neededVariables(context: CommandContext): Promise<ReadonlySet<string>> {
  const { loaded, declared } = await loadDeclared(context);
  const names = new Set<string>(namedIn(loaded.written));
  for (const id of knownProviderIds) {
    const settings = usesProvider(loaded.config, id) ? providerSettings(loaded.config, id) : undefined;
    if (settings?.apiKey === undefined && settings?.keyVariable !== undefined) names.add(settings.keyVariable);
  }
  for (const { channel } of readyPlugins(declared))
    if (channel !== undefined && Object.hasOwn(loaded.config.channels, channel.id))
      for (const name of Object.values(channel.environment ?? {})) names.add(name);
  return names;
}

/** Each `{ "env": "NAME" }` of the file. */
function* namedIn(value: unknown): Generator<string> {
  if (Array.isArray(value)) for (const item of value) yield* namedIn(item);
  if (!isRecord(value)) return;
  if (typeof value.env === "string") yield value.env;
  for (const item of Object.values(value)) yield* namedIn(item);
}
