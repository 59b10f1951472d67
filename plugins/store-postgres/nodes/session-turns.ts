/** Turns that wait until their session is free on all nodes. */
import type { Nodes } from "service-gateway/sdk/store";
import type { Database } from "../pool.ts";
import type { Lease } from "./lease.ts";

/** Notifications end a wait at once. These are for those that were missed; a short turn ends before the first ones. */
const firstLookMs = 20;
const longestLookMs = 1_000;

export interface SessionTurns {
  enter: Nodes["enterSession"];
  /** The turn of a unit may run now. */
  heard(unitId: string): void;
}

export function createSessionTurns(database: Database, lease: () => Lease): SessionTurns {
  /** Ends the pause of each waiting unit. */
  const waiting = new Map<string, () => void>();

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
    heard: (unitId) => waiting.get(unitId)?.(),
    async enter(unitId, { sessionKey, signal, onWait }) {
      for (let ms = firstLookMs; !signal.aborted; ms = Math.min(2 * ms, longestLookMs)) {
        const [row] = await database.call<{ enter_session: boolean }>("enter_session", [...lease().values(), unitId, sessionKey]);
        if (row?.enter_session === true) return true;
        if (ms === firstLookMs) onWait();
        await pause(unitId, ms, signal);
      }
      return false;
    },
  };
}
