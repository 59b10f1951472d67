/** What a unit has come to, after its turn. */
import type { Ending, OutboxRow } from "../state/store.ts";
import type { Inbound, Reply } from "../types.ts";
import type { Admission } from "./delivery.ts";
import type { Presence } from "./presence.ts";

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
