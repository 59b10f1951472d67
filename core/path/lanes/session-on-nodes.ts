/** Turns of one session run one at a time on all nodes, in the order in which the nodes ask for it. */
import type { Route } from "../../contract/index.ts";
import type { Store, Unit } from "../../state/index.ts";
import { Interrupted } from "../endings/hand-back.ts";
import type { TurnSlot } from "./turn-slots.ts";

/** A unit whose turn enters its session. */
export interface EnteringUnit {
  readonly unit: Unit;
  readonly slot: TurnSlot;
  readonly signal: AbortSignal;
}

/**
 * Waits until no turn of another node runs in the session. Nothing is asked of the store if no other turn can be
 * affected.
 */
export async function enterOnAllNodes(
  { nodes }: Pick<Store, "nodes">,
  { unit, slot, signal }: EnteringUnit,
  route: Route,
): Promise<void> {
  if (nodes === undefined || isAlone(unit, route)) return;
  let waited = false;
  const onWait = () => {
    waited = true;
    slot.pause();
  };
  if (!(await nodes.enterSession(unit.id, { sessionKey: route.sessionKey, signal, onWait }))) throw new Interrupted();
  if (waited) await slot.take();
}

/**
 * Lets the turns of other nodes run in the session. A store that cannot do this keeps them waiting until the turn ends.
 */
export async function leaveOnAllNodes(
  { nodes }: Pick<Store, "nodes">,
  { unit }: Pick<EnteringUnit, "unit">,
  route: Route,
): Promise<void> {
  if (nodes?.leaveSession === undefined || isAlone(unit, route)) return;
  await nodes.leaveSession(unit.id);
}

/**
 * An isolated run reads nothing of its session, and the lane named after the session orders such runs among themselves.
 */
const isAlone = ({ lane }: Unit, { isolated, sessionKey }: Route): boolean => isolated && lane === sessionKey;
