/** Where the gateways of a soak keep their state, and how the soak reads it. */
import { join } from "node:path";
import {
  countForHeartbeat,
  countModelCalls,
  countUnsettled,
  readPreviews,
  readReminders,
  readState,
  type State,
} from "./state.ts";

export interface StatePlace {
  /** The section `state` of a gateway's configuration. */
  readonly config: object;
  /** The number of events that may still start a unit, or are running. */
  unsettled(): Promise<number>;
  /** The number of events that wait for the next heartbeat, whenever that is. */
  forHeartbeat(): Promise<number>;
  /** Messages of previews in progress, as `chat:message`; the next process will know these. */
  previews(): Promise<readonly string[]>;
  read(): Promise<State>;
  /** The number of calls in the ledger. */
  modelCalls(): Promise<number>;
  /** The texts of the reminders that are set. */
  reminders(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** The embedded database in the folder `state` of a directory. */
export function embeddedPlace(directory: string): StatePlace {
  const dir = join(directory, "state");
  return {
    config: { dir },
    unsettled: async () => countUnsettled(dir),
    forHeartbeat: async () => countForHeartbeat(dir),
    previews: async () => readPreviews(dir),
    read: async () => readState(dir),
    modelCalls: async () => countModelCalls(dir),
    reminders: async () => readReminders(dir),
    async close() {},
  };
}
