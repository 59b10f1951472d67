/** Functions that give a declaration its types, and make a plugin of it. */
import type { TObject, TSchema } from "typebox";
import type { Json, Transform } from "../../contract/index.ts";
import type { ChannelDefinition } from "./channel.ts";
import type { EngineDefinition } from "./engine.ts";
import type { PluginDefinition } from "./plugin.ts";
import type { PresetDefinition } from "./preset.ts";

/**
 * Declares a plugin; its module exports it as default. It checks nothing: the host does, before any of the plugin's
 * code runs.
 *
 * @example
 * export default definePlugin({
 *   id: "hello",
 *   version: "1.0.0",
 *   host: "^0.2.0",
 *   options: Type.Object({ greeting: Type.String({ default: "Hello!" }) }),
 *   setup(host, options) {
 *     host.command({ name: "hello", summary: "Says hello.", role: "allowed", run: () => options.greeting });
 *   },
 * });
 */
export function definePlugin<O extends TObject, S extends TSchema>(
  definition: PluginDefinition<O, S>,
): PluginDefinition<O, S> {
  return definition;
}

/**
 * Declares a channel as a plugin of its own. `examples/authors/channel.md` contains a complete one.
 *
 * @example
 * export default defineChannel({
 *   id: "irc",
 *   version: "1.0.0",
 *   host: "^0.2.0",
 *   options: Type.Object({
 *     server: Type.String(),
 *     password: Type.Optional(secretText({ description: "Password of the bot." })),
 *   }),
 *   capabilities: { maxChars: 400 },
 *   open: (account) => createConnection(account),
 * });
 */
export function defineChannel<O extends TObject>(definition: ChannelDefinition<O>): PluginDefinition {
  return {
    id: definition.id,
    version: definition.version,
    host: definition.host,
    ...(definition.codes === undefined ? {} : { codes: definition.codes }),
    ...(definition.cli === undefined ? {} : { cli: definition.cli }),
    channel: definition as unknown as ChannelDefinition,
    setup(host) {
      host.channel(definition as unknown as ChannelDefinition);
    },
  };
}

/**
 * Declares an engine as a plugin of its own.
 *
 * @example
 * export default defineEngine({
 *   id: "parrot",
 *   version: "1.0.0",
 *   host: "^0.2.0",
 *   async *run(turn) {
 *     yield { type: "text", delta: turn.inbound.text };
 *     yield { type: "done" };
 *   },
 * });
 */
export function defineEngine(
  definition: EngineDefinition & {
    readonly version: string;
    readonly host: string;
    readonly codes?: PluginDefinition["codes"];
  },
): PluginDefinition {
  return {
    id: definition.id,
    version: definition.version,
    host: definition.host,
    ...(definition.codes === undefined ? {} : { codes: definition.codes }),
    setup(host) {
      host.engine(definition);
    },
  };
}

/**
 * Declares a preset as a plugin of its own. If a field or template is wrong, the plugin is left out, with the reason.
 *
 * @example
 * export default definePreset({
 *   id: "uptime",
 *   version: "1.0.0",
 *   host: "^0.2.0",
 *   path: "uptime",
 *   mappings: [
 *     {
 *       name: "Uptime",
 *       messageTemplate: "{{ monitor }} is {{ status }} since {{ since }}",
 *       sessionKey: "hook:uptime:{{ monitor }}",
 *     },
 *   ],
 * });
 */
export function definePreset(
  definition: PresetDefinition & { readonly version: string; readonly host: string },
): PluginDefinition {
  const { id, version, host, path, mappings, settings } = definition;
  return { id, version, host, presets: [{ id, path, mappings, settings }], setup() {} };
}

/**
 * Gives a transform its types; `P` is the expected type of the payload. It returns the function unchanged. It is the
 * only export of `service-gateway/sdk` that is available inside the sandbox.
 *
 * @example
 * interface Payload {
 *   readonly build: { readonly state: string; readonly url: string };
 * }
 *
 * export default defineTransform<Payload>(({ payload }) => {
 *   if (payload.build.state === "passed") return null;
 *   return { message: `The build is ${payload.build.state}: ${payload.build.url}` };
 * });
 */
export function defineTransform<P = Json>(transform: Transform<P>): Transform<P> {
  return transform;
}
