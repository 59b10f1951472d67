/** What a connection leaves open in this process: sockets, timers, and listeners of the process. */
import type { Bench } from "./bench.ts";

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

/** Remembers what is open now. The returned function describes in words what has been added since; empty: nothing. */
export function watchLeftovers({ clock }: Pick<Bench, "clock">): () => string {
  const before = { handles: handles(), timers: clock.timers(), listeners: processListeners() };
  return () => {
    const added = [...handles()].filter(([name, count]) => count > (before.handles.get(name) ?? 0)).map(([name]) => name);
    // A timer that ended meanwhile, such as one of `fetch`, must not hide one that was left.
    const timers = [...clock.timers()].filter((timer) => !before.timers.has(timer)).length;
    const listeners = processListeners() - before.listeners;
    return [
      ...(added.length > 0 ? [`open handles (${added.join(", ")})`] : []),
      ...(timers > 0 ? [`${timers} timers`] : []),
      ...(listeners > 0 ? [`${listeners} listeners of the process`] : []),
    ].join(" and ");
  };
}
