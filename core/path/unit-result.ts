/** The result of a unit after its turn. */

import type { Inbound, Reply } from "../contract/index.ts";
import type { Ending, OutboxRow } from "../state/index.ts";
import type { Presence } from "./presence/presence.ts";
import type { StoredFiles } from "./reply-files.ts";

/**
 * A wait for the platform's rate limits; never rejects. If the channel failed, it resolves with the fault, and the row
 * is sent without waiting.
 */
export type Admission = Promise<{ readonly fault?: unknown }>;

export interface UnitResult {
  readonly ending: Ending;
  readonly rows: readonly OutboxRow[];
  /** What the first row waits for. */
  readonly admission?: Admission | undefined;
  readonly files?: StoredFiles | undefined;
  /** Reason code of a part that an earlier process could not send. */
  readonly failure?: string;
  readonly inbound?: Inbound | undefined;
  readonly usage?: Reply["usage"] | undefined;
  readonly presence?: Presence | undefined;
}
