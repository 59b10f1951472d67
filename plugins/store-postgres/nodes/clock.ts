/** The clock of the database, which all nodes share, as this node reads it without asking each time. */
import type { Database } from "../pool.ts";

/** The answer to a measurement may take this much longer in one direction than in the other, so a smaller difference means nothing. */
const noiseMs = 100;
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

  async function measure(): Promise<void> {
    const before = performance.now();
    const [row] = await database.query<{ at: number }>("SELECT extract(epoch FROM clock_timestamp())::double precision * 1000 AS at");
    // The database reads its clock about halfway between the two readings here.
    const measured = (before + performance.now()) / 2 - (row?.at ?? Number.NaN);
    if (!(Math.abs(measured - epoch) <= noiseMs)) epoch = measured;
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
