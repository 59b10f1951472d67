/** Generates the tables of keys in README.md from the schemas. */
import { describeAllowed } from "../checking/describe.ts";
import { type PluginSchemas, withDeclared } from "../plugin-schemas.ts";
import { accessSchema } from "../schema/channels.ts";
import { nodeOf, type SchemaNode } from "../schema-node.ts";

const begin = "<!-- keys: begin -->";
const end = "<!-- keys: end -->";

/** Returns the README with regenerated tables: the gateway's own keys, and those that plugins declare beside them. */
export function renderReference(readme: string, schemas: PluginSchemas): string {
  const before = readme.slice(0, readme.indexOf(begin) + begin.length);
  return `${before}\n\n${renderTables(schemas)}\n${readme.slice(readme.indexOf(end))}`;
}

function renderTables(schemas: PluginSchemas): string {
  const sections = Object.entries(withDeclared(schemas).properties ?? {});
  return sections.map(([name, schema]) => renderSection(name, schema)).join("\n");
}

function renderSection(name: string, schema: SchemaNode): string {
  const rows = name === "channels" ? childrenOf("channels.<id>", nodeOf(accessSchema)) : rowsOf(name, schema);
  const accounts = row(
    "channels.<id>.accounts.<account>.*",
    "an object",
    "",
    "The same keys for one account; they override those beside `accounts`. `groups`, `actions`, `retry`, " +
      "`network` and `capabilities` are merged key by key.",
  );
  const table = [...rows, ...(name === "channels" ? [accounts] : [])];
  return (
    `### ${name}\n\n${schema.description ?? ""}\n\n| key | allowed | default | meaning ` +
    `|\n|---|---|---|---|\n${table.join("\n")}\n`
  );
}

function rowsOf(path: string, schema: SchemaNode): readonly string[] {
  return [rowOf(path, schema), ...(schema.secret ? [] : childrenOf(path, schema))];
}

function childrenOf(path: string, schema: SchemaNode): readonly string[] {
  const named = Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => rowsOf(`${path}.${key}`, inner));
  const maps = Object.values(schema.patternProperties ?? {}).flatMap((inner) => innerRows(`${path}.<name>`, inner));
  const items = schema.items && !Array.isArray(schema.items) ? innerRows(`${path}[]`, schema.items as SchemaNode) : [];
  const branches = (schema.anyOf ?? []).flatMap((branch) => childrenOf(path, branch));
  return [...named, ...maps, ...items, ...branches];
}

// Lists of plain values are described by the list itself.
function innerRows(path: string, schema: SchemaNode): readonly string[] {
  return schema.description === undefined ? childrenOf(path, schema) : rowsOf(path, schema);
}

function rowOf(path: string, schema: SchemaNode): string {
  const plain = schema.default !== undefined && JSON.stringify(schema.default) !== "{}";
  return row(
    path,
    describeAllowed(schema),
    plain ? `\`${JSON.stringify(schema.default)}\`` : "",
    schema.description ?? "",
  );
}

function row(path: string, allowed: string, fallback: string, meaning: string): string {
  const cells = [`\`${path}\``, allowed, fallback, meaning].map((cell) =>
    cell.replaceAll("|", "\\|").replaceAll("<regex>", "&lt;regex&gt;"),
  );
  return `| ${cells.join(" | ")} |`;
}
