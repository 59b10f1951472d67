/** The interface of the path for the sources of events. */

import type { RawEvent, Silent } from "../contract/index.ts";
import type { AcceptedEvent, NewEvent } from "../state/index.ts";
import type { UnderWay } from "../stations/index.ts";
import type { Lanes } from "./lanes/lanes.ts";

export interface ReceiveOptions extends Pick<NewEvent, "fingerprint" | "settled" | "follows"> {
  /** The event needs no reply, which is already known: it ends when it is accepted. */
  readonly silent?: Silent;
}

export interface Path {
  readonly lanes: Lanes;
  /** Starts with the events that an earlier process left. */
  start(): Promise<void>;
  /** Resolves when the event is committed. */
  receive(event: RawEvent, options?: ReceiveOptions): Promise<AcceptedEvent>;
  /** The units on their way, and what else a plugin is asked meanwhile. */
  readonly underWay: UnderWay;
  /** Whether a unit of that lane waits for a turn of another lane, which runs in the same session. */
  waitsForSession(lane: string): boolean;
  /** This node lost its lease: what it runs is interrupted, and another node runs it again. */
  lost(): void;
  /** Aborts waiting sends; they are sent at the next start. */
  interrupt(): void;
}
