/** Shared dependencies of every step of an event, and the value that passes through the steps. */
import type { Address } from "../contract/index.ts";
import type { Drops, Unit } from "../state/index.ts";
import type { UnderWay, Visit } from "../stations/index.ts";
import type { Path } from "./door.ts";
import type { Trace } from "./endings/ending.ts";
import type { Attempt } from "./lanes/attempt.ts";
import type { Lanes } from "./lanes/lanes.ts";
import type { Leases } from "./lanes/leases.ts";
import type { SessionPlace } from "./lanes/session-place.ts";
import type { SessionTurns } from "./lanes/session-turns.ts";
import type { TurnSlot } from "./lanes/turn-slots.ts";
import type { PathOptions } from "./options.ts";
import type { createPresences } from "./presence/presences.ts";
import type { ReplyFiles } from "./reply-files.ts";

/** One unit of work on its way, with everything that its steps know about it. */
export interface Walk {
  readonly unit: Unit;
  readonly trace: Trace;
  /** What the gateway's own taps leave for later stations. */
  readonly visit: Visit;
  readonly slot: TurnSlot;
  readonly attempt: Attempt;
  /** Aborted when the gateway closes, or when this node loses the lease under which it runs the unit. */
  readonly signal: AbortSignal;
  /** Set when its turn begins in that session. */
  sessionKey?: string;
  /** The place of its turn in that session; absent for commands that wait for no turn. */
  place?: SessionPlace;
}

export interface StepDependencies
  extends Pick<PathOptions, "hooks" | "store" | "accounts" | "gate" | "agents" | "deletions" | "clock"> {
  /** Aborted when the gateway closes. */
  readonly signal: AbortSignal;
  readonly log: PathOptions["reports"]["log"];
  readonly leases: Leases;
  /** Whether this node sends to that account. */
  readonly sendsTo: (address: Address) => true | Promise<boolean>;
  readonly files: ReplyFiles;
  readonly sessions: SessionTurns;
  readonly drops: Pick<Drops, "cover">;
  readonly presenceFor: ReturnType<typeof createPresences>;
  readonly newTrace: () => Trace;
  readonly lanes: Pick<Lanes, "notify" | "hold">;
  readonly receive: Path["receive"];
  readonly underWay: UnderWay;
}
