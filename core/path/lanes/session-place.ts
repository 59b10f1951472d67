/**
 * The place of a running turn in its session. While the turn waits for a person, it leaves the place to the other turns
 * of the session, and comes back behind those that wait by then. Its own lane stays busy meanwhile, so the order there
 * is kept.
 */
import type { Route } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";
import type { TurnHold } from "../../stations/index.ts";
import { persist } from "../patience.ts";
import { type EnteringUnit, enterOnAllNodes, leaveOnAllNodes } from "./session-on-nodes.ts";
import type { SessionTurns } from "./session-turns.ts";

export interface SessionPlace extends TurnHold {
  /** Whether the turn has left its place for now. */
  readonly isAway: boolean;
  /**
   * Whether the turn's conversation has ended while the turn was away, because another chat of the session sent `/new`.
   * What the turn says does not belong to the new conversation. Known once the turn is back.
   */
  readonly isOver: boolean;
  /** Comes back if the turn is away: what a turn writes, it writes in its session, also if it was stopped meanwhile. */
  resume(): Promise<void>;
  /** Ends the turn's place. It is never taken again. */
  leave(): void;
}

export interface SessionPlaceOptions {
  readonly sessions: Pick<SessionTurns, "enter">;
  readonly store: Pick<Store, "nodes" | "session">;
  readonly walk: EnteringUnit;
  readonly route: Route;
}

export async function enterSession({ sessions, store, walk, route }: SessionPlaceOptions): Promise<SessionPlace> {
  const { sessionKey } = route;
  const { unit, slot, signal } = walk;
  const enter = () => sessions.enter(sessionKey, { lane: unit.lane, slot });
  const generation = async () => (await store.session(sessionKey))?.generation ?? 0;
  const entering = enter();
  let leaveHere: (() => void) | undefined = entering instanceof Promise ? await entering : entering;
  let hasEnded = false;
  let isOver = false;
  /**
   * Resolves with the generation in which the turn began, once the place is free; with `undefined` if the turn has kept
   * it.
   */
  let leaving: Promise<number | undefined> | undefined;
  let returning: Promise<void> | undefined;

  const leave = () => {
    leaveHere?.();
    leaveHere = undefined;
  };

  async function goAway(): Promise<number | undefined> {
    // Read while the turn is still in its place: no `/new` can come between. Without the store, nothing is left: it
    // only costs others time.
    const begun = await generation().catch(() => undefined);
    if (begun === undefined) return undefined;
    await leaveOnAllNodes(store, walk, route).catch(() => {});
    leave();
    return begun;
  }

  async function comeBack(left: Promise<number | undefined>): Promise<void> {
    const begun = await left;
    if (begun === undefined) return;
    const back = enter();
    leaveHere = back instanceof Promise ? await back : back;
    if (hasEnded) return leave();
    await enterOnAllNodes(store, walk, route);
    if ((await persist(generation, signal)) !== begun) isOver = true;
  }

  const place: SessionPlace = {
    get isAway() {
      return leaving !== undefined;
    },
    get isOver() {
      return isOver;
    },
    pause() {
      if (hasEnded || leaving !== undefined) return;
      leaving = goAway();
    },
    resume() {
      if (leaving === undefined) return Promise.resolve();
      returning ??= comeBack(leaving).finally(() => {
        leaving = undefined;
        returning = undefined;
      });
      return returning;
    },
    leave() {
      hasEnded = true;
      leave();
    },
  };
  try {
    await enterOnAllNodes(store, walk, route);
  } catch (error) {
    place.leave();
    throw error;
  }
  return place;
}
