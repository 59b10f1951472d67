/** `plugins.load` of the configuration file; its comments stay. */
import { editConfig } from "../../../config/editing/edit.ts";
import { sync } from "../../config.ts";
import type { CommandContext } from "../../context.ts";

/** Resolves with whether the file has changed. */
export async function loadByName(name: string, context: CommandContext): Promise<boolean> {
  const { configFile, env } = context;
  const { load } = (await context.load()).config.plugins;
  if (load.includes(name)) return false;
  const [path, value] = load.length === 0 ? [["plugins", "load"], [name]] : [["plugins", "load", load.length], name];
  const { changed } = await editConfig(configFile.file, path, value, { env });
  if (changed) await sync(context);
  return changed;
}

/** Resolves with whether the file has changed. */
export async function unload(name: string, context: CommandContext): Promise<boolean> {
  const { configFile, env } = context;
  let changed = false;
  for (;;) {
    const at = (await context.load()).config.plugins.load.lastIndexOf(name);
    if (at === -1) break;
    ({ changed } = await editConfig(configFile.file, ["plugins", "load", at], undefined, { env }));
  }
  if (changed) await sync(context);
  return changed;
}
