/** `config get PATH` and `config set PATH VALUE`: converts text to a path and a value that match the schema. */
import { HostError } from "../../contract/index.ts";
import { nearestOf } from "../checking/suggest.ts";
import { checkValue, cloneJson } from "../checking/validate.ts";
import { getPath, parsePath, renderPath, type Segment } from "../path.ts";
import { findSchema, type PluginSchemas, wholeSchema } from "../plugin-schemas.ts";
import type { SchemaNode } from "../schema-node.ts";
import { redactConfig } from "../showing/redact.ts";

/**
 * The value at a path with secrets hidden, else its default, else `undefined`. An empty path returns everything. Throws
 * `config_path_unknown` for a path that no schema defines.
 */
export function showConfigValue(config: unknown, path: string, schemas: PluginSchemas = {}): unknown {
  const segments = segmentsOf(path);
  const schema = schemaAt(segments, path, schemas);
  // Secrets are hidden from the root down, so that no path can reach inside one.
  const shown = redactConfig(config, wholeSchema(schemas));
  return getPath(shown, segments) ?? getPath(shown, aboveAccount(segments)) ?? schema.default;
}

/**
 * Channel sections are stored as written. A value that an account does not set comes from the channel's root, then from
 * the defaults.
 */
function aboveAccount(segments: readonly Segment[]): readonly Segment[] {
  const [first, , third] = segments;
  return first === "channels" && third === "accounts" && segments.length > 4
    ? [...segments.slice(0, 2), ...segments.slice(4)]
    : segments;
}

/**
 * Parses a value as typed: as JSON if the schema expects that, else as the text itself. A numeric id thus remains a
 * text where the schema expects one. Throws `config_path_unknown` or `config_invalid`.
 */
export function parseConfigValue(path: string, text: string, schemas: PluginSchemas = {}): unknown {
  const segments = segmentsOf(path);
  const schema = schemaAt(segments, path, schemas);
  const json = parseJson(text);
  const asJson = json === undefined ? undefined : checkValue(schema, json, segments).problems.find(isError);
  if (json !== undefined && asJson === undefined && isExact(json)) return json;
  const asText = checkValue(schema, text, segments).problems.find(isError);
  if (asText === undefined) return text;
  const problem = asJson ?? asText;
  throw new HostError("config_invalid", {
    path: problem.path,
    reason: problem.message,
    fix: problem.hint ?? "Nothing was written.",
  });
}

function segmentsOf(path: string): readonly Segment[] {
  const segments = parsePath(path);
  if (segments) return segments;
  throw new HostError("config_path_unknown", { path, fix: 'Write it as a.b[0].c, or a["key with.dots"].' });
}

function schemaAt(segments: readonly Segment[], path: string, schemas: PluginSchemas): SchemaNode {
  const found = findSchema(wholeSchema(schemas), segments);
  if (found.schema) return found.schema;
  const wrong = String(segments[found.depth]);
  const known = found.known.length === 0 ? "No value is allowed there." : `Known keys: ${found.known.join(", ")}.`;
  const parent = renderPath(segments.slice(0, found.depth));
  const nearest = nearestOf(wrong, found.known);
  const fix =
    nearest === undefined ? known : `Did you mean ${renderPath([...segments.slice(0, found.depth), nearest])}?`;
  throw new HostError("config_path_unknown", { path: path || parent, fix });
}

function parseJson(text: string): unknown {
  try {
    return cloneJson(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Rejects numbers too large to be exact, because a rounded id would be a different id. */
function isExact(value: unknown): boolean {
  return typeof value !== "number" || !Number.isInteger(value) || Number.isSafeInteger(value);
}

const isError = ({ severity }: { readonly severity: string }) => severity === "error";
