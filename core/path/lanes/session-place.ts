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

export interface SessionPlaceOptions {
  readonly sessions: Pick<SessionTurns, "enter">;
  readonly store: Pick<Store, "nodes" | "session">;
  readonly walk: EnteringUnit;
  readonly route: Route;
}

/** Resolves once no other turn runs in the session, on this node or another. */
export async function enterSession(options: SessionPlaceOptions): Promise<SessionPlace> {
  const place = new SessionPlace(options);
  await place.enter();
  return place;
}

/**
 * A class because the closures of each turn would survive V8's quick collections: a turn would cost eight per cent
 * more.
 */
export class SessionPlace implements TurnHold {
  readonly #options: SessionPlaceOptions;
  #leaveHere: (() => void) | undefined;
  #hasEnded = false;
  #isOver = false;
  /**
   * Resolves with the generation in which the turn began, once the place is free; with `undefined` if the turn has kept
   * it.
   */
  #leaving: Promise<number | undefined> | undefined;
  #returning: Promise<void> | undefined;

  constructor(options: SessionPlaceOptions) {
    this.#options = options;
  }

  /** Whether the turn has left its place for now. */
  get isAway(): boolean {
    return this.#leaving !== undefined;
  }

  /**
   * Whether the turn's conversation has ended while the turn was away, because another chat of the session sent `/new`.
   * What the turn says does not belong to the new conversation. Known once the turn is back.
   */
  get isOver(): boolean {
    return this.#isOver;
  }

  async enter(): Promise<void> {
    const { store, walk, route } = this.#options;
    await this.#enterHere();
    try {
      await enterOnAllNodes(store, walk, route);
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  pause(): void {
    if (this.#hasEnded || this.isAway) return;
    this.#leaving = this.#goAway();
  }

  /** Comes back if the turn is away: what a turn writes, it writes in its session, also if it was stopped meanwhile. */
  resume(): Promise<void> {
    if (this.#leaving === undefined) return Promise.resolve();
    this.#returning ??= this.#comeBack(this.#leaving).finally(() => {
      this.#leaving = undefined;
      this.#returning = undefined;
    });
    return this.#returning;
  }

  /** Ends the turn's place. It is never taken again. */
  leave(): void {
    this.#hasEnded = true;
    this.#leaveForNow();
  }

  async #enterHere(): Promise<void> {
    const { sessions, walk, route } = this.#options;
    const entering = sessions.enter(route.sessionKey, { lane: walk.unit.lane, slot: walk.slot });
    this.#leaveHere = entering instanceof Promise ? await entering : entering;
  }

  #leaveForNow(): void {
    this.#leaveHere?.();
    this.#leaveHere = undefined;
  }

  async #generation(): Promise<number> {
    const { store, route } = this.#options;
    return (await store.session(route.sessionKey))?.generation ?? 0;
  }

  async #goAway(): Promise<number | undefined> {
    const { store, walk, route } = this.#options;
    // Read while the turn is still in its place: no `/new` can come between. Without the store, nothing is left: it
    // only costs others time.
    const begun = await this.#generation().catch(() => undefined);
    if (begun === undefined) return undefined;
    await leaveOnAllNodes(store, walk, route).catch(() => {});
    this.#leaveForNow();
    return begun;
  }

  async #comeBack(left: Promise<number | undefined>): Promise<void> {
    const { store, walk, route } = this.#options;
    const begun = await left;
    if (begun === undefined) return;
    await this.#enterHere();
    if (this.#hasEnded) return this.#leaveForNow();
    await enterOnAllNodes(store, walk, route);
    if ((await persist(() => this.#generation(), walk.signal)) !== begun) this.#isOver = true;
  }
}
