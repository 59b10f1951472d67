/**
 * Redacts a value without changing its structure, so that programs can still read it: a secret may be `1`, `null` or
 * `true`.
 */
import { shortestInside } from "./redactor.ts";

/** Redacts the texts in a value of JSON. Names of fields stay, and numbers too unless one is a secret of digits. */
export function redactValue<T>(value: T, redact: (text: string) => string): T;
export function redactValue(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value === "number") return isSecret(String(value), redact) ? redact(String(value)) : value;
  if (Array.isArray(value)) return value.map((inner: unknown) => redactValue(inner, redact));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, redactValue<unknown>(inner, redact)]));
}

/** A short number is a count or a level, and a long one that merely contains the digits is a time or an id. */
function isSecret(digits: string, redact: (text: string) => string): boolean {
  return digits.length >= shortestInside && !/\d/.test(redact(digits));
}
