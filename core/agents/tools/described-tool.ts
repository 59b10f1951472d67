/**
 * What models read of a tool of a source: without what a person who looks at it does not see, and without imitations of
 * the gateway.
 */
import type { Json } from "../../contract/index.ts";
import type { SourcedTool } from "../../sdk/contract.ts";
import { cleanExternal, mapTexts } from "../../untrusted/index.ts";

type Description = Pick<SourcedTool, "description" | "parameters">;

/** Sources pass the same parameters each turn, so they are cleaned once. */
export function createDescriptions(): (tool: SourcedTool) => Description {
  const known = new WeakMap<object, { readonly given: string; readonly clean: Description }>();
  return ({ description, parameters }) => {
    const before = known.get(parameters as object);
    if (before?.given === description) return before.clean;
    const clean = { description: cleanExternal(description), parameters: mapTexts(parameters, cleanExternal) as Json };
    known.set(parameters as object, { given: description, clean });
    return clean;
  };
}
