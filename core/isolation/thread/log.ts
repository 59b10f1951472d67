/** The log of the main thread, as a plugin in a worker writes to it. */
import type { PluginLog } from "../../sdk/contract.ts";
import type { Peer } from "../peer.ts";

const levels = ["trace", "debug", "info", "warn", "error"] as const satisfies readonly (keyof PluginLog)[];

/** `owner`: the number of an account's connection, or `null` for the plugin's own log. */
export function createThreadLog({ tell }: Peer, owner: number | null): PluginLog {
  const write = (level: (typeof levels)[number], fields: object, message: string): void => {
    try {
      tell("log", [owner, level, fields, message]);
    } catch {
      // A field that cannot cross, such as a socket.
      tell("log", [owner, level, { fields: "left out: they are not plain data" }, String(message)]);
    }
  };
  return Object.fromEntries(
    levels.map((level) => [level, (fields: object, message: string) => write(level, fields, message)]),
  ) as never;
}
