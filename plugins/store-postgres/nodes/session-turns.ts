/** Turns that wait until their session is free on all nodes. */
import type { Nodes } from "service-gateway/sdk/store";
import type { Database } from "../pool.ts";
import { turnChannel } from "../schema/session-turns.ts";
import type { Lease } from "./lease.ts";
import { createLook } from "./look.ts";

/** Notifications end a wait at once. These are for those that were missed; a short turn ends before the first ones. */
const firstLookMs = 20;
const longestLookMs = 1_000;

export interface SessionTurns {
  enter: Nodes["enterSession"];
  leave: NonNullable<Nodes["leaveSession"]>;
  /** Some turn may run now: those that wait look soon. */
  heard(): void;
  end(): void;
}

/**
 * A turn that goes on running leaves its session, which the trigger for turns that end does not see. A statement and no
 * function of the schema, so that a database which an earlier version has set up needs no migration.
 */
const leaving = `WITH runs AS (SELECT id, turn_session, turn_number FROM @running_unit($1, $2, $3)),
left_session AS (UPDATE @units u SET turn_session = NULL, turn_number = NULL FROM runs WHERE u.id = runs.id),
following AS (
  SELECT u.event_id FROM @units u, runs WHERE u.turn_session = runs.turn_session AND u.turn_number > runs.turn_number
  ORDER BY u.turn_number LIMIT 1)
SELECT pg_notify($4, event_id) FROM following`;

export function createSessionTurns(database: Database, lease: () => Lease): SessionTurns {
  /** Ends the pause of each waiting unit. */
  const waiting = new Map<string, () => void>();
  /** Whether a turn could begin since the last notification. */
  let hasEntered = false;
  const look = createLook(async () => {
    const found = hasEntered;
    hasEntered = false;
    for (const end of [...waiting.values()]) end();
    return found;
  });

  function pause(unitId: string, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        waiting.delete(unitId);
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal.addEventListener("abort", end);
      waiting.set(unitId, end);
    });
  }

  return {
    async leave(unitId) {
      await database.transaction(async (query) => {
        // What functions that are called by others only rely on.
        await query(`SET LOCAL search_path TO ${database.schema}, pg_temp`);
        await query(leaving, [...lease().values(), unitId, turnChannel]);
      });
    },
    heard() {
      if (waiting.size > 0) look.ask();
    },
    end: look.end,
    async enter(unitId, { sessionKey, signal, onWait }) {
      for (let ms = firstLookMs; !signal.aborted; ms = Math.min(2 * ms, longestLookMs)) {
        const [row] = await database.call<{ enter_session: boolean }>("enter_session", [
          ...lease().values(),
          unitId,
          sessionKey,
        ]);
        if (row?.enter_session === true) {
          hasEntered = true;
          return true;
        }
        if (ms === firstLookMs) onWait();
        await pause(unitId, ms, signal);
      }
      return false;
    },
  };
}
