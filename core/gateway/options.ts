/** The options with which a gateway is started. */
import type { Environment } from "../config/index.ts";
import type { HostError } from "../contract/index.ts";
import type { LogOptions } from "../log/index.ts";
import type { PluginDefinition } from "../sdk/contract.ts";

export interface GatewayOptions {
  /** Configuration file; default: `SERVICE_CONFIG`, else the one in the user's home. */
  readonly configFile?: string;
  readonly environment?: Environment;
  readonly home?: string;
  /** Plugins beside those that the configuration names; for embedders and tests. */
  readonly plugins?: readonly PluginDefinition[];
  /** Paths of plugins beside those that the configuration names, relative to its directory. */
  readonly load?: readonly string[];
  /** Whether the plugins that come with the package are loaded; default true. */
  readonly bundled?: boolean;
  /** Where log lines go besides the file in the state directory; default nowhere. */
  readonly print?: LogOptions["print"];
  readonly now?: () => number;
  /** A monotonic clock, in milliseconds: for limits that a jump of the wall clock must not change. */
  readonly elapsed?: () => number;
  readonly random?: () => number;
  /** Milliseconds that a plugin has for its `setup`; default 10 s. */
  readonly pluginSetupMs?: number;
  /** Delay added to each flush, for tests and benchmarks of slow disks. */
  readonly slowFlushMs?: number;
  /**
   * Starts on a state that is lost, damaged, older than its last use or another one: with the database that is there, or with a new one.
   * Without it such a start throws.
   */
  readonly acceptNewState?: boolean;
  /** Called when the command line asks the gateway to end: false where the program does not do that. Default: it does not. */
  readonly onAsked?: (how: "stop" | "restart") => boolean;
  /** Called when the state is gone, or another gateway has taken it over: nothing can be done any more. Default: the gateway closes. */
  readonly onLost?: (error: HostError) => void;
  /** Reads plugin files again, although this process loaded them before. */
  readonly fresh?: boolean;
}
