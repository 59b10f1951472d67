/**
 * The schema of the configuration, one file for each section. Editors and `service config` show the descriptions as
 * help.
 *
 * A property with a default is required in the type, because loading sets it, and optional in the file.
 */
import Type, { type Static } from "typebox";
import { agentsSchema, bindingsSchema } from "./schema/agents.ts";
import { annotate } from "./schema/annotations.ts";
import { totalBudgetSchema } from "./schema/budget.ts";
import { channelsSchema } from "./schema/channels.ts";
import { commandsSchema, messagesSchema, sessionSchema } from "./schema/chat.ts";
import { gatewaySchema, logSchema, stateSchema } from "./schema/gateway.ts";
import { hooksSchema } from "./schema/hooks.ts";
import { modelsSchema } from "./schema/models.ts";
import { pluginsSchema } from "./schema/plugins.ts";

export const configSchema = Type.Object(
  {
    $schema: Type.Optional(Type.String({ description: "Address of this schema, for editors." })),
    gateway: gatewaySchema,
    state: stateSchema,
    log: logSchema,
    hooks: hooksSchema,
    channels: channelsSchema,
    session: sessionSchema,
    messages: messagesSchema,
    commands: commandsSchema,
    agents: agentsSchema,
    bindings: bindingsSchema,
    models: modelsSchema,
    budget: totalBudgetSchema,
    plugins: pluginsSchema,
  },
  annotate(
    { synonyms: { agent: "agents.defaults", tools: "agents.defaults.tools", logging: "log" } },
    { title: "service configuration", description: "Configuration of the gateway.", default: {} },
  ),
);

type DeepReadonly<T> = T extends readonly (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** The configuration after loading. Defaults are applied; channel and plugin options are unchanged. */
export type GatewayConfig = DeepReadonly<Static<typeof configSchema>>;

type Mutable<T> = T extends readonly (infer E)[]
  ? Mutable<E>[]
  : T extends object
    ? { -readonly [K in keyof T]: Mutable<T[K]> }
    : T;

/** The configuration while it is being checked. It is frozen before other code sees it. */
export type Draft = Mutable<GatewayConfig>;
