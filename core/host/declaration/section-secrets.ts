/** The secrets in a plugin's section, as its schema marks them. */
import { changeMarked, nodeOf, parsePath, renderPath, type Segment } from "../../config/index.ts";
import type { PluginDefinition, PluginHost } from "../../sdk/contract.ts";

type Section = NonNullable<PluginDefinition["section"]>;

/** Each secret as the file has it, and its place for `secret` of the section. */
export function secretsIn(
  { of, schema }: Section,
  { settings, ofAgent, names }: Pick<ReturnType<PluginHost["section"]>, "settings" | "ofAgent" | "names">,
): readonly { readonly written: unknown; readonly place: string }[] {
  const found: { readonly written: unknown; readonly place: string }[] = [];
  const collect = (value: unknown, root: readonly Segment[]) => {
    changeMarked(nodeOf(schema), value, root, {
      mark: "secret",
      change(written, at) {
        found.push({ written, place: renderPath(at) });
        return written;
      },
    });
  };
  if (of !== "agents") collect(settings(), []);
  else for (const place of names().agents.flatMap(ofAgent)) collect(place.settings, parsePath(place.path) ?? []);
  return found;
}
