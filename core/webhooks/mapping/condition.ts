/** One condition of a `match`: the value it reads, the rule for it, and the explanation if it fails. */

import { isSecretName } from "../../config/index.ts";
import { linearPatterns } from "../../config/linear-pattern.ts";
import type { Json } from "../../contract/index.ts";
import { exactDigits } from "../../http/index.ts";
import type { HookDelivery } from "./webhook-delivery.ts";

export type Scalar = string | number | boolean | null;

export type Rule =
  | { readonly kind: "values"; readonly values: readonly Scalar[] }
  | { readonly kind: "exists"; readonly exists: boolean }
  | { readonly kind: "matches"; readonly pattern: string; readonly accepts: (value: Json | undefined) => boolean };

export interface Condition {
  /** The value's name for people: `path`, `source`, `headers.x-github-event`, `payload.action`. */
  readonly label: string;
  /** The value's name as keys: `["payload", "action"]`. Conditions with the same subject read the same value. */
  readonly subject: readonly string[];
  readonly read: (delivery: HookDelivery) => Json | undefined;
  readonly rule: Rule;
}

/**
 * Longest text that a pattern is applied to. Matching is linear, but a pattern with large repetitions takes
 * microseconds for each character. Longer texts never match, because matching only a part of them would be misleading.
 */
const maxMatchedLength = 16_384;
const maxQuotedLength = 120;

/** Compiles a pattern. Throws the engine's `Error` if the pattern is invalid. */
export function matchesRule(pattern: string): Rule {
  const compiled = linearPatterns().compile(pattern);
  return {
    kind: "matches",
    pattern,
    accepts(value) {
      const text = textOf(value);
      return text !== undefined && text.length <= maxMatchedLength && compiled.test(text);
    },
  };
}

/**
 * The text that a pattern is applied to: strings, and numbers and booleans as written; `undefined` for other values.
 */
function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : exactDigits(value);
}

export function holds({ rule }: Condition, value: Json | undefined): boolean {
  if (rule.kind === "values")
    return value !== undefined && (rule.values as readonly Json[]).includes(comparable(value));
  if (rule.kind === "exists") return (value !== undefined) === rule.exists;
  return rule.accepts(value);
}

/** Rounds large numbers. The configuration cannot contain all their digits, so both sides must be rounded alike. */
function comparable(value: Json): Json {
  const digits = exactDigits(value);
  return digits === undefined ? value : Number(digits);
}

/**
 * Explains a failed condition: `payload.action is "opened", not one of "closed", "merged"`. Values that may be secrets
 * are omitted.
 */
export function explain({ label, subject, rule }: Condition, value: Json | undefined): string {
  if (rule.kind === "exists") return rule.exists ? `${label} is missing` : `${label} is present, but must not be`;
  if (value === undefined) return `${label} is missing`;
  const secret = subject.some((key) => isSecretName(key) || /signature/i.test(key));
  const found = secret ? `${label} has a value` : `${label} is ${describe(value)}`;
  if (rule.kind === "values")
    return secret ? `${found} that is not the expected one` : `${found}, not ${choices(rule.values)}`;
  const text = textOf(value);
  if (text === undefined) return `${found}, which is not a text`;
  if (text.length > maxMatchedLength)
    return `${label} is longer than ${maxMatchedLength} characters, too long to match`;
  return `${found}, which does not match ${shorten(rule.pattern)}`;
}

function describe(value: Json): string {
  if (typeof value === "string") return JSON.stringify(shorten(value));
  const digits = exactDigits(value);
  if (digits !== undefined) return digits;
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "a list" : "an object";
  return String(value);
}

function choices(values: readonly Scalar[]): string {
  const list = shorten(values.map((value) => describe(value)).join(", "));
  return values.length === 1 ? list : `one of ${list}`;
}

function shorten(text: string): string {
  if (text.length <= maxQuotedLength) return text;
  return `${text.slice(0, maxQuotedLength - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
