/** The log of a plugin. */

/**
 * The log of one plugin. Every line carries the plugin's id; secrets of the configuration are removed by value. Lines
 * at or above `log.level` go to `logs/gateway.log` and to the terminal. Log message texts at `trace` only.
 *
 * @example
 * host.log.warn({ chat: "42", status: 502 }, "the platform did not answer");
 */
export interface PluginLog {
  trace(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
