/** The actions of people in the playground: write, edit, press, react, block, join and leave. */
import type { Core } from "../core.ts";
import { createGestures, type Gestures } from "./gestures.ts";
import { createMembership, type Membership } from "./membership.ts";
import { createPlaces } from "./places.ts";
import { createWriting, type Writing } from "./writing.ts";

export interface People extends Writing, Gestures, Membership {}

export function createPeople(core: Core): People {
  const places = createPlaces(core);
  const membership = createMembership(core, places);
  const unblock = (personId: number, bot: string | undefined) =>
    membership.block(personId, false, bot === undefined ? {} : { bot });
  return { ...createWriting(core, places, unblock), ...createGestures(core, places), ...membership };
}
