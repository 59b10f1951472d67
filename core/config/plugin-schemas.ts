import type { TObject, TSchema } from "typebox";
import { changeMarkedSchemas } from "./marked-values.ts";
import type { Segment } from "./path.ts";
import { accessSchema } from "./schema/channels.ts";
import { presetSchema } from "./schema/hooks.ts";
import { configSchema } from "./schema.ts";
import { isMap, nodeOf, propertyOf, type SchemaNode, withProperties } from "./schema-node.ts";

/**
 * What plugins declare of the configuration. Without the schema of a channel or plugin, its section is accepted
 * unchecked.
 */
export interface PluginSchemas {
  /** By channel id: the options of one account, and the names of those that contain a secret. */
  readonly channels?: Readonly<Record<string, { readonly options: TObject; readonly secrets?: readonly string[] }>>;
  /** By plugin id: the schema of `plugins.entries.<id>.options`. */
  readonly plugins?: Readonly<Record<string, TSchema>>;
  /** By key: the top-level sections of plugins. */
  readonly sections?: Readonly<Record<string, TSchema>>;
  /** By key: what plugins declare for `agents.defaults` and for each agent of `agents.list`. */
  readonly agents?: Readonly<Record<string, TSchema>>;
  /** By id: the settings of a preset in `hooks.<id>`, beside those that every preset has. */
  readonly presets?: Readonly<Record<string, TObject | undefined>>;
  /** Other names of declared keys, and the path that each of them means. */
  readonly synonyms?: Readonly<Record<string, string>>;
}

const anything: SchemaNode = {};

/** The schema of the whole configuration, including the known schemas of channels and plugins. */
export function wholeSchema(schemas: PluginSchemas = {}): SchemaNode {
  const root = withDeclared(schemas);
  const { channels, plugins } = root.properties ?? {};
  return {
    ...root,
    properties: {
      ...root.properties,
      channels: { ...withoutPatterns(channels), ...channelSchemas(schemas) },
      plugins: {
        ...plugins,
        properties: { ...plugins?.properties, entries: entrySchemas(plugins?.properties?.entries, schemas) },
      },
    },
  };
}

/**
 * The schema of the gateway's own keys and of those that plugins declare beside them. `undefined`: the plugins are not
 * known yet, so a key that one of them may declare is accepted unchecked. `presets`: names that the file gives to
 * presets, whose plugins may be missing.
 */
export function withDeclared(schemas: PluginSchemas | undefined, presets: readonly string[] = []): SchemaNode {
  const root = nodeOf(configSchema);
  const { agents = anything, hooks = anything } = root.properties ?? {};
  const named = Object.fromEntries(
    [...presets, ...Object.keys(schemas?.presets ?? {})].map((id) => [id, presetOf(schemas?.presets?.[id])]),
  );
  const synonyms = { ...root.synonyms, ...schemas?.synonyms };
  const top = open({ ...root, synonyms }, schemas?.sections, schemas === undefined);
  return {
    ...top,
    properties: {
      ...top.properties,
      agents: agentKeys(agents, schemas),
      hooks: { ...withProperties(hooks, named), ...(schemas === undefined && { additionalProperties: true }) },
    },
  };
}

function presetOf(own: TObject | undefined): SchemaNode {
  const common = nodeOf(presetSchema);
  if (own === undefined) return common;
  const { properties, description = common.description, ...rest } = referable(own);
  return {
    ...rest,
    ...(description !== undefined && { description }),
    properties: { ...properties, ...common.properties },
  };
}

function agentKeys(agents: SchemaNode, schemas: PluginSchemas | undefined): SchemaNode {
  const { defaults = anything, list = anything } = agents.properties ?? {};
  const declared = (node: SchemaNode) => open(node, schemas?.agents, schemas === undefined);
  const items = declared(list.items as SchemaNode);
  return { ...agents, properties: { ...agents.properties, defaults: declared(defaults), list: { ...list, items } } };
}

/**
 * The gateway's own keys of an object to which plugins may add theirs: the configuration, an agent, `hooks`, the
 * settings of a preset.
 */
export function coreKeys(where: "top" | "agents" | "hooks" | "preset"): readonly string[] {
  const { properties = {} } = nodeOf(configSchema);
  const { defaults = anything, list = anything } = properties.agents?.properties ?? {};
  const owners = {
    top: [{ properties }],
    agents: [defaults, list.items as SchemaNode],
    hooks: [properties.hooks ?? anything],
    preset: [nodeOf(presetSchema)],
  };
  return owners[where].flatMap((owner) => Object.keys(owner.properties ?? {}));
}

/** An object to whose keys plugins add theirs. */
function open(node: SchemaNode, declared: Readonly<Record<string, TSchema>> = {}, areUnknown: boolean): SchemaNode {
  const added = Object.fromEntries(Object.entries(declared).map(([key, schema]) => [key, referable(schema)]));
  const openness = areUnknown ? { additionalProperties: true } : { isExtended: true as const };
  return { ...withProperties(node, added), ...openness };
}

/** In the file, a secret may also be a reference, whatever the plugin's schema says. */
const referable = (schema: TSchema): SchemaNode => changeMarkedSchemas(nodeOf(schema), "secret", secretOf);

function channelSchemas({ channels = {} }: PluginSchemas): SchemaNode {
  const known = Object.entries(channels).map(
    ([id, { options, secrets = [] }]) => [id, channelSchema(nodeOf(options), secrets)] as const,
  );
  return { properties: Object.fromEntries(known), additionalProperties: channelSchema(anything, []) };
}

function channelSchema(options: SchemaNode, secrets: readonly string[]): SchemaNode {
  const own = Object.entries(options.properties ?? {}).map(([name, schema]) => [
    name,
    secrets.includes(name) ? secretOf(schema) : changeMarkedSchemas(schema, "secret", secretOf),
  ]);
  const properties = { ...nodeOf(accessSchema).properties, ...Object.fromEntries(own) } as Readonly<
    Record<string, SchemaNode>
  >;
  const free = options === anything || options.additionalProperties === true;
  const account: SchemaNode = {
    type: "object",
    description: "One account; its keys override those beside `accounts`.",
    properties,
    additionalProperties: free,
  };
  const accounts: SchemaNode = { type: "object", description: "Accounts by id.", additionalProperties: account };
  return { ...account, description: "One channel.", properties: { ...properties, accounts } };
}

function secretOf(schema: SchemaNode): SchemaNode {
  const reference = nodeOf(configSchema.properties.hooks.properties.token);
  return { ...reference, ...(schema.description === undefined ? {} : { description: schema.description }) };
}

function entrySchemas(entries: SchemaNode = {}, { plugins = {} }: PluginSchemas): SchemaNode {
  const entry = propertyOf(entries, "any") ?? anything;
  const known = Object.entries(plugins).map(([id, options]) => [
    id,
    { ...entry, properties: { ...entry.properties, options: nodeOf(options) } },
  ]);
  return { ...withoutPatterns(entries), properties: Object.fromEntries(known), additionalProperties: entry };
}

// Otherwise every key would match the map's pattern before its own schema is considered.
function withoutPatterns({ patternProperties: _, ...rest }: SchemaNode = {}): SchemaNode {
  return rest;
}

export type FoundSchema =
  | { readonly schema: SchemaNode }
  /** No schema exists at this depth; `known` lists the keys that may have been meant. */
  | { readonly schema?: never; readonly depth: number; readonly known: readonly string[] };

/** Finds the schema at a path. Below a part without a schema, every path is known and any value is valid. */
export function findSchema(root: SchemaNode, path: readonly Segment[]): FoundSchema {
  let candidates: readonly SchemaNode[] = [root];
  for (const [depth, segment] of path.entries()) {
    const parents = candidates.flatMap(alternatives);
    if (parents.some(isFree)) return { schema: anything };
    candidates = parents.flatMap((parent) => childSchema(parent, segment) ?? []);
    if (candidates.length > 0) continue;
    if (parents.some((parent) => parent.additionalProperties === true)) return { schema: anything };
    return { depth, known: parents.flatMap((parent) => Object.keys(parent.properties ?? {})) };
  }
  return { schema: candidates.length === 1 ? (candidates[0] ?? anything) : { anyOf: candidates } };
}

export const alternatives = (schema: SchemaNode): readonly SchemaNode[] =>
  schema.anyOf ? schema.anyOf.flatMap(alternatives) : [schema];

const isFree = (schema: SchemaNode) =>
  schema.type === undefined &&
  schema.properties === undefined &&
  !isMap(schema) &&
  schema.enum === undefined &&
  schema.const === undefined;

export function childSchema(parent: SchemaNode, segment: Segment): SchemaNode | undefined {
  if (parent.type === "array")
    return /^[0-9]+$/.test(String(segment)) && !Array.isArray(parent.items) ? (parent.items as SchemaNode) : undefined;
  return typeof segment === "string" ? propertyOf(parent, segment) : undefined;
}
