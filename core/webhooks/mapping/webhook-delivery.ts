/** One request as mappings, templates and transforms see it: without credentials, and without anything that could reach a prototype. */
import type { IncomingHttpHeaders } from "node:http";
import { type Json, product } from "../../contract/index.ts";
import { signatureHeaders } from "../signature/schemes.ts";

export interface HookDelivery {
  /** Sub-path below `hooks.path`, slashes at the ends removed. */
  readonly path: string;
  /** The payload's own field `source` when that is a text, else empty. */
  readonly source: string;
  /** Names in lower case, repeated ones joined by a comma; credentials, cookies and signatures are left out. No prototype. */
  readonly headers: Readonly<Record<string, string>>;
  /** The last value of each name. No prototype. */
  readonly query: Readonly<Record<string, string>>;
  readonly payload: Json;
  /** When it came: ISO 8601, UTC, with milliseconds. */
  readonly now: string;
}

/** Never seen by a template, a transform, a recording or a reader of a stored delivery. */
export const credentialHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "cookie",
  "set-cookie",
  product.tokenHeader,
  ...signatureHeaders,
]);

/** The headers that may be shown. `hidden`: those that carry a signature or a secret of its scheme. */
export function visibleHeaders(headers: IncomingHttpHeaders, hidden: ReadonlySet<string>): Readonly<Record<string, string>> {
  const shown: Record<string, string> = Object.create(null);
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || credentialHeaders.has(name) || hidden.has(name)) continue;
    shown[name] = typeof value === "string" ? value : value.join(", ");
  }
  return Object.freeze(shown);
}

const noQuery: Readonly<Record<string, string>> = Object.freeze(Object.create(null));

/** The last value of each name. */
export function readQuery(query: string): Readonly<Record<string, string>> {
  if (query === "") return noQuery;
  const read: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(query)) read[name] = value;
  return Object.freeze(read);
}

/** What the payload says about where it comes from. */
export function sourceOf(payload: Json): string {
  if (typeof payload !== "object" || payload === null || Array.isArray(payload) || !Object.hasOwn(payload, "source")) return "";
  const { source } = payload as { readonly source: Json };
  return typeof source === "string" ? source : "";
}
