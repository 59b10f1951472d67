/**
 * Lanes: the units of one lane run one at a time in arrival order, lanes run in parallel, and at most `maxConcurrent`
 * turns run at once. The store is authoritative; this file only keeps track of where to look.
 */

import { type AcceptedEvent, controlSuffix, type Store, type Unit } from "../../state/index.ts";
import { maxAttempts } from "../endings/exhausted.ts";
import type { Hold } from "../patience.ts";
import { endHold, type Lane, mayLook, sleepUntil } from "./lane.ts";
import { createRoom } from "./room.ts";
import { createSlots, freeSlot, type Slots, type TurnSlot, withOther } from "./turn-slots.ts";

/**
 * How long a unit that was still being gathered when a process ended waits for the rest, because the sources are only
 * just reconnecting.
 */
const reopeningMs = 1_500;
/** Maximum number of events gathered into one unit. */
const gatherLimit = 200;

export interface Lanes {
  /** Starts with the events that an earlier process left. */
  start(): Promise<void>;
  /** An event was accepted: its lane has work at `due` (0: now). */
  notify(lane: string, due: number): void;
  /** The running unit of a lane was handed back, and waits for something. */
  hold(lane: string, hold: Hold): void;
  /** Something has returned for which lanes may wait. */
  lookAgain(): void;
  /**
   * Starts an idle lane with an event that is being accepted, if a turn may run. Accept the event with `claim` then,
   * and pass the resulting promise to the returned function. `undefined`: accept the event without a claim, and call
   * `notify`.
   */
  begin(lane: string): ((accepting: Promise<AcceptedEvent>) => void) | undefined;
  /** `undefined` if few units are in progress. Otherwise resolves when that is true again, or after a moment. */
  room(): Promise<void> | undefined;
  /**
   * Looks in the store for work from another process, also in lanes whose next unit waits: that unit may have been
   * ended.
   */
  rescan(): Promise<void>;
  /** Stops taking units. Resolves when the running ones are done, or after `ms`; `true` if all were done. */
  drain(ms: number): Promise<boolean>;
  /** Number of lanes that are running a unit. */
  running(): number;
}

interface LanesOptions {
  readonly store: Store;
  readonly now: () => number;
  readonly maxConcurrent: () => number;
  /** Handles a unit to its end; must not throw. */
  readonly run: (unit: Unit, slot: TurnSlot) => Promise<void>;
  readonly onError: (error: unknown, lane: string) => void;
  /** Called with the number of lanes whose next unit was found to have its last attempt. */
  readonly onLastAttempts: (lanes: number) => void;
}

/** What remains in a lane after a look at it: more units, nothing, or something due later. */
type Found = "others" | number | null;

/** A unit to run, and what remains in its lane. */
interface Taken {
  readonly unit: Unit;
  readonly left: Found;
}

/** The first event of a lane, while it is being accepted. */
interface Begun {
  readonly accepting: Promise<AcceptedEvent>;
  readonly slot: TurnSlot;
}

function takenOf({ duplicate, unit }: AcceptedEvent): Taken | Found {
  if (duplicate) return null;
  // Otherwise the store already contained an earlier event of the lane.
  return unit === undefined ? "others" : { unit, left: null };
}

/** Runs the lane's next unit, or returns when there will be one. */
function createNextUnit(
  options: Pick<LanesOptions, "store" | "now" | "run" | "onError"> & {
    readonly turns: Slots;
    /**
     * One slot for all units that have their last attempt. Several events run when one of them ends the process, and
     * each attempt counts: they would all fail with the one that is to blame.
     */
    readonly lastAttempts: Slots;
    /** Whether units are still taken. */
    readonly isOpen: () => boolean;
  },
): (name: string, lane: Lane, begun: Begun | undefined) => Promise<Found> {
  const { store, now, turns, lastAttempts } = options;

  async function claim(name: string, lane: Lane): Promise<Taken | Found> {
    if (!options.isOpen()) return null;
    const at = lane.slept ? Math.max(now(), lane.due) : now();
    lane.slept = false;
    const claimed = await store.claim(name, { now: at, limit: gatherLimit });
    return claimed.unit === null ? claimed.due : { unit: claimed.unit, left: claimed.others ? "others" : null };
  }

  return async (name, lane, begun) => {
    // A unit releases its slot as soon as its turn is done, so that an unreachable platform delays only its own chats.
    // Taken before the claim, which counts the attempt.
    const alone = lane.isLastAttempt ? await lastAttempts.take() : freeSlot;
    const turnSlot = begun?.slot ?? (name.endsWith(controlSuffix) ? freeSlot : await turns.take());
    const slot = alone === freeSlot ? turnSlot : withOther(turnSlot, alone);
    try {
      // The source of the event receives the error.
      const taken = await (begun === undefined ? claim(name, lane) : begun.accepting.then(takenOf, () => null));
      if (taken === null || typeof taken !== "object") return taken;
      lane.isLastAttempt = false;
      await options.run(taken.unit, slot);
      return taken.left;
    } catch (error) {
      options.onError(error, name);
      // The store did not respond: look again in a moment. Nothing is lost meanwhile.
      return now() + 1_000;
    } finally {
      slot.release();
    }
  };
}

function newLane(busy: "busy" | "idle"): Lane {
  return {
    busy: busy === "busy",
    again: false,
    timer: undefined,
    due: Number.POSITIVE_INFINITY,
    isLastAttempt: false,
    slept: false,
  };
}

export function createLanes(options: LanesOptions): Lanes {
  const { store, now } = options;
  const lanes = new Map<string, Lane>();
  const turns = createSlots(options.maxConcurrent);
  const lastAttempts = createSlots(() => 1);
  let open = false;
  const runNext = createNextUnit({ ...options, turns, lastAttempts, isOpen: () => open });
  let active = 0;
  const room = createRoom(() => active);
  let whenIdle: (() => void) | undefined;

  function wake(name: string, lane: Lane): void {
    clearTimeout(lane.timer);
    lane.timer = undefined;
    if (!open || lane.busy) lane.again = true;
    else if (mayLook(lane)) void pump(name, lane);
    else rest(name, lane);
  }

  const rest = (name: string, lane: Lane): void => sleep(name, lane, now() + (lane.hold?.wait.ms() ?? 0));

  const sleep = (name: string, lane: Lane, due: number): void =>
    sleepUntil(lane, due, { now, wake: () => wake(name, lane) });

  /** Runs the units of one lane until none is due; never rejects. */
  async function pump(name: string, lane: Lane, begun?: Begun): Promise<void> {
    lane.busy = true;
    active += 1;
    for (let first = begun; ; first = undefined) {
      lane.again = false;
      const found = await runNext(name, lane, first);
      const held = lane.hold !== undefined && !mayLook(lane);
      if (open && !held && (found === "others" || lane.again || lane.slept)) continue;
      lane.busy = false;
      if (open && held) rest(name, lane);
      else if (open && typeof found === "number") sleep(name, lane, found);
      else if (open) lanes.delete(name);
      break;
    }
    active -= 1;
    room.look();
    if (active === 0) whenIdle?.();
  }

  function begin(name: string): ReturnType<Lanes["begin"]> {
    if (!open || lanes.has(name)) return undefined;
    const slot = name.endsWith(controlSuffix) ? freeSlot : turns.takeNow();
    if (slot === undefined) return undefined;
    const lane = newLane("busy");
    lanes.set(name, lane);
    return (accepting) => void pump(name, lane, { accepting, slot });
  }

  function laneOf(name: string): Lane {
    const known = lanes.get(name);
    if (known !== undefined) return known;
    const lane = newLane("idle");
    lanes.set(name, lane);
    return lane;
  }

  function notify(name: string, due: number): void {
    const lane = laneOf(name);
    if (lane.busy) lane.again = true;
    else if (lane.hold !== undefined) return;
    else if (due <= now()) wake(name, lane);
    else if (lane.timer === undefined || due < lane.due) sleep(name, lane, due);
  }

  async function rescan(gatheringMs = 0): Promise<void> {
    const waiting = await store.waitingLanes();
    const last = waiting
      .filter(({ attempts = 0 }) => attempts >= maxAttempts - 1)
      .map(({ lane }) => laneOf(lane))
      .filter((lane) => !lane.isLastAttempt);
    for (const lane of last) lane.isLastAttempt = true;
    if (last.length > 0) options.onLastAttempts(last.length);
    for (const { lane, due, gathers } of waiting) {
      const known = laneOf(lane);
      // What waits may have been ended by an operator, and the unit after it may wait for nothing.
      endHold(known);
      notify(lane, gathers === true ? Math.max(due, now() + gatheringMs) : known.slept ? 0 : due);
    }
  }

  return {
    async start() {
      open = true;
      await rescan(reopeningMs);
    },
    notify,
    hold(name, hold) {
      const lane = lanes.get(name);
      if (lane !== undefined) lane.hold = hold;
    },
    lookAgain() {
      for (const [name, lane] of lanes) if (!lane.busy && lane.hold !== undefined && mayLook(lane)) wake(name, lane);
    },
    begin,
    room: room.wait,
    rescan: () => rescan(),
    running: () => active,
    async drain(ms) {
      open = false;
      for (const lane of lanes.values()) clearTimeout(lane.timer);
      if (active === 0) return true;
      let timer: NodeJS.Timeout | undefined;
      const done = await Promise.race([
        new Promise<true>((resolve) => {
          whenIdle = () => resolve(true);
        }),
        new Promise<false>((resolve) => {
          timer = setTimeout(() => resolve(false), ms);
        }),
      ]);
      clearTimeout(timer);
      return done;
    },
  };
}
