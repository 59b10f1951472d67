/** The options with which a gateway is started. */
import type { ConfigOverride, Environment } from "../config/index.ts";
import type { HostError } from "../contract/index.ts";
import type { LogOptions } from "../log/index.ts";
import type { PluginDefinition } from "../sdk/contract.ts";

export interface GatewayOptions {
  /** Configuration file; default: `SERVICE_CONFIG`, otherwise the one in the user's home directory. */
  readonly configFile?: string;
  /** Changes what is read from the file; nothing of it is written there. */
  readonly override?: ConfigOverride;
  readonly environment?: Environment;
  readonly home?: string;
  /** Plugins in addition to those in the configuration; for embedders and tests. */
  readonly plugins?: readonly PluginDefinition[];
  /** Paths of plugins beside those that the configuration names, relative to its directory. */
  readonly load?: readonly string[];
  /** Whether the plugins that come with the package are loaded; default true. */
  readonly bundled?: boolean;
  /** Where log lines go besides the file in the state directory; by default nowhere. */
  readonly print?: LogOptions["print"];
  readonly now?: () => number;
  /** A monotonic clock, in milliseconds, for limits that a change of the wall clock must not affect. */
  readonly elapsed?: () => number;
  readonly random?: () => number;
  /** Time limit for a plugin's `setup`, in milliseconds; default 10 s. */
  readonly pluginSetupMs?: number;
  /** Delay added to each flush, for tests and benchmarks of slow disks. */
  readonly slowFlushMs?: number;
  /**
   * Whether the embedded store writes in a thread of its own, so that the gateway never waits for the disk; default
   * true. A gateway without it starts sooner, which suits tests.
   */
  readonly writerThread?: boolean;
  /**
   * Allows a start on a state that is lost, damaged, older than its last use or replaced: with the existing database,
   * or with a new one. Without it such a start throws.
   */
  readonly acceptNewState?: boolean;
  /**
   * Called when the command line asks the gateway to end. Returns false if the program does not support that, which is
   * the default.
   */
  readonly onAsked?: (how: "stop" | "restart") => boolean;
  /**
   * Called when the state is gone, or another gateway has taken it over, and this one can do nothing more. Default: the
   * gateway closes.
   */
  readonly onLost?: (error: HostError) => void;
  /**
   * Ends a start that waits for the database: `createGateway` rejects with the signal's reason. Without effect once it
   * has resolved.
   */
  readonly signal?: AbortSignal;
  /** Reads plugin files again, even if this process has already loaded them. */
  readonly fresh?: boolean;
}
