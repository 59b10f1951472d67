/**
 * The repairs of `--fix` in the configuration file. Each is one edit of the syntax tree, checked before it is written.
 */
import { type EditOptions, editConfig, renameConfigKey } from "../../config/editing/edit.ts";
import { getPath, parsePath, renderPath } from "../../config/path.ts";
import type { MisnamedChannel } from "../../gateway/misnamed-channels.ts";
import { pluginProblems } from "../config.ts";
import { declaredSchemas } from "../plugins/declarations.ts";
import type { Repair } from "./finding.ts";
import type { Patient } from "./patient.ts";

function editOptions({ context, declared }: Patient): EditOptions {
  return {
    env: context.env,
    schemas: declaredSchemas(declared),
    check: (config) => pluginProblems(declared, config, context),
  };
}

/** Replaces the name with the id; if the list already contains the id, the name is only removed. */
export function replaceEntry(
  patient: Patient,
  { path, entry, id }: { readonly path: string; readonly entry: string; readonly id: string },
): Repair {
  return {
    what: `write ${id} in place of ${JSON.stringify(entry)} in ${path}`,
    edits: true,
    async run() {
      // Read again, because another repair or program may have moved the entry.
      const list = getPath((await patient.context.load()).config, path);
      const at = Array.isArray(list) ? list.findIndex((one) => String(one) === entry) : -1;
      if (at === -1 || !Array.isArray(list)) return;
      const known = list.some((one) => String(one) === id);
      await editConfig(
        patient.loaded.file,
        [...(parsePath(path) ?? []), at],
        known ? undefined : id,
        editOptions(patient),
      );
    },
  };
}

/** Writes the channel's id in place of the name of its platform. */
export function replaceChannelName(patient: Patient, { path, isKey, write }: MisnamedChannel): Repair {
  const at = renderPath(path);
  if (isKey) return renameEntry(patient, { path: at, id: write });
  return {
    what: `write ${JSON.stringify(write)} as ${at}`,
    edits: true,
    run: async () => void (await editConfig(patient.loaded.file, path, write, editOptions(patient))),
  };
}

export function renameEntry(patient: Patient, { path, id }: { readonly path: string; readonly id: string }): Repair {
  return {
    what: `write ${id} as the key of ${path}`,
    edits: true,
    async run() {
      const { changed } = await renameConfigKey(patient.loaded.file, parsePath(path) ?? [], id, editOptions(patient));
      if (!changed) throw new Error("an entry with this id already exists; merge the two by hand");
    },
  };
}
