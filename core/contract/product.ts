/** The product's name, defined once. Everything a user sees or types is derived from it. */
export const product = {
  /** Shown to people: pairing replies, `--help`, log lines. */
  name: "service",
  /** The command on the search path. */
  command: "service",
  /** The npm package, and the prefix of the entry points `service-gateway/sdk` and `service-gateway/testkit`. */
  packageName: "service-gateway",
  /** The header that contains the hook token if `Authorization` does not. */
  tokenHeader: "x-service-token",
  /** The prefix of every environment variable that the product reads. */
  environmentPrefix: "SERVICE_",
  /** The directory under the user's home for the state and, by default, the configuration. */
  homeDirectory: ".service",
  configFile: "config.jsonc",
} as const;

/**
 * Semantic version of the plugin contract. A plugin's `host` range is checked against it. Before 1.0.0, a new minor
 * version may break plugins.
 */
export const sdkVersion = "0.2.0";
