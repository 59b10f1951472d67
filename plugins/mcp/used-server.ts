/** A server as an entry of the configuration uses it. */
import type { Server } from "./server.ts";
import type { ServerSettings } from "./settings.ts";

/** A server as one agent uses it. */
export interface UsedServer {
  readonly name: string;
  readonly settings: ServerSettings;
  /** Absent if a secret of it cannot be read. */
  readonly server?: Server;
}

/** An entry of the configuration, with every agent that has it. */
export interface ServedServer extends UsedServer {
  readonly agents: readonly string[];
  /** Why a secret of it cannot be read. */
  readonly problem?: string;
}
