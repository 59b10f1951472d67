/** Values that a schema marks, wherever they are in a value. */
import { isRecord } from "./checking/validate.ts";
import type { Segment } from "./path.ts";
import { propertyOf, type SchemaNode } from "./schema-node.ts";
import { branchFor, itemsOf } from "./showing/redact.ts";

/**
 * Returns the value with each marked part replaced by what `change` returns for it; `undefined` removes the part. What
 * is not marked stays unchanged.
 */
export function changeMarked(
  schema: SchemaNode,
  value: unknown,
  at: readonly Segment[],
  {
    mark,
    change,
  }: { readonly mark: "secret" | "file"; readonly change: (value: unknown, at: readonly Segment[]) => unknown },
): unknown {
  if (value === undefined) return undefined;
  if (schema[mark] === true) return change(value, at);
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    return value
      .map((item, index) => changeMarked(items, item, [...at, index], { mark, change }))
      .filter((item) => item !== undefined);
  }
  if (!isRecord(value)) return value;
  const branch = branchFor(schema);
  const changed = Object.entries(value).map(([key, inner]) => {
    const known = propertyOf(branch, key);
    return [key, known === undefined ? inner : changeMarked(known, inner, [...at, key], { mark, change })] as const;
  });
  return Object.fromEntries(changed.filter(([, inner]) => inner !== undefined));
}

/** The schema with each marked part replaced. */
export function changeMarkedSchemas(
  schema: SchemaNode,
  mark: "secret" | "file",
  change: (schema: SchemaNode) => SchemaNode,
): SchemaNode {
  if (schema[mark] === true) return change(schema);
  const changed = (inner: SchemaNode) => changeMarkedSchemas(inner, mark, change);
  const { properties, patternProperties, additionalProperties, items, anyOf } = schema;
  return {
    ...schema,
    ...(properties && { properties: mapped(properties, changed) }),
    ...(patternProperties && { patternProperties: mapped(patternProperties, changed) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: changed(additionalProperties) }),
    ...(items && !Array.isArray(items) && { items: changed(items as SchemaNode) }),
    ...(anyOf && { anyOf: anyOf.map(changed) }),
  };
}

function mapped(schemas: Readonly<Record<string, SchemaNode>>, change: (schema: SchemaNode) => SchemaNode) {
  return Object.fromEntries(Object.entries(schemas).map(([key, schema]) => [key, change(schema)]));
}
