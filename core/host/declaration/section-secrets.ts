/** The secrets in a plugin's section, as its schema marks them. */
import { changeMarked, nodeOf, parsePath, renderPath, type Segment } from "../../config/index.ts";
import type { PluginDefinition, PluginHost } from "../../sdk/contract.ts";

type Section = NonNullable<PluginDefinition["section"]>;

/** A secret as the file has it, and its place for `secret` of the section. */
export interface MarkedSecret {
  readonly written: unknown;
  readonly place: string;
}

export function secretsIn(
  { of, schema }: Section,
  { settings, ofAgent, names }: Pick<ReturnType<PluginHost["section"]>, "settings" | "ofAgent" | "names">,
): readonly MarkedSecret[] {
  if (of !== "agents") return markedSecrets(schema, settings());
  return names()
    .agents.flatMap(ofAgent)
    .flatMap((place) => markedSecrets(schema, place.settings, parsePath(place.path) ?? []));
}

/** The secrets in settings with this schema. */
export function markedSecrets(
  schema: Section["schema"],
  settings: unknown,
  root: readonly Segment[] = [],
): readonly MarkedSecret[] {
  const found: MarkedSecret[] = [];
  changeMarked(nodeOf(schema), settings, root, {
    mark: "secret",
    change(written, at) {
      found.push({ written, place: renderPath(at) });
      return written;
    },
  });
  return found;
}
