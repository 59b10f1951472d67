/** The product's name, once. Everything a user sees or types is derived from here. */
export const product = {
  /** Shown to people: pairing answers, `--help`, log lines. */
  name: "service",
  /** The command on the path. */
  command: "service",
  /** npm package, also the prefix of the doors `service-gateway/sdk` and `service-gateway/testkit`. */
  packageName: "service-gateway",
  /** Header that carries the hook token when `Authorization` does not. */
  tokenHeader: "x-service-token",
  /** Prefix of every environment variable that the product reads. */
  environmentPrefix: "SERVICE_",
  /** Directory under the user's home that holds state and, by default, the configuration. */
  homeDirectory: ".service",
  configFile: "config.jsonc",
} as const;

/** Semantic version of the plugin contract; a plugin's `host` range is checked against it. Before 1.0.0, a new minor version may break plugins. */
export const sdkVersion = "0.1.0";
