/** The declaration of a plugin. */
import type { Static, TObject, TSchema } from "typebox";
import type { CodeDefinition } from "../../contract/index.ts";
import type { StoreDefinition } from "../store.ts";
import type { ChannelDefinition } from "./channel.ts";
import type { CliDefinition } from "./cli.ts";
import type { PluginHost } from "./plugin-host.ts";
import type { PresetDefinition } from "./preset.ts";
import type { SectionDefinition } from "./section.ts";

/** A plugin: its data first, then its function. The host checks the data before any of the code runs. */
export interface PluginDefinition<O extends TObject = TObject, S extends TSchema = TSchema> {
  /**
   * Config key, log field, store namespace and preferably the folder's name: `a-z`, `0-9`, `-`, starting with a letter,
   * at most 64 characters.
   */
  readonly id: string;
  /** The plugin's own semantic version, such as `1.0.0`. */
  readonly version: string;
  /** The range of SDK versions it was written for, such as `^0.2.0`. */
  readonly host: string;
  /** Ids of plugins that must be set up first. If one is missing, this plugin is left out. */
  readonly requires?: readonly string[];
  /**
   * Schema of `plugins.entries.<id>.options`; `setup` receives the values with the schema's defaults. If the values do
   * not match, the plugin is left out.
   */
  readonly options?: O;
  /** True: set up only if `plugins.entries.<id>.enabled` is `true`; for plugins that few users need. */
  readonly optIn?: boolean;
  /**
   * The plugin's own section of the configuration; `host.section` returns it. It is data, read without setting the
   * plugin up.
   */
  readonly section?: SectionDefinition<S>;
  /**
   * Mappings of the hook server that users enable by name in `hooks.presets`. They are data, read without setting the
   * plugin up.
   */
  readonly presets?: readonly PresetDefinition[];
  /** Commands for the command line. They are data, read without setting the plugin up. */
  readonly cli?: CliDefinition;
  /**
   * The codes that the plugin's own decisions and errors carry, by name: `a-z`, `0-9` and `_`. `service why` prints the
   * meaning and the hint if a decision has none of its own. A name that ends in `*` covers all codes that begin with
   * it. The gateway's own codes (`core/CODES.md`), such as `flood_wait`, need no entry. Codes are data, read without
   * setting the plugin up.
   */
  readonly codes?: Readonly<Record<string, CodeDefinition>>;
  /**
   * Set by `defineChannel`: the channel that `setup` will register, so that its options can be checked before anything
   * runs.
   */
  readonly channel?: ChannelDefinition;
  /**
   * A store that `state.store` can name; see `defineStore` of `service-gateway/sdk/store`. It is opened before any
   * plugin is set up.
   */
  readonly store?: StoreDefinition;
  /** Registers everything, within 10 s. If it throws, this plugin is left out and the others run. */
  setup(host: PluginHost<NoInfer<S>>, options: Static<O>): void | Promise<void>;
}
