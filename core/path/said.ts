/** What a unit has come to, after its turn. */

import type { Inbound, Reply } from "../contract/index.ts";
import type { Ending, OutboxRow } from "../state/index.ts";
import type { Presence } from "./presence.ts";

/** A wait for the platform's limits; never rejects. It resolves with what went wrong when the channel could not say: then the row goes without. */
export type Admission = Promise<{ readonly fault?: unknown }>;

export interface Said {
  readonly ending: Ending;
  readonly rows: readonly OutboxRow[];
  /** What the first row waits for. */
  readonly admission?: Admission | undefined;
  /** Reason of a part that an earlier process could not send. */
  readonly failure?: string;
  readonly inbound?: Inbound | undefined;
  readonly usage?: Reply["usage"] | undefined;
  readonly presence?: Presence | undefined;
}
