/** What work costs. A clock on the wall also counts what other programs do; the time of the processor does not. */

/** Milliseconds that this thread spends on the processor until the work is done. */
export async function costOf(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * The least that the work costs in a few rounds: a compiler at work may make a round dearer, nothing makes one cheaper.
 */
export async function leastCostOf(
  work: () => unknown,
  { below, rounds = 5 }: { readonly below: number; readonly rounds?: number },
): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds && least >= below; round += 1) least = Math.min(least, await costOf(work));
  return least;
}

/**
 * How much slower than a machine at rest this one works at the moment; never below 1. For limits that are milliseconds.
 */
export async function slowness(): Promise<number> {
  const usualMs = 15;
  const known = () => {
    let sum = 0;
    for (let n = 0; n < 400_000; n += 1) sum += `${n % 1_000}<`.indexOf("<");
    return sum;
  };
  known();
  return Math.max(1, (await leastCostOf(known, { below: usualMs })) / usualMs);
}
