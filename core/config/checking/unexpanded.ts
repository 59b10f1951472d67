/**
 * Finds texts such as `"${HOME}/x"`. Other programs expand the variable, but this one does not, which the operator may
 * not know.
 */
import { renderPath, type Segment } from "../path.ts";
import { propertyOf, type SchemaNode } from "../schema-node.ts";
import { variableIn } from "../secrets.ts";
import { isRecord, type PlacedProblem } from "./validate.ts";

/**
 * Returns a warning for each such text. Secrets are left out, because reading them already fails with a specific error.
 */
export function unexpanded(value: unknown, at: readonly Segment[], schema: SchemaNode = {}): readonly PlacedProblem[] {
  if (schema.secret === true) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => unexpanded(item, [...at, index], itemOf(schema)));
  if (isRecord(value))
    return Object.entries(value).flatMap(([key, inner]) => unexpanded(inner, [...at, key], propertyIn(schema, key)));
  const variable = typeof value === "string" ? variableIn(value) : undefined;
  if (variable === undefined) return [];
  const message = `contains \${${variable}}, which is used literally`;
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

const itemOf = ({ items }: SchemaNode): SchemaNode =>
  items === undefined || Array.isArray(items) ? {} : (items as SchemaNode);

/** The schema of a key. In a union of objects, any of them may define the key. */
function propertyIn(schema: SchemaNode, key: string): SchemaNode {
  for (const one of [schema, ...(schema.anyOf ?? [])]) {
    const inner = propertyOf(one, key);
    if (inner !== undefined) return inner;
  }
  // A key that a plugin may declare, while no plugin is known: it may be a secret.
  return schema.additionalProperties === true ? { secret: true } : {};
}
