/** Keywords of third-party schemas that our own walk does not read; TypeBox's validator is loaded when the first one is met. */
import { createRequire } from "node:module";
import type { Segment } from "../path.ts";
import type { SchemaNode } from "../schema-node.ts";

type ValueModule = typeof import("typebox/value");

const foreignKeywords = [
  "allOf",
  "oneOf",
  "not",
  "if",
  "$ref",
  "$defs",
  "format",
  "prefixItems",
  "additionalItems",
  "contains",
  "propertyNames",
  "minProperties",
  "maxProperties",
  "dependentRequired",
  "dependentSchemas",
  "unevaluatedProperties",
  "~refine",
  "~codec",
] as const;

export function isForeign(schema: SchemaNode): boolean {
  return foreignKeywords.some((keyword) => Object.hasOwn(schema, keyword));
}

interface ForeignCheck {
  readonly value: unknown;
  readonly errors: readonly { readonly at: readonly Segment[]; readonly message: string }[];
}

/** Applies defaults to `value` in place and lists what is wrong. The messages never quote the value. */
export function checkForeign(schema: SchemaNode, value: unknown): ForeignCheck {
  // Synchronous on purpose: a section is checked in one step, and almost never here.
  const { Value } = createRequire(import.meta.url)("typebox/value") as ValueModule;
  const whole = Value.Default(schema, value);
  const errors = Value.Errors(schema, whole).map((error) => ({
    at: error.instancePath.split("/").slice(1).map(decodePointer),
    message: error.message,
  }));
  return { value: whole, errors };
}

function decodePointer(part: string): Segment {
  const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
  return /^(0|[1-9][0-9]*)$/.test(key) ? Number(key) : key;
}
