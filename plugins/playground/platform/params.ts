/** Reads the parameters of a call from any source. Like the platform, it accepts numbers and JSON as text. */
import { badRequest } from "./errors.ts";
import { boundaryOf, parseMultipart, type Upload } from "./multipart.ts";

export type RawParams = Readonly<Record<string, unknown>>;

export interface Params {
  readonly raw: RawParams;
  readonly files: Readonly<Record<string, Upload>>;
}

const none: Readonly<Record<string, Upload>> = {};

/** Parses query and body. Parameters in the body take precedence. */
export function parseParams(query: string, contentType: string, body: Buffer): Params {
  const fromQuery = query === "" ? undefined : Object.fromEntries(new URLSearchParams(query));
  if (body.length === 0) return { raw: fromQuery ?? {}, files: none };
  if (contentType.startsWith("application/json")) return { raw: merge(fromQuery, parseBody(body)), files: none };
  const boundary = boundaryOf(contentType);
  if (boundary !== undefined) {
    const form = parseMultipart(body, boundary);
    return { raw: merge(fromQuery, form.fields), files: form.files };
  }
  if (contentType.startsWith("application/x-www-form-urlencoded")) {
    return { raw: merge(fromQuery, Object.fromEntries(new URLSearchParams(body.toString("utf8")))), files: none };
  }
  return { raw: fromQuery ?? {}, files: none };
}

function merge(query: RawParams | undefined, body: RawParams): RawParams {
  return query === undefined ? body : { ...query, ...body };
}

function parseBody(body: Buffer): RawParams {
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    throw badRequest("can't parse JSON object");
  }
  if (!isRecord(value)) throw badRequest("object expected as the JSON body");
  return value;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textOf(params: RawParams, name: string): string | undefined {
  const value = params[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw badRequest(`field "${name}" must be of type String`);
}

export function numberOf(params: RawParams, name: string): number | undefined {
  const value = params[name];
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string" && /^-?[0-9]{1,16}$/.test(value.trim())) return Number(value);
  throw badRequest(`field "${name}" must be a valid Number`);
}

export function flagOf(params: RawParams, name: string): boolean {
  const value = params[name];
  if (typeof value === "boolean") return value;
  return typeof value === "string" ? ["true", "1", "yes", "t", "y"].includes(value.toLowerCase()) : value === 1;
}

/** A JSON value, either as is or as text in a form. */
export function jsonOf(params: RawParams, name: string, what: string): unknown {
  const value = params[name];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    throw badRequest(`can't parse ${what} JSON object`);
  }
}
