/** The clock of the database, which all nodes share, as this node reads it without asking each time. */
import type { Database } from "../pool.ts";

/**
 * The answer to a measurement may take this much longer in one direction than in the other, so a smaller difference
 * means nothing.
 */
const noiseMs = 100;
/** How often a slow answer, as of a database that stood still, is asked for again. */
const attempts = 3;
const measureEveryMs = 10_000;

export interface SharedClock {
  /** Epoch milliseconds. Needs a first measurement. */
  time(): number;
  measure(): Promise<void>;
  /** Measures every ten seconds until `end`. */
  start(): void;
  end(): void;
}

export function createSharedClock(database: Database): SharedClock {
  /** What the monotonic clock of this process showed at the epoch. */
  let epoch = Number.NaN;
  let timer: NodeJS.Timeout | undefined;

  /** What the monotonic clock showed at the epoch, by one answer, and by how much that may be wrong. */
  async function ask(): Promise<{ readonly epoch: number; readonly withinMs: number }> {
    const before = performance.now();
    const [row] = await database.query<{ at: number }>(
      "SELECT extract(epoch FROM clock_timestamp())::double precision * 1000 AS at",
    );
    const after = performance.now();
    // The database read its clock at some moment between the two readings here.
    return { epoch: (before + after) / 2 - (row?.at ?? Number.NaN), withinMs: (after - before) / 2 };
  }

  async function measure(): Promise<void> {
    let best = await ask();
    for (let attempt = 1; attempt < attempts && best.withinMs > noiseMs; attempt += 1) {
      const next = await ask();
      if (next.withinMs < best.withinMs) best = next;
    }
    if (!(Math.abs(best.epoch - epoch) <= best.withinMs + noiseMs)) epoch = best.epoch;
  }

  return {
    time: () => Math.round(performance.now() - epoch),
    measure,
    start() {
      clearInterval(timer);
      // While the database is away, the last measurement holds.
      timer = setInterval(() => void measure().catch(() => {}), measureEveryMs).unref();
    },
    end: () => clearInterval(timer),
  };
}
