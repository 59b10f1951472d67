/** Makes a configuration safe to display: the result contains no secret, neither as text nor as a reference. */

import { isRecord } from "../checking/validate.ts";
import { propertyOf, type SchemaNode } from "../schema-node.ts";

const hidden = "(set)";

/** Identifies secrets by the name of the key, where no schema marks them. */
const secretName =
  /(token|secret|password|passphrase|passwd|credentials?|authorization|cookie|(api|private|access|signing)[_-]?key)s?$/i;

export function isSecretName(key: string): boolean {
  return secretName.test(key);
}

/** A text that is an address and nothing else. */
const address = /^[a-z][a-z\d+.-]*:\/\/\S+$/i;

/** A query parameter with a key, as some model servers expect it. */
const secretParameter = /([?&](?:[\w.-]*(?:key|token|secret|password|passwd|signature|auth)|sig|code)=)[^&#]+/gi;

/** Hides user and password of each address in a text, and the keys in the query if the text is an address. */
function redactText(text: string): string {
  const withoutUser = text.replace(/\/\/[^/?#\s]*@/g, `//${hidden}@`);
  return address.test(text) ? withoutUser.replace(secretParameter, `$1${hidden}`) : withoutUser;
}

/** Replaces each secret in `schema` with `(set)`, and removes user, password and keys from URLs. */
export function redactConfig(value: unknown, schema: SchemaNode): unknown {
  if (schema.secret) return value === undefined ? undefined : hidden;
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    return value.map((item) => redactConfig(item, items));
  }
  if (isRecord(value)) {
    const branch = branchFor(schema);
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, redactKey(key, inner, propertyOf(branch, key))]),
    );
  }
  return typeof value === "string" ? redactText(value) : value;
}

// Names are checked even where a schema exists, because a plugin's schema may not mark a secret. A declared number is a
// count, such as perDayTokens.
function redactKey(key: string, value: unknown, schema: SchemaNode | undefined): unknown {
  const declared = schema !== undefined && Object.keys(schema).length > 0;
  const mayHide =
    (typeof value === "string" && value !== "") || isRecord(value) || (typeof value === "number" && !declared);
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
