/** `config get PATH` and `config set PATH VALUE`: from text to a path and a value that fit the schema. */
import { HostError } from "../../contract/index.ts";
import { nearestOf } from "../checking/suggest.ts";
import { checkValue, cloneJson } from "../checking/validate.ts";
import { getPath, parsePath, renderPath, type Segment } from "../path.ts";
import { findSchema, type PluginSchemas, wholeSchema } from "../plugin-schemas.ts";
import type { SchemaNode } from "../schema-node.ts";
import { redactConfig } from "../showing/redact.ts";

/**
 * The value at a path, as it may be shown; its default where nothing stands, and `undefined` where there is none. An empty path is the whole.
 * Throws `config_path_unknown` for a path that no schema has.
 */
export function showConfigValue(config: unknown, path: string, schemas: PluginSchemas = {}): unknown {
  const segments = segmentsOf(path);
  const schema = schemaAt(segments, path, schemas);
  // From the top, so that nothing inside a secret is ever reached by its path.
  const shown = redactConfig(config, wholeSchema(schemas));
  return getPath(shown, segments) ?? getPath(shown, aboveAccount(segments)) ?? schema.default;
}

/** Sections of channels are kept as they are written: what an account does not set is taken from the channel's root, and then from the defaults. */
function aboveAccount(segments: readonly Segment[]): readonly Segment[] {
  const [first, , third] = segments;
  return first === "channels" && third === "accounts" && segments.length > 4 ? [...segments.slice(0, 2), ...segments.slice(4)] : segments;
}

/**
 * A value as it was typed: JSON when that is what the schema wants, else the text itself. So an id of digits stays a text where the
 * schema says text. Throws `config_path_unknown` or `config_invalid`.
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
  throw new HostError("config_invalid", { path: problem.path, reason: problem.message, fix: problem.hint ?? "Nothing was written." });
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
  const known = found.known.length === 0 ? "Nothing can stand there." : `Known here: ${found.known.join(", ")}.`;
  const parent = renderPath(segments.slice(0, found.depth));
  const nearest = nearestOf(wrong, found.known);
  const fix = nearest === undefined ? known : `Did you mean ${renderPath([...segments.slice(0, found.depth), nearest])}?`;
  throw new HostError("config_path_unknown", { path: path || parent, fix });
}

function parseJson(text: string): unknown {
  try {
    return cloneJson(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** An id that is larger than a number can hold exactly would be another id. */
function isExact(value: unknown): boolean {
  return typeof value !== "number" || !Number.isInteger(value) || Number.isSafeInteger(value);
}

const isError = ({ severity }: { readonly severity: string }) => severity === "error";
