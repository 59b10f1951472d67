/**
 * The repairs of `--fix` in the configuration file. Each is one edit of the syntax tree, checked before it is written.
 */
import { type EditOptions, editConfig, renameConfigKey } from "../../config/editing/edit.ts";
import { getPath, parsePath, renderPath } from "../../config/path.ts";
import type { MisnamedChannel } from "../../gateway/misnamed-channels.ts";
import { pluginProblems } from "../config.ts";
import { declaredSchemas } from "../plugins/declarations.ts";
import type { CheckInput } from "./check-input.ts";
import type { Repair } from "./finding.ts";

function editOptions({ context, declared }: CheckInput): EditOptions {
  return {
    env: context.env,
    schemas: declaredSchemas(declared),
    check: (config) => pluginProblems(declared, config, context),
  };
}

/** Replaces the name with the id; if the list already contains the id, the name is only removed. */
export function replaceEntry(
  input: CheckInput,
  { path, entry, id }: { readonly path: string; readonly entry: string; readonly id: string },
): Repair {
  return {
    what: `write ${id} in place of ${JSON.stringify(entry)} in ${path}`,
    edits: true,
    async run() {
      // Read again, because another repair or program may have moved the entry.
      const list = getPath((await input.context.load()).config, path);
      const at = Array.isArray(list) ? list.findIndex((one) => String(one) === entry) : -1;
      if (at === -1 || !Array.isArray(list)) return;
      const known = list.some((one) => String(one) === id);
      await editConfig(input.loaded.file, [...(parsePath(path) ?? []), at], known ? undefined : id, editOptions(input));
    },
  };
}

/** Writes the channel's id in place of the name of its platform. */
export function replaceChannelName(input: CheckInput, { path, isKey, write }: MisnamedChannel): Repair {
  const at = renderPath(path);
  if (isKey) return renameEntry(input, { path: at, id: write });
  return {
    what: `write ${JSON.stringify(write)} as ${at}`,
    edits: true,
    run: async () => void (await editConfig(input.loaded.file, path, write, editOptions(input))),
  };
}

export function renameEntry(input: CheckInput, { path, id }: { readonly path: string; readonly id: string }): Repair {
  return {
    what: `write ${id} as the key of ${path}`,
    edits: true,
    async run() {
      const { changed } = await renameConfigKey(input.loaded.file, parsePath(path) ?? [], id, editOptions(input));
      if (!changed) throw new Error("an entry with this id already exists; merge the two by hand");
    },
  };
}
