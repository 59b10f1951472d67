/** What a connection leaves open in this process: sockets, timers, and listeners of the process. */
import type { Bench } from "./bench.ts";

/** What the operating system keeps for this process, besides timers. */
export function openHandles(): readonly string[] {
  return process.getActiveResourcesInfo().filter((name) => /TCP|TLS|UDP|Pipe|Server|Process|FSEvent|StatWatcher/.test(name));
}

function processListeners(): number {
  return process.eventNames().reduce((count, name) => count + process.listenerCount(name), 0);
}

/** Remembers what is open now. The returned function describes in words what has been added since; empty: nothing. */
export function watchLeftovers({ clock }: Pick<Bench, "clock">): () => string {
  const before = { handles: openHandles().length, timers: clock.timers(), listeners: processListeners() };
  return () => {
    const handles = openHandles();
    const [timers, listeners] = [clock.timers() - before.timers, processListeners() - before.listeners];
    return [
      ...(handles.length > before.handles ? [`open handles (${handles.join(", ")})`] : []),
      ...(timers > 0 ? [`${timers} timers`] : []),
      ...(listeners > 0 ? [`${listeners} listeners of the process`] : []),
    ].join(" and ");
  };
}
