/** Reports lanes with work that this process did not accept itself: by notifications, and by a poll for what they missed. */
import { type Listening, listen } from "./listening.ts";
import type { Database } from "./pool.ts";

const pollMs = 1_000;
/** Lanes that one poll reports. The next one finds the others. */
const maxLanes = 200;

export interface Watch {
  watch(listener: (lanes: readonly string[]) => void): () => void;
  tell(lanes: readonly string[]): void;
  end(): Promise<void>;
}

export function createWatch(database: Database, now: () => number): Watch {
  const listeners = new Set<(lanes: readonly string[]) => void>();
  let timer: NodeJS.Timeout | undefined;
  let listening: Listening | undefined;

  const tell = (lanes: readonly string[]) => {
    if (lanes.length > 0) for (const listener of listeners) listener(lanes);
  };

  async function poll(): Promise<void> {
    try {
      const rows = await database.query<{ idle_lanes: string }>("SELECT * FROM @idle_lanes($1, $2)", [now(), maxLanes]);
      tell(rows.map(({ idle_lanes }) => idle_lanes));
    } catch {
      // The next poll may find the database again.
    }
    if (listeners.size > 0) plan();
  }

  function plan(): void {
    clearTimeout(timer);
    timer = setTimeout(() => void poll(), pollMs);
    timer.unref();
  }

  return {
    tell,
    watch(listener) {
      listeners.add(listener);
      listening ??= listen(database.connection, (lane) => tell(lane === "" ? [] : [lane]));
      if (listeners.size === 1) plan();
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) clearTimeout(timer);
      };
    },
    async end() {
      listeners.clear();
      clearTimeout(timer);
      await listening?.end();
    },
  };
}
