/** Texts such as `"${HOME}/x"`: other programs insert the variable, this one does not, and the author may not know. */
import { renderPath, type Segment } from "../path.ts";
import { propertyOf, type SchemaNode } from "../schema-node.ts";
import { variableIn } from "../secrets.ts";
import { isRecord, type PlacedProblem } from "./validate.ts";

/** A warning for each; secrets are left out, because reading them fails with a reason of its own. */
export function unexpanded(value: unknown, at: readonly Segment[], schema: SchemaNode = {}): readonly PlacedProblem[] {
  if (schema.secret === true) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => unexpanded(item, [...at, index], itemOf(schema)));
  if (isRecord(value)) return Object.entries(value).flatMap(([key, inner]) => unexpanded(inner, [...at, key], propertyIn(schema, key)));
  const variable = typeof value === "string" ? variableIn(value) : undefined;
  if (variable === undefined) return [];
  const message = `contains \${${variable}}, which is taken as it is written`;
  return [
    {
      severity: "warning",
      at,
      path: renderPath(at),
      message,
      hint: "Write the value itself; only secrets can be read from the environment.",
    },
  ];
}

const itemOf = ({ items }: SchemaNode): SchemaNode => (items === undefined || Array.isArray(items) ? {} : (items as SchemaNode));

/** A union of objects knows a key when one of them does. */
function propertyIn(schema: SchemaNode, key: string): SchemaNode {
  for (const one of [schema, ...(schema.anyOf ?? [])]) {
    const inner = propertyOf(one, key);
    if (inner !== undefined) return inner;
  }
  return {};
}
