/** The JSON Schema of the configuration, for editors. */
import { type PluginSchemas, wholeSchema } from "../plugin-schemas.ts";
import { isMap, type SchemaNode } from "../schema-node.ts";

/** Renders the schema of one value of the configuration. */
export const renderSubschema = (schema: SchemaNode): Readonly<Record<string, unknown>> => forEditors(schema);

/** Renders the schema (draft 2020-12). Keys with a default are optional; editors underline unknown keys. */
export function renderJsonSchema(schemas: PluginSchemas = {}): Readonly<Record<string, unknown>> {
  return { $schema: "https://json-schema.org/draft/2020-12/schema", ...forEditors(wholeSchema(schemas)) };
}

const ours: ReadonlySet<string> = new Set([
  ...[
    "secret",
    "file",
    "protectsSecrets",
    "fallback",
    "whole",
    "expects",
    "chatWritable",
    "entriesAdmit",
    "isExtended",
    "synonyms",
  ],
]);

function forEditors(schema: SchemaNode): Record<string, unknown> {
  const printed: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (ours.has(key) || typeof value === "function") continue;
    printed[key] = printKeyword(key, value);
  }
  if (schema.required && schema.properties) {
    const { properties } = schema;
    const required = schema.required.filter((key) => properties[key]?.default === undefined);
    if (required.length > 0) printed.required = required;
    else delete printed.required;
  }
  // The keyword of JSON Schema for what is written and never shown.
  if (schema.secret) printed.writeOnly = true;
  const structure = schema.type === "object" && schema.properties !== undefined && !isMap(schema);
  if (structure && schema.additionalProperties === undefined) printed.additionalProperties = false;
  return printed;
}

function printKeyword(key: string, value: unknown): unknown {
  if (key === "properties" || key === "patternProperties" || key === "$defs") {
    return Object.fromEntries(
      Object.entries(value as Record<string, SchemaNode>).map(([name, inner]) => [name, forEditors(inner)]),
    );
  }
  if (key === "anyOf" || key === "allOf" || key === "oneOf") return (value as readonly SchemaNode[]).map(forEditors);
  if (key === "items" || key === "not")
    return Array.isArray(value) ? value.map(forEditors) : forEditors(value as SchemaNode);
  if (key === "additionalProperties" && typeof value === "object") return forEditors(value as SchemaNode);
  return value;
}
