/**
 * A request as mappings, templates and transforms see it: without credentials and without anything that could reach a
 * prototype.
 */
import type { IncomingHttpHeaders } from "node:http";
import { type Json, product } from "../../contract/index.ts";
import { signatureHeaders } from "../signature/schemes.ts";

export interface HookDelivery {
  /** The path below `hooks.path`, without slashes at the ends. */
  readonly path: string;
  /** Set if the request was a GET, whose payload is its query; else it was a POST. */
  readonly method?: "GET";
  /** The field `source` of the payload if it is a text, else empty. */
  readonly source: string;
  /**
   * Headers by lower-case name, repeated ones joined by commas, without credentials, cookies and signatures. No
   * prototype.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** Query parameters by name; of repeated ones, the last value. No prototype. */
  readonly query: Readonly<Record<string, string>>;
  readonly payload: Json;
  /** When the request arrived: ISO 8601, UTC, with milliseconds. */
  readonly now: string;
}

/** Headers that templates, transforms, recordings and readers of stored deliveries never see. */
export const credentialHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "cookie",
  "set-cookie",
  product.tokenHeader,
  ...signatureHeaders,
]);

/** The headers that may be shown. `hidden` are those that contain a signature or a scheme's secret. */
export function visibleHeaders(
  headers: IncomingHttpHeaders,
  hidden: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  const shown: Record<string, string> = Object.create(null);
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || credentialHeaders.has(name) || hidden.has(name)) continue;
    shown[name] = typeof value === "string" ? value : value.join(", ");
  }
  return Object.freeze(shown);
}

const noQuery: Readonly<Record<string, string>> = Object.freeze(Object.create(null));

/** Parses a query. Of repeated names, the last value wins. */
export function readQuery(query: string): Readonly<Record<string, string>> {
  if (query === "") return noQuery;
  const read: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(query)) read[name] = value;
  return Object.freeze(read);
}

/** The payload's own statement of its source. */
export function sourceOf(payload: Json): string {
  if (typeof payload !== "object" || payload === null || Array.isArray(payload) || !Object.hasOwn(payload, "source"))
    return "";
  const { source } = payload as { readonly source: Json };
  return typeof source === "string" ? source : "";
}
