/** What a connection leaves open in this process: sockets, timers, and listeners of the process. */
import type { Bench } from "./bench.ts";

/** What was left open: `words` is empty if there is nothing. */
interface Leftovers {
  readonly words: string;
  readonly areTimers: boolean;
}

/** What the operating system keeps for this process, besides timers: how many of each kind. */
function handles(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo())
    if (/TCP|TLS|UDP|Pipe|Server|Process|FSEvent|StatWatcher/.test(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function processListeners(): number {
  return process.eventNames().reduce((count, name) => count + process.listenerCount(name), 0);
}

/** Remembers what is open now. The returned function describes what has been added since. */
export function watchLeftovers({ clock }: Pick<Bench, "clock">): () => Leftovers {
  const before = { handles: handles(), timers: clock.timers(), listeners: processListeners() };
  return () => {
    const added = [...handles()]
      .filter(([name, count]) => count > (before.handles.get(name) ?? 0))
      .map(([name]) => name);
    // A timer that ended meanwhile, such as one of `fetch`, must not hide one that was left.
    const timers = [...clock.timers()].filter((timer) => !before.timers.has(timer)).length;
    const listeners = processListeners() - before.listeners;
    const words = [
      ...(added.length > 0 ? [`open handles (${added.join(", ")})`] : []),
      ...(timers > 0 ? [`${timers} timers`] : []),
      ...(listeners > 0 ? [`${listeners} listeners of the process`] : []),
    ].join(" and ");
    return { words, areTimers: timers > 0 && added.length === 0 && listeners <= 0 };
  };
}

/**
 * Waits until nothing is left. Half of the time is played, because a pool keeps an idle connection for seconds. Timers
 * have their patience on that clock, what else is left in real time.
 */
export async function untilNothingIsLeft(
  { clock, patienceMs, until }: Pick<Bench, "clock" | "patienceMs" | "until">,
  left: () => Leftovers,
  sentence: (words: string) => string,
): Promise<void> {
  const from = clock.elapsed();
  const isGone = () => {
    const { words, areTimers } = left();
    if (areTimers && clock.elapsed() - from > patienceMs) throw new Error(sentence(words));
    return words === "";
  };
  await clock.playUntil(
    until(isGone, () => sentence(left().words)),
    patienceMs / 2,
  );
}
