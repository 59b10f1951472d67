/**
 * The configuration, one schema a section. Descriptions are the help that editors and `service config` show.
 *
 * A property with a default is required in the type (it is always there after loading) and optional in the file.
 */
import Type, { type Static } from "typebox";
import { agentsSchema, bindingsSchema, modelsSchema } from "./schema/agents.ts";
import { channelsSchema } from "./schema/channels.ts";
import { commandsSchema, messagesSchema, sessionSchema } from "./schema/chat.ts";
import { gatewaySchema, logSchema, stateSchema } from "./schema/gateway.ts";
import { hooksSchema } from "./schema/hooks.ts";
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
    plugins: pluginsSchema,
  },
  { title: "service configuration", description: "Configuration of the gateway.", default: {} },
);

type DeepReadonly<T> = T extends readonly (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** The configuration after loading: defaults are applied, channels and plugin options are as the file has them. */
export type GatewayConfig = DeepReadonly<Static<typeof configSchema>>;

type Mutable<T> = T extends readonly (infer E)[] ? Mutable<E>[] : T extends object ? { -readonly [K in keyof T]: Mutable<T[K]> } : T;

/** The configuration while it is checked; frozen before anybody else sees it. */
export type Draft = Mutable<GatewayConfig>;
