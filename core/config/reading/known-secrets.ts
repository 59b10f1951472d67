/** Secrets that the configuration names are known before they are used: a key that no model call has needed yet must not be stored either. */

import { isRecord } from "../checking/validate.ts";
import { configSchema, type GatewayConfig } from "../schema.ts";
import { nodeOf, propertyOf, type SchemaNode } from "../schema-node.ts";
import type { Secrets } from "../secrets.ts";
import { branchFor, itemsOf } from "../showing/redact.ts";

/** Those of channels and plugins are resolved as they are set up, by schemas of their own. */
export function rememberSecrets(config: GatewayConfig, secrets: Secrets): void {
  walk(config, nodeOf(configSchema), (value) => {
    try {
      secrets.resolve(value, "");
    } catch {
      // What cannot be resolved is reported where it is used.
    }
  });
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
