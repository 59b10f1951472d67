import type { TSchema } from "typebox";
import type { Annotations } from "./schema/annotations.ts";

/** A JSON Schema as the loader reads it: built by TypeBox, with our annotations. */
export interface SchemaNode extends Annotations {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | SchemaNode;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode | readonly SchemaNode[];
  readonly anyOf?: readonly SchemaNode[];
  readonly enum?: readonly (string | number)[];
  readonly const?: string | number | boolean;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
}

export const nodeOf = (schema: TSchema): SchemaNode => schema as unknown as SchemaNode;

/** The schema of one key of an object: a named property or the value of a map; `undefined` if there is none. */
export function propertyOf(schema: SchemaNode, key: string): SchemaNode | undefined {
  if (schema.properties && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  for (const [pattern, inner] of Object.entries(schema.patternProperties ?? {})) {
    if (new RegExp(pattern, "u").test(key)) return inner;
  }
  return typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
}

/** Whether the schema describes a map with arbitrary keys rather than an object with known keys. */
export function isMap(schema: SchemaNode): boolean {
  return (
    schema.properties === undefined &&
    (schema.patternProperties !== undefined || typeof schema.additionalProperties === "object")
  );
}

/** Adds properties to a schema. Existing properties take precedence. */
export function withProperties(schema: SchemaNode, more: Readonly<Record<string, SchemaNode>>): SchemaNode {
  return { ...schema, properties: { ...schema.properties, ...more, ...schema.properties } };
}
