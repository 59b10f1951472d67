/**
 * Registers all secrets of the configuration before their first use, so that a key that no model call has used yet is
 * not stored either.
 */

import { isRecord } from "../checking/validate.ts";
import { knownProvider, knownProviderIds } from "../known-providers.ts";
import { type PluginSchemas, withDeclared } from "../plugin-schemas.ts";
import type { GatewayConfig } from "../schema.ts";
import { propertyOf, type SchemaNode } from "../schema-node.ts";
import type { Secrets } from "../secrets.ts";
import { branchFor, itemsOf } from "../showing/redact.ts";

/**
 * Resolves every secret of the core schema, and of the sections that plugins declare. Secrets of channels and of
 * plugins' options are resolved at their setup, by their own schemas.
 */
export function rememberSecrets(config: GatewayConfig, secrets: Secrets, schemas?: PluginSchemas): void {
  const remember = (value: unknown) => {
    try {
      secrets.resolve(value, "");
    } catch {
      // A secret that cannot be resolved is reported where it is used.
    }
  };
  walk(config, withDeclared(schemas), remember);
  for (const id of knownProviderIds) remember({ env: knownProvider(id)?.keyVariable });
}

function walk(value: unknown, schema: SchemaNode, found: (value: unknown) => void): void {
  if (schema.secret) {
    if (value !== undefined) found(value);
  } else if (Array.isArray(value)) {
    const items = itemsOf(schema);
    for (const item of value) walk(item, items, found);
  } else if (isRecord(value)) {
    const branch = branchFor(schema);
    for (const [key, inner] of Object.entries(value)) walk(inner, propertyOf(branch, key) ?? {}, found);
  }
}
