/** The settings of a plugin in the configuration: its section, and those of its presets. */
import type { Static, TSchema } from "typebox";
import type { Json } from "../../contract/index.ts";

/** A problem in the plugin's section of the configuration that no schema can express. */
interface SectionProblem {
  /** Keys below the section, such as `["morning", "cron"]`. */
  readonly path: readonly string[];
  /**
   * What is wrong, to follow its path and without a full stop, such as `names no time`. It does not contain the present
   * time.
   */
  readonly message: string;
  readonly hint: string;
  /** True: the value is used nevertheless. */
  readonly warning?: true;
}

/** What a check of a section may look at besides the section. */
interface SectionSurroundings {
  /** The ids of the agents and of the configured channels. */
  readonly agents: readonly string[];
  readonly channels: readonly string[];
  /** `agents.defaults.timezone`, else the time zone of the host. */
  readonly timezone: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The settings of a plugin in the configuration: those of one of its presets, or its section. */
export interface PluginSection<T = Json> {
  /**
   * The current settings; `undefined` if there are none, if they have an error, or for a preset while the hook server
   * is off.
   */
  settings(): T | undefined;
  /**
   * Resolves a secret of the section: `value` is the configured value, `key` its place, such as
   * `accounts.ada.password`. Throws an error that names the place and never the value. Every secret read this way is
   * removed from the log.
   */
  secret(value: unknown, key: string): string;
  /** Called after every edit of the configuration, whatever was changed. Only in `setup`. */
  onChange(fn: () => void): void;
}

/** The section that a plugin declares. */
export interface DeclaredSection<T> extends PluginSection<T> {
  /**
   * For a section of agents: what applies to an agent, which is what `agents.defaults` and then the agent itself
   * configure. `path` is the place of each; the keys of `secret` begin with it.
   */
  ofAgent(agent: string): readonly { readonly path: string; readonly settings: T }[];
  /** The agents and channels of the configuration, by their ids: what settings may name. */
  names(): { readonly agents: readonly string[]; readonly channels: readonly string[] };
}

/**
 * A section of the configuration that belongs to a plugin. Users write it beside the gateway's own: it is checked,
 * shown and completed like them, and an edit takes effect without a restart.
 *
 * @example
 * section: {
 *   key: "notes",
 *   schema: Type.Object(
 *     { folder: Type.String({ default: "notes", description: "Where notes are stored." }) },
 *     { default: {}, description: "Notes that people dictate." },
 *   ),
 * },
 */
export interface SectionDefinition<S extends TSchema> {
  /**
   * The top-level key: `a-z`, `A-Z` and `0-9`, beginning with a lower-case letter. Neither the gateway nor another
   * plugin may have it.
   */
  readonly key: string;
  /** `agents`: not a top-level key, but one of `agents.defaults` and of each agent of `agents.list`. */
  readonly of?: "agents";
  /**
   * Gives each key a description. `default` makes a section optional; without one, `settings` is `undefined` where the
   * user configures nothing. A text with `secret: true` may be a reference in the file (`{ env }`, `{ file }`), is
   * hidden wherever the configuration is shown, and is read with `secret`. A map (`Type.Record`) has entries that do
   * not depend on each other: an error in one leaves the others in effect.
   */
  readonly schema: S;
  /**
   * Keys at the top of the file that mean this section, such as those of other programs: the warning about them names
   * the right key.
   */
  readonly otherNames?: readonly string[];
  /**
   * Finds what the schema cannot: `config validate` shows it, and an edit that causes an error is not written. In a
   * running gateway the last valid settings stay in effect; at a start the plugin receives the settings as they are,
   * and leaves out what it cannot use.
   */
  check?(
    settings: Static<NoInfer<S>>,
    around: SectionSurroundings,
  ): readonly SectionProblem[] | Promise<readonly SectionProblem[]>;
}
