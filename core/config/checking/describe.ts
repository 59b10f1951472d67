/** Describes in words what a schema allows and what a value is. */
import type { SchemaNode } from "../schema-node.ts";

/** Describes the allowed values: `a whole number from 0 to 65535`, `"open" or "disabled"`, `a list of texts`. */
export function describeAllowed(schema: SchemaNode): string {
  if (schema.expects !== undefined) return schema.expects;
  if (schema.anyOf) return joinOr([...new Set(schema.anyOf.map(describeAllowed))]);
  if (schema.enum) return joinOr(schema.enum.map((one) => JSON.stringify(one)));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  switch (schema.type) {
    case "string":
      return describeText(schema);
    case "integer":
      return `a whole number${describeRange(schema)}`;
    case "number":
      return `a number${describeRange(schema)}`;
    case "boolean":
      return "true or false";
    case "array":
      return describeList(schema);
    case "null":
      return "null";
    case "object":
      return describeObject(schema);
    default:
      return "another value";
  }
}

function describeText(schema: SchemaNode): string {
  if (schema.pattern !== undefined) return `a text that matches ${schema.pattern}`;
  if (schema.minLength === 1 && schema.maxLength === undefined) return "a text that is not empty";
  if (schema.minLength !== undefined && schema.maxLength !== undefined)
    return `a text of ${schema.minLength} to ${schema.maxLength} characters`;
  if (schema.minLength !== undefined) return `a text of at least ${schema.minLength} characters`;
  if (schema.maxLength !== undefined) return `a text of at most ${schema.maxLength} characters`;
  return "a text";
}

function describeRange(schema: SchemaNode): string {
  const { minimum: min, maximum: max, exclusiveMinimum: above, exclusiveMaximum: below } = schema;
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  const limits = [
    min === undefined ? "" : `at least ${min}`,
    above === undefined ? "" : `more than ${above}`,
    max === undefined ? "" : `at most ${max}`,
    below === undefined ? "" : `less than ${below}`,
    schema.multipleOf === undefined ? "" : `a multiple of ${schema.multipleOf}`,
  ].filter(Boolean);
  return limits.length === 0 ? "" : ` of ${limits.join(" and ")}`;
}

function describeList(schema: SchemaNode): string {
  const items =
    schema.items === undefined || Array.isArray(schema.items)
      ? ""
      : `, each ${describeAllowed(schema.items as SchemaNode)}`;
  const min = schema.minItems === undefined ? "" : ` of at least ${schema.minItems}`;
  const max = schema.maxItems === undefined ? "" : `${min === "" ? " of" : " and"} at most ${schema.maxItems}`;
  return `a list${min}${max}${items}`;
}

function describeObject(schema: SchemaNode): string {
  const keys = Object.keys(schema.properties ?? {});
  return keys.length > 0 && keys.length <= 4 ? `an object { ${keys.join(", ")} }` : "an object";
}

function joinOr(words: readonly string[]): string {
  if (words.length <= 1) return words[0] ?? "";
  return `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

/** Describes a value for an error message: short, on one line, and without the password of a URL. */
export function describeValue(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const text = (JSON.stringify(value) ?? String(value)).replace(/\/\/[^/@\s"]*@/g, "//...@");
  return text.length > 80 ? `${text.slice(0, 76)}..."` : text;
}
