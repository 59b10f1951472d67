/** A configuration that may be shown: it contains no secret, neither as text nor as a reference. */

import { isRecord } from "../checking/validate.ts";
import { propertyOf, type SchemaNode } from "../schema-node.ts";

const hidden = "(set)";

/** Where no schema says that a key holds a secret, its name does. */
const secretName = /(token|secret|password|passphrase|passwd|credentials?|authorization|cookie|(api|private|access|signing)[_-]?key)s?$/i;

export function isSecretName(key: string): boolean {
  return secretName.test(key);
}

/** Shows `(set)` for whatever stands where `schema` has a secret; user and password of an address go as well. */
export function redactConfig(value: unknown, schema: SchemaNode): unknown {
  if (schema.secret) return value === undefined ? undefined : hidden;
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    return value.map((item) => redactConfig(item, items));
  }
  if (isRecord(value)) {
    const branch = branchFor(schema);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactKey(key, inner, propertyOf(branch, key))]));
  }
  return typeof value === "string" ? value.replace(/\/\/[^/?#\s]*@/g, `//${hidden}@`) : value;
}

// Also beside a schema: that of a plugin may call a secret just a text. A number that is declared is a count, such as perDayTokens.
function redactKey(key: string, value: unknown, schema: SchemaNode | undefined): unknown {
  const declared = schema !== undefined && Object.keys(schema).length > 0;
  const mayHide = (typeof value === "string" && value !== "") || isRecord(value) || (typeof value === "number" && !declared);
  if (mayHide && isSecretName(key)) return hidden;
  return redactConfig(value, schema ?? {});
}

export function branchFor(schema: SchemaNode): SchemaNode {
  return schema.anyOf?.find((branch) => branch.type === "object") ?? schema;
}

export function itemsOf(schema: SchemaNode): SchemaNode {
  const list = schema.anyOf?.find((branch) => branch.type === "array") ?? schema;
  return list.items === undefined || Array.isArray(list.items) ? {} : (list.items as SchemaNode);
}
