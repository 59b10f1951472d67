/** Reads platform data without trusting its shape: each reader accepts anything and returns its type or nothing. */
import type { Json } from "service-gateway/sdk";

export type Fields = { readonly [key: string]: Json };

export function record(value: Json | undefined): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

export function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function number(value: Json | undefined): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** An id as a string, because numbers beyond 2^53 lose precision. */
export function id(value: Json | undefined): string | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? String(value) : undefined;
  return typeof value === "string" && /^-?\d{1,20}$/.test(value) ? value : undefined;
}
