/** Accepts an event: stores it with the claim of its lane, so that its turn can begin as soon as it is committed. */
import type { RawEvent } from "../contract/index.ts";
import { controlSuffix, type Store } from "../state/index.ts";
import type { Path } from "./door.ts";
import { settledSilent, type Trace } from "./endings/ending.ts";
import type { Lanes } from "./lanes/lanes.ts";
import type { PathOptions } from "./options.ts";

/** Dedupe keys are kept for seven days. */
const dedupeMs = 7 * 24 * 60 * 60_000;

function inControlLane({ control: _, ...event }: RawEvent): RawEvent {
  return { ...event, lane: `${event.lane}${controlSuffix}` };
}

export function createReceive(options: {
  readonly store: Pick<Store, "accept">;
  readonly lanes: Pick<Lanes, "begin" | "notify">;
  readonly clock: Pick<PathOptions["clock"], "now" | "newId">;
  readonly pathsOf: PathOptions["gate"]["pathsOf"];
  readonly newTrace: () => Trace;
}): Path["receive"] {
  const { store, lanes, clock, pathsOf, newTrace } = options;
  return (received, { silent, ...given } = {}) => {
    const at = clock.now();
    const event = received.control === true ? inControlLane(received) : received;
    const { fingerprint, follows } = given;
    const settled = silent === undefined ? given.settled : settledSilent(event, silent, { trace: newTrace(), pathsOf });
    // Called before the commit, so that acceptance and claim share one commit, which saves a round trip to the writer
    // before the turn. An event that waits to be gathered starts nothing on its own.
    const due = settled !== undefined || event.gather?.due === null ? undefined : (event.gather?.due ?? 0);
    const run = due !== undefined && due <= at ? lanes.begin(event.lane) : undefined;
    const accepting = store.accept({
      event,
      id: clock.newId(),
      at,
      ...(run === undefined ? {} : { claim: true as const }),
      ...(event.dedupeKey === undefined ? {} : { dedupeUntil: at + dedupeMs }),
      fingerprint,
      settled,
      follows,
    });
    if (run !== undefined) run(accepting);
    if (run !== undefined || due === undefined) return accepting;
    return accepting.then((accepted) => {
      // Called after the commit: a lane that looked earlier would find nothing, and would not look again.
      lanes.notify(event.lane, due);
      return accepted;
    });
  };
}
