/**
 * Checks keywords of third-party schemas that our own validator does not support. TypeBox's validator is loaded when
 * the first one occurs.
 */
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

/** Applies defaults to `value` in place and lists the problems. The messages never quote the value. */
export function checkForeign(schema: SchemaNode, value: unknown): ForeignCheck {
  // Loaded synchronously, because a section is checked in one step and this code rarely runs.
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
